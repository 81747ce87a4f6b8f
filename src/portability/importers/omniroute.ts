/** OmniRoute memories: Studio exports, REST lists, and rows of the tables `memories` and `memory`. */

import { MEMORY_TYPES } from '../../domain/memory.ts'
import { sha256 } from '../../lib/hash.ts'
import { type Fields, isObject } from '../../lib/json.ts'
import {
  getOwnField,
  type ImportedMemory,
  type ImportRecord,
  mapCategory,
  parseImportItem,
  readMetadata,
  readNumber,
  readText,
  readTime,
  requireObject,
  requireText,
} from './foreign-record.ts'

/** Reads an array, one object, or a REST response that lists memories. */
export function* readOmniroute(value: unknown): Generator<ImportRecord> {
  for (const [index, item] of listItems(value).entries()) {
    yield* parseImportItem(index + 1, () => parseOmnirouteMemory(item, index + 1))
  }
}

function listItems(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  if (!isObject(value)) return [value]
  const list = getOwnField(value, 'data', 'memories')
  if (Array.isArray(list)) return list
  return [isObject(getOwnField(value, 'memory')) ? getOwnField(value, 'memory') : value]
}

/** Table rows use snake case and serialized metadata. */
export function parseOmnirouteMemory(item: unknown, at: number): ImportedMemory {
  const fields = requireObject(item, 'A memory')
  const content = requireText(fields, 'content', 'value')
  const key = readText(fields, 'key')
  const metadata = readMetadata(fields, 'metadata')
  const sourceType = readText(fields, 'type')
  const type = MEMORY_TYPES.find((each) => each === sourceType)
  const importance = readNumber(fields, 'importance')
  const category = mapCategory(
    [readText(fields, 'category'), readText(metadata, 'category')].filter((word) => word !== null),
  )
  return {
    kind: 'memory',
    system: 'omniroute',
    at,
    name: readText(fields, 'id') ?? sha256(JSON.stringify([key, content])),
    owner: readText(fields, 'apiKeyId', 'api_key_id', 'instanceId'),
    session: readText(fields, 'sessionId', 'session_id', 'sourceConversationId'),
    content,
    key,
    type: type ?? 'factual',
    ...(category === undefined ? {} : { category }),
    ...(importance === null ? {} : { importance }),
    metadata:
      type === undefined && sourceType !== null ? { ...metadata, type: sourceType } : metadata,
    createdAt: readTime(fields, 'createdAt', 'created_at'),
    updatedAt: readTime(fields, 'updatedAt', 'updated_at'),
    expiresAt: readTime(fields, 'expiresAt', 'expires_at'),
    useCount: readNumber(fields, 'accessCount', 'access_count') ?? 0,
    lastUsedAt: readTime(fields, 'lastAccessedAt', 'last_accessed_at'),
  }
}

const MEMORY_COLUMNS = [
  'api_key_id',
  'session_id',
  'type',
  'key',
  'metadata',
  'created_at',
  'updated_at',
  'expires_at',
  'access_count',
  'last_accessed_at',
]

const readRow = (row: Fields, at: number) => parseOmnirouteMemory(row, at)

export const OMNIROUTE_TABLES = {
  memories: { required: ['id', 'content'], optional: MEMORY_COLUMNS, read: readRow },
  /** The table of early versions, with columns in either case. */
  memory: {
    required: ['id'],
    optional: [
      ...['content', 'value', 'apiKeyId', 'sessionId', 'createdAt', 'updatedAt', 'expiresAt'],
      ...MEMORY_COLUMNS,
    ],
    read: readRow,
  },
} as const
