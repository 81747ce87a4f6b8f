/** Memories of OmniRoute: what its Studio exports, what its REST interface lists, and rows of its `memories` table. */

import { MEMORY_TYPES } from '../../domain/memory.ts'
import { sha256 } from '../../lib/hash.ts'
import { type Fields, isObject } from '../../lib/json.ts'
import {
  categoryOf,
  type ForeignMemory,
  type ForeignRecord,
  field,
  metadataOf,
  numberOf,
  objectOf,
  readItem,
  requiredText,
  textOf,
  timeOf,
} from './foreign-record.ts'

/** An array, one object, or an answer that lists memories. */
export function* readOmniroute(value: unknown): Generator<ForeignRecord> {
  for (const [index, item] of itemsOf(value).entries()) {
    yield* readItem(index + 1, () => omnirouteMemory(item, index + 1))
  }
}

function itemsOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  if (!isObject(value)) return [value]
  const list = field(value, 'data', 'memories')
  if (Array.isArray(list)) return list
  return [isObject(field(value, 'memory')) ? field(value, 'memory') : value]
}

/** One of them. A row of the table spells its columns with underscores and its metadata as text. */
export function omnirouteMemory(item: unknown, at: number): ForeignMemory {
  const fields = objectOf(item, 'A memory')
  const content = requiredText(fields, 'content')
  const key = textOf(fields, 'key')
  const metadata = metadataOf(fields, 'metadata')
  const given = textOf(fields, 'type')
  const type = MEMORY_TYPES.find((each) => each === given)
  const importance = numberOf(fields, 'importance')
  const category = categoryOf(
    [textOf(fields, 'category'), textOf(metadata, 'category')].filter((word) => word !== null),
  )
  return {
    kind: 'memory',
    system: 'omniroute',
    at,
    name: textOf(fields, 'id') ?? sha256(JSON.stringify([key, content])),
    owner: textOf(fields, 'apiKeyId', 'api_key_id', 'instanceId'),
    session: textOf(fields, 'sessionId', 'session_id', 'sourceConversationId'),
    content,
    key,
    type: type ?? 'factual',
    ...(category === undefined ? {} : { category }),
    ...(importance === null ? {} : { importance }),
    metadata: type === undefined && given !== null ? { ...metadata, type: given } : metadata,
    createdAt: timeOf(fields, 'createdAt', 'created_at'),
    updatedAt: timeOf(fields, 'updatedAt', 'updated_at'),
    expiresAt: timeOf(fields, 'expiresAt', 'expires_at'),
    useCount: numberOf(fields, 'accessCount', 'access_count') ?? 0,
    lastUsedAt: timeOf(fields, 'lastAccessedAt', 'last_accessed_at'),
  }
}

export const OMNIROUTE_TABLES = {
  memories: {
    required: ['id', 'content'],
    optional: [
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
    ],
    read: (row: Fields, at: number) => omnirouteMemory(row, at),
  },
} as const
