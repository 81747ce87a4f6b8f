/** Rows of the OpenClaw memory index: chunks of Markdown files with their line numbers. */

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
    // The id of the chunk changes with the embedding model, so it is not used.
    name: JSON.stringify([source, path, startLine, endLine, readText(row, 'hash') ?? text]),
    content: text,
    type: source === 'sessions' ? 'episodic' : 'semantic',
    metadata: { path, startLine, endLine, ...(source === 'memory' ? {} : { collection: source }) },
    // The index is rebuilt from time to time, so this is when the text was last indexed, not when it was written.
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
