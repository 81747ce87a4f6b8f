/** The knowledge graph of the MCP server `server-memory`: entities with observations, and relations between them. */
import { buildEntityDraft, buildRelationDraft } from '../../domain/entity-graph.ts'
import { type Fields, isObject } from '../../lib/json.ts'
import {
  createInvalidRecordError,
  getOwnField,
  type ImportedMemory,
  type ImportRecord,
  parseImportItem,
  readText,
  requireObject,
  requireText,
} from './foreign-record.ts'

/** Reads one parsed line of its file. */
export function readGraphLine(value: unknown, at: number): readonly ImportRecord[] {
  return parseImportItem(at, () => {
    const fields = requireObject(value, 'The line')
    const type = readText(fields, 'type')
    if (type === 'entity') return entityMemory(fields, at)
    if (type === 'relation') return relationMemory(fields, at)
    throw createInvalidRecordError('`type` must be "entity" or "relation".')
  })
}

/** Reads a whole graph, as the tool `read_graph` returns it. */
export function* readGraph(value: unknown): Generator<ImportRecord> {
  let at = 0
  for (const [name, type] of [
    ['entities', 'entity'],
    ['relations', 'relation'],
  ] as const) {
    const list = isObject(value) ? getOwnField(value, name) : undefined
    for (const item of Array.isArray(list) ? list : []) {
      at++
      yield* readGraphLine(isObject(item) ? { ...item, type } : item, at)
    }
  }
}

/** Uses the drafts of the graph tools, so that those tools find imported entities. */
function entityMemory(fields: Fields, at: number): ImportedMemory {
  const name = requireText(fields, 'name')
  const observations = getOwnField(fields, 'observations')
  const items: readonly unknown[] = Array.isArray(observations) ? observations : []
  const entity = {
    name,
    entityType: readText(fields, 'entityType') ?? 'unknown',
    observations: items.map((observation) => {
      if (typeof observation === 'string') return observation
      throw createInvalidRecordError('Each item of `observations` must be text.')
    }),
  }
  return { ...COMMON, at, name: JSON.stringify([name]), ...buildEntityDraft(entity) }
}

function relationMemory(fields: Fields, at: number): ImportedMemory {
  const from = requireText(fields, 'from')
  const to = requireText(fields, 'to')
  const relationType = requireText(fields, 'relationType')
  const name = JSON.stringify([from, relationType, to])
  return { ...COMMON, at, name, ...buildRelationDraft({ from, to, relationType }) }
}

const COMMON = { kind: 'memory', system: 'server-memory' } as const
