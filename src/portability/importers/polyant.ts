/** Polyant memories: saved pages of its REST list, and rows of its PostgreSQL table. */
import { isList, isObject } from '../../lib/json.ts'
import {
  getOwnField,
  type ImportedMemory,
  type ImportRecord,
  mapCategory,
  parseImportItem,
  readNumber,
  readText,
  readTime,
  requireObject,
  requireText,
} from './foreign-record.ts'

/** Reads one page, a list of pages, or a list of memories. */
export function* readPolyant(value: unknown): Generator<ImportRecord> {
  for (const [index, item] of listItems(value).entries()) {
    yield* parseImportItem(index + 1, () => parsePolyantMemory(item, index + 1))
  }
}

function listItems(value: unknown): readonly unknown[] {
  if (isList(value)) return value.flatMap(listItems)
  const memories = isObject(value) ? getOwnField(value, 'memories') : undefined
  return isList(memories) ? memories : [value]
}

/** Fields in camel case as in REST, or in snake case as in the table. */
export function parsePolyantMemory(item: unknown, at: number): ImportedMemory {
  const fields = requireObject(item, 'A memory')
  const category = readText(fields, 'category')
  const mapped = mapCategory(category === null ? [] : [category])
  const importance = readNumber(fields, 'importance')
  return {
    kind: 'memory',
    system: 'polyant',
    at,
    name: requireText(fields, 'id'),
    owner: readText(fields, 'instanceId', 'instance_id'),
    session: readText(fields, 'sourceConversationId', 'source_conversation_id'),
    content: requireText(fields, 'content'),
    ...(mapped === undefined ? {} : { category: mapped }),
    ...(importance === null ? {} : { importance: clampImportance(importance) }),
    // The table accepts any category.
    metadata: category === null || category === mapped ? {} : { category },
    createdAt: readTime(fields, 'createdAt', 'created_at'),
    updatedAt: readTime(fields, 'updatedAt', 'updated_at'),
  }
}

function clampImportance(importance: number): number {
  return Math.min(10, Math.max(1, Math.round(importance)))
}
