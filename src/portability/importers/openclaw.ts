/** OpenClaw: chunks of Markdown files in its memory index, and the table of its LanceDB plugin. */

import type { Fields } from '../../lib/json.ts'
import {
  type ImportedMemory,
  mapCategory,
  readNumber,
  readText,
  readTime,
  requireText,
  toImportanceScale,
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

/** A row of the plugin's table: importance from 0 to 1, and one of five categories. */
export function parsePluginMemory(row: Fields, at: number): ImportedMemory {
  const importance = readNumber(row, 'importance')
  const category = readText(row, 'category')
  const mapped = mapCategory(category === null ? [] : [category])
  const agent = readText(row, 'agentId', 'agent_id')
  return {
    kind: 'memory',
    system: 'openclaw',
    at,
    name: requireText(row, 'id'),
    owner: agent,
    content: requireText(row, 'text'),
    ...(mapped === undefined ? {} : { category: mapped }),
    ...(importance === null ? {} : { importance: toImportanceScale(importance) }),
    metadata: {},
    createdAt: readTime(row, 'createdAt', 'created_at'),
  }
}
