/** The knowledge graph of the MCP server `server-memory`: entities with observations, and relations between them. */
import { entityDraft, relationDraft } from '../../domain/entity-graph.ts'
import { type Fields, isObject } from '../../lib/json.ts'
import {
  type ForeignMemory,
  type ForeignRecord,
  field,
  invalid,
  objectOf,
  readItem,
  requiredText,
  textOf,
} from './foreign-record.ts'

/** One line of its file, already parsed. */
export function readGraphLine(value: unknown, at: number): readonly ForeignRecord[] {
  return readItem(at, () => {
    const fields = objectOf(value, 'The line')
    const type = textOf(fields, 'type')
    if (type === 'entity') return entityMemory(fields, at)
    if (type === 'relation') return relationMemory(fields, at)
    throw invalid('The line is neither an entity nor a relation.')
  })
}

/** A whole graph in one object, as its tool `read_graph` answers. */
export function* readGraph(value: unknown): Generator<ForeignRecord> {
  let at = 0
  for (const [name, type] of [
    ['entities', 'entity'],
    ['relations', 'relation'],
  ] as const) {
    const list = isObject(value) ? field(value, name) : undefined
    for (const item of Array.isArray(list) ? list : []) {
      at++
      yield* readGraphLine(isObject(item) ? { ...item, type } : item, at)
    }
  }
}

/** As the tools for graphs keep them, see `core/graph.ts`, so that they find what was imported. */
function entityMemory(fields: Fields, at: number): ForeignMemory {
  const name = requiredText(fields, 'name')
  const observations = field(fields, 'observations')
  const said: readonly unknown[] = Array.isArray(observations) ? observations : []
  const entity = {
    name,
    entityType: textOf(fields, 'entityType') ?? 'unknown',
    observations: said.map((observation) => {
      if (typeof observation === 'string') return observation
      throw invalid('An observation is no text.')
    }),
  }
  return { ...COMMON, at, name: JSON.stringify([name]), ...entityDraft(entity) }
}

function relationMemory(fields: Fields, at: number): ForeignMemory {
  const from = requiredText(fields, 'from')
  const to = requiredText(fields, 'to')
  const relationType = requiredText(fields, 'relationType')
  const name = JSON.stringify([from, relationType, to])
  return { ...COMMON, at, name, ...relationDraft({ from, to, relationType }) }
}

const COMMON = { kind: 'memory', system: 'server-memory' } as const
