/** LangMem and LangGraph: dumps of a store, where each item has a namespace, a key and a value. */
import { filterObjects, isList, isObject, type JsonObject, parseJson } from '../../../lib/json.ts'
import {
  createInvalidRecordError,
  getOwnField,
  type ImportedMemory,
  type ImportRecord,
  mapCategory,
  parseImportItem,
  readText,
  readTime,
  requireObject,
} from '../foreign-record.ts'

/** Reads a list of items, or `{items: […]}`. Rows of the store table have a `prefix` in place of a namespace. */
export function* readLangmem(value: unknown): Generator<ImportRecord> {
  const list = isObject(value) ? getOwnField(value, 'items', 'store') : value
  for (const [index, item] of filterObjects(list).entries()) {
    yield* parseImportItem(index + 1, () => parseItem(item, index + 1))
  }
}

/** Words that name a collection rather than a user. */
const COLLECTION =
  /^(?:memor(?:y|ies)|users?|profiles?|semantic|episodic|procedural|collection|facts?)$/i

export function parseItem(item: unknown, at: number): ImportedMemory {
  const fields = requireObject(item, 'An item')
  const namespace = readNamespace(getOwnField(fields, 'namespace', 'prefix'))
  const stored = getOwnField(fields, 'value')
  const value = typeof stored === 'string' ? parseJson(stored) : stored
  if (!isObject(value)) throw createInvalidRecordError('`value` must be a JSON object.')
  const kind = readText(value, 'kind')
  const user = namespace.find((part) => !COLLECTION.test(part)) ?? null
  const category = mapCategory(kind === null ? [] : [kind])
  return {
    kind: 'memory',
    system: 'langmem',
    at,
    name: JSON.stringify([...namespace, readText(fields, 'key') ?? String(at)]),
    user,
    content: readContent(value),
    ...(category === undefined ? {} : { category }),
    type: namespace.includes('episodic')
      ? 'episodic'
      : namespace.includes('procedural')
        ? 'procedural'
        : 'semantic',
    metadata: { namespace, ...(kind === null ? {} : { kind }) },
    createdAt: readTime(fields, 'created_at', 'createdAt'),
    updatedAt: readTime(fields, 'updated_at', 'updatedAt'),
  }
}

/** The table joins namespaces with dots. */
function readNamespace(namespace: unknown): readonly string[] {
  if (isList(namespace)) return namespace.map(String)
  return typeof namespace === 'string' ? namespace.split('.') : []
}

/** LangMem wraps memories in `content`; a profile is an object of any form. */
function readContent(value: JsonObject): string {
  const content = getOwnField(value, 'content', 'text', 'memory', 'data')
  if (typeof content === 'string') return content
  const inner = isObject(content) ? content : value
  const nested = getOwnField(inner, 'content', 'text')
  if (typeof nested === 'string') return nested
  return Object.entries(inner)
    .filter(([name, each]) => name !== 'kind' && each !== null)
    .map(([name, each]) => `${name}: ${typeof each === 'string' ? each : JSON.stringify(each)}`)
    .join('\n')
}
