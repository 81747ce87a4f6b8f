/** mem0 exports: lists of memories in any of its wrappers, and histories. */

import { sha256 } from '../../lib/hash.ts'
import { type Fields, isObject } from '../../lib/json.ts'
import type { Instant } from '../../lib/time.ts'
import {
  getOwnField,
  type ImportedMemory,
  type ImportRecord,
  mapCategory,
  parseImportItem,
  readMetadata,
  readText,
  readTextList,
  readTime,
  requireObject,
  requireText,
} from './foreign-record.ts'

export function* readMem0(value: unknown): Generator<ImportRecord> {
  const items = listItems(value)
  const events =
    isObject(value) && Array.isArray(getOwnField(value, 'history')) ? value.history : []
  const isHistory = items.every(
    (item) => isObject(item) && getOwnField(item, 'memory_id') !== undefined,
  )
  if (isHistory && items.length > 0) {
    yield* readHistories(items)
    return
  }
  const histories = groupEventsByMemory(Array.isArray(events) ? events : [])
  for (const [index, item] of items.entries()) {
    yield* parseImportItem(index + 1, () => mem0Memory(item, index + 1, histories))
  }
}

function listItems(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  if (!isObject(value)) return [value]
  const list = getOwnField(value, 'results', 'memories', 'data')
  return Array.isArray(list) ? list : [value]
}

function mem0Memory(
  item: unknown,
  at: number,
  histories: ReadonlyMap<string, readonly Fields[]>,
): ImportedMemory {
  const fields = requireObject(item, 'A memory')
  const content = requireText(fields, 'memory', 'data', 'text')
  const id = readText(fields, 'id')
  const own = getOwnField(fields, 'history')
  const events = Array.isArray(own) ? own.filter(isObject) : (histories.get(id ?? '') ?? [])
  const wordings = listWordings(events)
  return {
    ...readCommonFields(fields, at),
    name: id ?? sha256(JSON.stringify([readText(fields, 'user_id'), content])),
    content,
    createdAt: readTime(fields, 'created_at'),
    updatedAt: readTime(fields, 'updated_at'),
    earlier: wordings.at(-1)?.content === content ? wordings.slice(0, -1) : wordings,
  }
}

function readCommonFields(fields: Fields, at: number) {
  const categories = readTextList(fields, 'categories')
  const category = mapCategory(categories)
  const metadata = readMetadata(fields, 'metadata')
  const origin = ['agent_id', 'app_id', 'actor_id', 'role'].flatMap((name) => {
    const text = readText(fields, name)
    return text === null ? [] : [[name, text] as const]
  })
  return {
    kind: 'memory',
    system: 'mem0',
    at,
    user: readText(fields, 'user_id'),
    session: readText(fields, 'run_id'),
    type: readText(metadata, 'memory_type') === 'procedural_memory' ? 'procedural' : 'factual',
    ...(category === undefined ? {} : { category }),
    metadata: {
      ...metadata,
      ...(categories.length === 0 ? {} : { categories }),
      ...Object.fromEntries(origin),
    },
    expiresAt: readTime(fields, 'expiration_date'),
  } as const
}

/** Rebuilds memories from a history without its list: the last wording of each that was not deleted. */
function* readHistories(items: readonly unknown[]): Generator<ImportRecord> {
  let at = 0
  for (const [memory, events] of groupEventsByMemory(items)) {
    at++
    yield* parseImportItem(at, () => {
      const last = events.at(-1)
      const wordings = listWordings(events)
      const content = wordings.at(-1)?.content
      const isDeleted = last !== undefined && readText(last, 'event') === 'DELETE'
      if (last === undefined || content === undefined || isDeleted) return []
      return {
        ...readCommonFields(last, at),
        name: memory,
        content,
        createdAt: wordings[0]?.since ?? null,
        updatedAt: wordings.at(-1)?.since ?? null,
        earlier: wordings.slice(0, -1),
      }
    })
  }
}

function groupEventsByMemory(items: readonly unknown[]): ReadonlyMap<string, readonly Fields[]> {
  const byMemory = new Map<string, Fields[]>()
  for (const item of items.filter(isObject)) {
    const memory = getOwnField(item, 'memory_id')
    if (typeof memory !== 'string') continue
    byMemory.set(memory, [...(byMemory.get(memory) ?? []), item])
  }
  return byMemory
}

/** Every wording of a memory, oldest first. Events without a time or a wording are skipped. */
function listWordings(events: readonly Fields[]): readonly { content: string; since: Instant }[] {
  return events
    .flatMap((event) => {
      const content = readText(event, 'new_memory')
      const since = readTime(event, 'updated_at', 'created_at')
      return content === null || since === null ? [] : [{ content, since }]
    })
    .sort((a, b) => a.since - b.since)
}
