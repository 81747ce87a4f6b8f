/** Rows of OpenClaw's memory index: pieces of Markdown files, with the lines they stand on. */

import type { Fields } from '../../lib/json.ts'
import { type ForeignMemory, numberOf, requiredText, textOf, timeOf } from './foreign-record.ts'

function chunk(row: Fields, at: number): ForeignMemory {
  const path = requiredText(row, 'path')
  const source = textOf(row, 'source') ?? 'memory'
  const startLine = numberOf(row, 'start_line') ?? 1
  const endLine = numberOf(row, 'end_line') ?? startLine
  const text = requiredText(row, 'text')
  return {
    kind: 'memory',
    system: 'openclaw',
    at,
    // Not its id there, which changes with the embedding model.
    name: JSON.stringify([source, path, startLine, endLine, textOf(row, 'hash') ?? text]),
    content: text,
    type: source === 'sessions' ? 'episodic' : 'semantic',
    metadata: { path, startLine, endLine, ...(source === 'memory' ? {} : { collection: source }) },
    // The index is written anew now and then, so this says when the text was last seen, not when it was written.
    updatedAt: timeOf(row, 'updated_at'),
  }
}

export const OPENCLAW_TABLES = {
  chunks: {
    required: ['path', 'text'],
    optional: ['source', 'start_line', 'end_line', 'hash', 'updated_at'],
    read: chunk,
  },
} as const
