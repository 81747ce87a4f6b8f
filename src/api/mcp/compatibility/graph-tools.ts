/** The nine tools of the official memory server, with its names, inputs and outputs. */
import { z } from 'zod'
import type { Tool } from '../tool.ts'
import { defineTool } from './compatibility-tool.ts'
import * as graph from './graph-repository.ts'

const NODES_MAX = 500
const name = z.string().min(1).max(1_000)
const text = z.string().min(1).max(10_000)

const entity = z.strictObject({
  name: name.describe('The name of the entity'),
  entityType: name.describe('The type of the entity'),
  observations: z.array(text).max(NODES_MAX).describe('Statements about it, one fact each'),
})
const relation = z.strictObject({
  from: name.describe('The name of the source entity'),
  to: name.describe('The name of the target entity'),
  relationType: name.describe('In active voice, as works_at'),
})
const wholeGraph = z.object({ entities: z.array(entity), relations: z.array(relation) })
const done = z.object({ success: z.boolean(), message: z.string() })
const some = <Item extends z.ZodType>(item: Item) => z.array(item).max(NODES_MAX)

const formatMessage = ({ message }: { readonly message: string }) => message
const indented = (value: unknown) => JSON.stringify(value, null, 2)

export function graphTools(): readonly Tool[] {
  return [
    createEntities,
    createRelations,
    addObservations,
    deleteEntities,
    deleteObservations,
    deleteRelations,
    readGraph,
    searchNodes,
    openNodes,
  ]
}

const createEntities = defineTool({
  name: 'create_entities',
  description: 'Create new entities in the knowledge graph; existing ones are not changed.',
  access: 'write',
  input: z.strictObject({ entities: some(entity) }),
  output: z.object({ entities: z.array(entity) }),
  call: async (context, { entities }) => ({
    entities: toWire(await graph.createEntities(context, entities)),
  }),
  formatResult: ({ entities }) => indented(entities),
})

const createRelations = defineTool({
  name: 'create_relations',
  description: 'Create new relations between entities of the knowledge graph, in active voice.',
  access: 'write',
  input: z.strictObject({ relations: some(relation) }),
  output: z.object({ relations: z.array(relation) }),
  call: async (context, { relations }) => ({
    relations: [...(await graph.createRelations(context, relations))],
  }),
  formatResult: ({ relations }) => indented(relations),
})

const addObservations = defineTool({
  name: 'add_observations',
  description: 'Add observations to entities that are in the knowledge graph.',
  access: 'write',
  input: z.strictObject({
    observations: some(z.strictObject({ entityName: name, contents: some(text) })),
  }),
  output: z.object({
    results: z.array(z.object({ entityName: z.string(), addedObservations: z.array(z.string()) })),
  }),
  call: async (context, { observations }) => {
    // All names are checked before anything is added.
    for (const { entityName } of observations) await graph.requireEntity(context, entityName)
    const results = []
    for (const { entityName, contents } of observations) {
      const added = await graph.addObservations(context, entityName, contents)
      results.push({ entityName, addedObservations: [...added] })
    }
    return { results }
  },
  formatResult: ({ results }) => indented(results),
})

const deleteEntities = defineTool({
  name: 'delete_entities',
  description: 'Forget entities of the knowledge graph, with their relations.',
  access: 'write',
  isDestructive: true,
  isIdempotent: true,
  input: z.strictObject({ entityNames: some(name) }),
  output: done,
  call: async (context, { entityNames }) => {
    const deleted = await graph.deleteEntities(context, entityNames)
    const missing = entityNames.filter((each) => !deleted.includes(each))
    const message =
      missing.length === 0
        ? 'Entities deleted successfully'
        : `Deleted ${deleted.length} of ${entityNames.length} entities. Not found: ${missing.join(', ')}`
    return { success: true, message }
  },
  formatResult: formatMessage,
})

const deleteObservations = defineTool({
  name: 'delete_observations',
  description: 'Delete observations from entities of the knowledge graph.',
  access: 'write',
  isDestructive: true,
  isIdempotent: true,
  input: z.strictObject({
    deletions: some(z.strictObject({ entityName: name, observations: some(text) })),
  }),
  output: done,
  call: async (context, { deletions }) => {
    const missing: string[] = []
    let deleted = 0
    for (const { entityName, observations } of deletions) {
      const isThere = (await graph.findEntity(context, entityName)) !== null
      if (isThere) deleted += await graph.deleteObservations(context, entityName, observations)
      else missing.push(entityName)
    }
    const asked = deletions.reduce((sum, { observations }) => sum + observations.length, 0)
    const unknown = missing.length === 0 ? '' : ` Entities not found: ${missing.join(', ')}`
    const message =
      deleted === asked
        ? 'Observations deleted successfully'
        : `Deleted ${deleted} of ${asked} observations.${unknown}`
    return { success: true, message }
  },
  formatResult: formatMessage,
})

const deleteRelations = defineTool({
  name: 'delete_relations',
  description: 'Delete relations of the knowledge graph.',
  access: 'write',
  isDestructive: true,
  isIdempotent: true,
  input: z.strictObject({ relations: some(relation) }),
  output: done,
  call: async (context, { relations }) => {
    const deleted = await graph.deleteRelations(context, relations)
    const message =
      deleted === relations.length
        ? 'Relations deleted successfully'
        : `Deleted ${deleted} of ${relations.length} relations. The rest matched nothing.`
    return { success: true, message }
  },
  formatResult: formatMessage,
})

const readGraph = defineTool({
  name: 'read_graph',
  description: 'Read the whole knowledge graph. Prefer search_nodes when it may be large.',
  access: 'read',
  input: z.strictObject({}),
  output: wholeGraph,
  call: async (context) => toWireGraph(await graph.readGraph(context)),
  formatResult: indented,
})

const searchNodes = defineTool({
  name: 'search_nodes',
  description: 'Find entities of the knowledge graph by name, type or observation.',
  access: 'read',
  input: z.strictObject({ query: z.string().max(2_048) }),
  output: wholeGraph,
  call: async (context, { query }) => toWireGraph(await graph.searchNodes(context, query)),
  formatResult: indented,
})

const openNodes = defineTool({
  name: 'open_nodes',
  description: 'Read entities of the knowledge graph by their names.',
  access: 'read',
  input: z.strictObject({ names: some(name) }),
  output: wholeGraph,
  call: async (context, { names }) => toWireGraph(await graph.openNodes(context, names)),
  formatResult: indented,
})

function toWire(entities: readonly graph.Entity[]) {
  return entities.map((each) => ({ ...each, observations: [...each.observations] }))
}

function toWireGraph({ entities, relations }: graph.Graph) {
  return { entities: toWire(entities), relations: [...relations] }
}
