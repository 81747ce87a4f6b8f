/** Rows of OpenClaw's memory index: pieces of Markdown files, with the lines they stand on. */

import type { Fields } from '../../lib/json.ts'
import {
  type ImportedMemory,
  readNumber,
  readText,
  readTime,
  requireText,
} from './foreign-record.ts'

function chunk(row: Fields, at: number): ImportedMemory {
  const path = requireText(row, 'path')
  const source = readText(row, 'source') ?? 'memory'
  const startLine = readNumber(row, 'start_line') ?? 1
  const endLine = readNumber(row, 'end_line') ?? startLine
  const text = requireText(row, 'text')
  return {
    kind: 'memory',
    system: 'openclaw',
    at,
    // Not its id there, which changes with the embedding model.
    name: JSON.stringify([source, path, startLine, endLine, readText(row, 'hash') ?? text]),
    content: text,
    type: source === 'sessions' ? 'episodic' : 'semantic',
    metadata: { path, startLine, endLine, ...(source === 'memory' ? {} : { collection: source }) },
    // The index is written anew now and then, so this says when the text was last seen, not when it was written.
    updatedAt: readTime(row, 'updated_at'),
  }
}

export const OPENCLAW_TABLES = {
  chunks: {
    required: ['path', 'text'],
    optional: ['source', 'start_line', 'end_line', 'hash', 'updated_at'],
    read: chunk,
  },
} as const
