/** The caller's knowledge graph, stored as memories: see `domain/entity-graph.ts`. */

import {
  buildEntityDraft,
  buildEntityFields,
  buildEntityKey,
  buildRelationDraft,
  buildRelationKey,
  type GraphEntity,
  type GraphRelation,
  parseEntity,
  parseRelation,
} from '../../../domain/entity-graph.ts'
import { KEY_CHARACTERS_MAX } from '../../../domain/limits.ts'
import { AppError } from '../../../lib/errors.ts'
import type { WireMemory } from '../../operations/memory-schema.ts'
import type { OperationContext } from '../../operations/operation.ts'
import { type MemorySearchOutput, runOperation } from './compatibility-tool.ts'

export type Entity = GraphEntity
export type Relation = GraphRelation
export type Graph = {
  readonly entities: readonly Entity[]
  readonly relations: readonly Relation[]
}

type StoredNode<Node> = { readonly node: Node; readonly memory: WireMemory }

const PAGE_ROWS = 200
/** A larger graph would not fit into a model's context anyway. */
const NODES_MAX = 10_000
const ATTEMPTS_MAX = 8
const FOUND_MAX = 20

export async function createEntities(
  context: OperationContext,
  entities: readonly Entity[],
): Promise<readonly Entity[]> {
  const created: Entity[] = []
  for (const entity of entities) {
    if ((await findEntity(context, entity.name)) !== null) continue
    await runOperation(context, 'memory.add', { ...buildEntityDraft(entity), source: 'mcp' })
    created.push(entity)
  }
  return created
}

export async function createRelations(
  context: OperationContext,
  relations: readonly Relation[],
): Promise<readonly Relation[]> {
  const names = new Set(relations.flatMap(({ from, to }) => [from, to]))
  for (const name of names) await requireEntity(context, name)
  const created: Relation[] = []
  for (const relation of relations) {
    if ((await findRelation(context, relation)) !== null) continue
    await runOperation(context, 'memory.add', { ...buildRelationDraft(relation), source: 'mcp' })
    created.push(relation)
  }
  return created
}

/** Adds new observations and returns them. */
export async function addObservations(
  context: OperationContext,
  name: string,
  contents: readonly string[],
): Promise<readonly string[]> {
  const wanted = [...new Set(contents)]
  return changeEntity(context, name, (entity) => {
    const added = wanted.filter((content) => !entity.observations.includes(content))
    return { observations: [...entity.observations, ...added], done: added }
  })
}

/** Returns how many existed. */
export async function deleteObservations(
  context: OperationContext,
  name: string,
  contents: readonly string[],
): Promise<number> {
  return changeEntity(context, name, (entity) => {
    const observations = entity.observations.filter((each) => !contents.includes(each))
    return { observations, done: entity.observations.length - observations.length }
  })
}

/** Forgets entities and their relations; returns the names that existed. */
export async function deleteEntities(
  context: OperationContext,
  names: readonly string[],
): Promise<readonly string[]> {
  const deleted: string[] = []
  for (const name of new Set(names)) {
    const stored = await findEntity(context, name)
    if (stored === null) continue
    await runOperation(context, 'memory.forget', { id: stored.memory.id })
    deleted.push(name)
  }
  for (const { node, memory } of await allRelations(context)) {
    if (names.includes(node.from) || names.includes(node.to)) {
      await runOperation(context, 'memory.forget', { id: memory.id })
    }
  }
  return deleted
}

export async function deleteRelations(
  context: OperationContext,
  relations: readonly Relation[],
): Promise<number> {
  let deleted = 0
  for (const relation of relations) {
    const stored = await findRelation(context, relation)
    if (stored === null) continue
    await runOperation(context, 'memory.forget', { id: stored.memory.id })
    deleted += 1
  }
  return deleted
}

export async function readGraph(context: OperationContext): Promise<Graph> {
  const [entities, relations] = [await allEntities(context), await allRelations(context)]
  return { entities: nodesOf(entities), relations: nodesOf(relations) }
}

/** Entities that contain the text; without a match, those that recall finds. */
export async function searchNodes(context: OperationContext, query: string): Promise<Graph> {
  const wanted = query.toLowerCase()
  const contains = (text: string) => text.toLowerCase().includes(wanted)
  const exact = nodesOf(await allEntities(context)).filter(
    ({ name, entityType, observations }) =>
      contains(name) || contains(entityType) || observations.some(contains),
  )
  return withRelations(
    context,
    exact.length > 0 ? exact : await searchGraphMemories(context, query),
  )
}

export async function openNodes(
  context: OperationContext,
  names: readonly string[],
): Promise<Graph> {
  const found: Entity[] = []
  for (const name of new Set(names)) {
    const stored = await findEntity(context, name)
    if (stored !== null) found.push(stored.node)
  }
  return withRelations(context, found)
}

async function withRelations(
  context: OperationContext,
  entities: readonly Entity[],
): Promise<Graph> {
  const names = new Set(entities.map(({ name }) => name))
  const relations = names.size === 0 ? [] : nodesOf(await allRelations(context))
  return {
    entities,
    relations: relations.filter(({ from, to }) => names.has(from) || names.has(to)),
  }
}

async function searchGraphMemories(
  context: OperationContext,
  query: string,
): Promise<readonly Entity[]> {
  if (query.trim() === '') return []
  const { results } = await runOperation<MemorySearchOutput>(context, 'memory.search', {
    query,
    category: 'entity',
    limit: FOUND_MAX,
    include: 'facts',
  })
  return results.flatMap(({ memory }) => toEntity(memory) ?? [])
}

/**
 * Optimistic concurrency: two calls that change the same entity retry instead of overwriting each
 * other.
 */
async function changeEntity<Done>(
  context: OperationContext,
  name: string,
  change: (entity: Entity) => { readonly observations: readonly string[]; readonly done: Done },
): Promise<Done> {
  for (let attempt = 1; ; attempt++) {
    const { node, memory } = await requireEntity(context, name)
    const { observations, done } = change(node)
    if (observations.length === node.observations.length) return done
    try {
      await runOperation(context, 'memory.update', {
        id: memory.id,
        version: memory.version,
        ...buildEntityFields({ ...node, observations }),
      })
      return done
    } catch (error) {
      const isRace =
        error instanceof AppError &&
        (error.code === 'conflict' || error.code === 'precondition_failed')
      if (!isRace || attempt === ATTEMPTS_MAX) throw error
    }
  }
}

export async function requireEntity(
  context: OperationContext,
  name: string,
): Promise<StoredNode<Entity>> {
  const stored = await findEntity(context, name)
  if (stored === null) {
    throw new AppError(
      'not_found',
      `Entity with name ${name.slice(0, KEY_CHARACTERS_MAX)} not found. Create it with create_entities first.`,
    )
  }
  return stored
}

export async function findEntity(
  context: OperationContext,
  name: string,
): Promise<StoredNode<Entity> | null> {
  return findOne(context, buildEntityKey(name), toEntity)
}

async function findRelation(
  context: OperationContext,
  relation: Relation,
): Promise<StoredNode<Relation> | null> {
  return findOne(context, buildRelationKey(relation), toRelation)
}

async function findOne<Node>(
  context: OperationContext,
  key: string,
  toNode: (memory: WireMemory) => Node | null,
): Promise<StoredNode<Node> | null> {
  const { data } = await runOperation<{ data: readonly WireMemory[] }>(context, 'memory.list', {
    key,
  })
  return parseNodes(data, toNode)[0] ?? null
}

const allEntities = (context: OperationContext) => all(context, 'entity', toEntity)
const allRelations = (context: OperationContext) => all(context, 'relationship', toRelation)

/** Ordered by creation. */
async function all<Node>(
  context: OperationContext,
  category: 'entity' | 'relationship',
  toNode: (memory: WireMemory) => Node | null,
): Promise<readonly StoredNode<Node>[]> {
  const found: StoredNode<Node>[] = []
  let after: string | null = null
  do {
    const page: { data: readonly WireMemory[]; next: string | null } = await runOperation(
      context,
      'memory.list',
      { category, order: 'oldest', limit: PAGE_ROWS, after: after ?? undefined },
    )
    found.push(...parseNodes(page.data, toNode))
    after = page.next
    if (found.length > NODES_MAX) {
      throw new AppError('too_large', `The graph has more than ${NODES_MAX} nodes of one kind.`)
    }
  } while (after !== null)
  return found
}

function parseNodes<Node>(
  memories: readonly WireMemory[],
  toNode: (memory: WireMemory) => Node | null,
): readonly StoredNode<Node>[] {
  return memories.flatMap((memory) => {
    const node = toNode(memory)
    return node === null ? [] : [{ node, memory }]
  })
}

function nodesOf<Node>(stored: readonly StoredNode<Node>[]): readonly Node[] {
  return stored.map(({ node }) => node)
}

const toEntity = ({ metadata }: WireMemory) => parseEntity(metadata)
const toRelation = ({ metadata }: WireMemory) => parseRelation(metadata)
