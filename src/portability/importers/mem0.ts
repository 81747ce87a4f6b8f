/** Exports of mem0: lists of memories in any of the wrappings its interfaces use, and histories. */

import { sha256 } from '../../lib/hash.ts'
import { type Fields, isObject } from '../../lib/json.ts'
import type { Instant } from '../../lib/time.ts'
import {
  categoryOf,
  type ForeignMemory,
  type ForeignRecord,
  field,
  metadataOf,
  objectOf,
  readItem,
  requiredText,
  textOf,
  timeOf,
  wordsOf,
} from './foreign-record.ts'

export function* readMem0(value: unknown): Generator<ForeignRecord> {
  const items = itemsOf(value)
  const events = isObject(value) && Array.isArray(field(value, 'history')) ? value.history : []
  const isHistory = items.every((item) => isObject(item) && field(item, 'memory_id') !== undefined)
  if (isHistory && items.length > 0) {
    yield* readHistories(items)
    return
  }
  const histories = eventsByMemory(Array.isArray(events) ? events : [])
  for (const [index, item] of items.entries()) {
    yield* readItem(index + 1, () => mem0Memory(item, index + 1, histories))
  }
}

function itemsOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  if (!isObject(value)) return [value]
  const list = field(value, 'results', 'memories', 'data')
  return Array.isArray(list) ? list : [value]
}

function mem0Memory(
  item: unknown,
  at: number,
  histories: ReadonlyMap<string, readonly Fields[]>,
): ForeignMemory {
  const fields = objectOf(item, 'A memory')
  const content = requiredText(fields, 'memory', 'data', 'text')
  const id = textOf(fields, 'id')
  const own = field(fields, 'history')
  const events = Array.isArray(own) ? own.filter(isObject) : (histories.get(id ?? '') ?? [])
  const said = wordings(events)
  return {
    ...common(fields, at),
    name: id ?? sha256(JSON.stringify([textOf(fields, 'user_id'), content])),
    content,
    createdAt: timeOf(fields, 'created_at'),
    updatedAt: timeOf(fields, 'updated_at'),
    earlier: said.at(-1)?.content === content ? said.slice(0, -1) : said,
  }
}

function common(fields: Fields, at: number) {
  const categories = wordsOf(fields, 'categories')
  const category = categoryOf(categories)
  const metadata = metadataOf(fields, 'metadata')
  const kept = ['agent_id', 'app_id', 'actor_id', 'role'].flatMap((name) => {
    const text = textOf(fields, name)
    return text === null ? [] : [[name, text] as const]
  })
  return {
    kind: 'memory',
    system: 'mem0',
    at,
    user: textOf(fields, 'user_id'),
    session: textOf(fields, 'run_id'),
    type: textOf(metadata, 'memory_type') === 'procedural_memory' ? 'procedural' : 'factual',
    ...(category === undefined ? {} : { category }),
    metadata: {
      ...metadata,
      ...(categories.length === 0 ? {} : { categories }),
      ...Object.fromEntries(kept),
    },
    expiresAt: timeOf(fields, 'expiration_date'),
  } as const
}

/** What is left of a history by itself: the last wording of every memory that was not deleted. */
function* readHistories(items: readonly unknown[]): Generator<ForeignRecord> {
  let at = 0
  for (const [memory, events] of eventsByMemory(items)) {
    at++
    yield* readItem(at, () => {
      const last = events.at(-1)
      const said = wordings(events)
      const content = said.at(-1)?.content
      const isGone = last !== undefined && textOf(last, 'event') === 'DELETE'
      if (last === undefined || content === undefined || isGone) return []
      return {
        ...common(last, at),
        name: memory,
        content,
        createdAt: said[0]?.since ?? null,
        updatedAt: said.at(-1)?.since ?? null,
        earlier: said.slice(0, -1),
      }
    })
  }
}

function eventsByMemory(items: readonly unknown[]): ReadonlyMap<string, readonly Fields[]> {
  const found = new Map<string, Fields[]>()
  for (const item of items.filter(isObject)) {
    const memory = field(item, 'memory_id')
    if (typeof memory !== 'string') continue
    found.set(memory, [...(found.get(memory) ?? []), item])
  }
  return found
}

/** Every wording a memory had, oldest first. An event without a time or a wording says nothing that can be kept. */
function wordings(events: readonly Fields[]): readonly { content: string; since: Instant }[] {
  return events
    .flatMap((event) => {
      const content = textOf(event, 'new_memory')
      const since = timeOf(event, 'updated_at', 'created_at')
      return content === null || since === null ? [] : [{ content, since }]
    })
    .sort((a, b) => a.since - b.since)
}
