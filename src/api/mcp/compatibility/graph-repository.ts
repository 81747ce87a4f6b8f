/** The graph of the caller, kept as memories: see `core/graph.ts` for how. */

import {
  entityDraft,
  entityIn,
  entityKey,
  entityParts,
  type GraphEntity,
  type GraphRelation,
  relationDraft,
  relationIn,
  relationKey,
} from '../../../domain/entity-graph.ts'
import { AppError } from '../../../domain/errors.ts'
import { KEY_CHARACTERS_MAX } from '../../../domain/limits.ts'
import type { WireMemory } from '../../operations/memory-schema.ts'
import type { Context } from '../../operations/operation.ts'
import { type Found, run } from './compatibility-tool.ts'

export type Entity = GraphEntity
export type Relation = GraphRelation
export type Graph = {
  readonly entities: readonly Entity[]
  readonly relations: readonly Relation[]
}

type Kept<Node> = { readonly node: Node; readonly memory: WireMemory }

const PAGE_ROWS = 200
/** A graph beyond this would not fit into any model anyway. */
const NODES_MAX = 10_000
const ATTEMPTS_MAX = 8
const FOUND_MAX = 20

export async function createEntities(
  context: Context,
  entities: readonly Entity[],
): Promise<readonly Entity[]> {
  const created: Entity[] = []
  for (const entity of entities) {
    if ((await findEntity(context, entity.name)) !== null) continue
    await run(context, 'memory.add', { ...entityDraft(entity), source: 'mcp' })
    created.push(entity)
  }
  return created
}

export async function createRelations(
  context: Context,
  relations: readonly Relation[],
): Promise<readonly Relation[]> {
  const names = new Set(relations.flatMap(({ from, to }) => [from, to]))
  for (const name of names) await needEntity(context, name)
  const created: Relation[] = []
  for (const relation of relations) {
    if ((await findRelation(context, relation)) !== null) continue
    await run(context, 'memory.add', { ...relationDraft(relation), source: 'mcp' })
    created.push(relation)
  }
  return created
}

/** Adds what is new to it and answers with that. */
export async function addObservations(
  context: Context,
  name: string,
  contents: readonly string[],
): Promise<readonly string[]> {
  const wanted = [...new Set(contents)]
  return changeEntity(context, name, (entity) => {
    const added = wanted.filter((content) => !entity.observations.includes(content))
    return { observations: [...entity.observations, ...added], done: added }
  })
}

/** Answers with how many were there. */
export async function deleteObservations(
  context: Context,
  name: string,
  contents: readonly string[],
): Promise<number> {
  return changeEntity(context, name, (entity) => {
    const observations = entity.observations.filter((each) => !contents.includes(each))
    return { observations, done: entity.observations.length - observations.length }
  })
}

/** Forgets entities and their relations; answers with the names that were there. */
export async function deleteEntities(
  context: Context,
  names: readonly string[],
): Promise<readonly string[]> {
  const deleted: string[] = []
  for (const name of new Set(names)) {
    const kept = await findEntity(context, name)
    if (kept === null) continue
    await run(context, 'memory.forget', { id: kept.memory.id })
    deleted.push(name)
  }
  for (const { node, memory } of await allRelations(context)) {
    if (names.includes(node.from) || names.includes(node.to)) {
      await run(context, 'memory.forget', { id: memory.id })
    }
  }
  return deleted
}

export async function deleteRelations(
  context: Context,
  relations: readonly Relation[],
): Promise<number> {
  let deleted = 0
  for (const relation of relations) {
    const kept = await findRelation(context, relation)
    if (kept === null) continue
    await run(context, 'memory.forget', { id: kept.memory.id })
    deleted += 1
  }
  return deleted
}

export async function readGraph(context: Context): Promise<Graph> {
  const [entities, relations] = [await allEntities(context), await allRelations(context)]
  return { entities: nodesOf(entities), relations: nodesOf(relations) }
}

/** Entities that hold the text, and when none does, those that recall finds for it. */
export async function searchNodes(context: Context, query: string): Promise<Graph> {
  const wanted = query.toLowerCase()
  const holds = (text: string) => text.toLowerCase().includes(wanted)
  const exact = nodesOf(await allEntities(context)).filter(
    ({ name, entityType, observations }) =>
      holds(name) || holds(entityType) || observations.some(holds),
  )
  return withRelations(context, exact.length > 0 ? exact : await recalled(context, query))
}

export async function openNodes(context: Context, names: readonly string[]): Promise<Graph> {
  const found: Entity[] = []
  for (const name of new Set(names)) {
    const kept = await findEntity(context, name)
    if (kept !== null) found.push(kept.node)
  }
  return withRelations(context, found)
}

async function withRelations(context: Context, entities: readonly Entity[]): Promise<Graph> {
  const names = new Set(entities.map(({ name }) => name))
  const relations = names.size === 0 ? [] : nodesOf(await allRelations(context))
  return {
    entities,
    relations: relations.filter(({ from, to }) => names.has(from) || names.has(to)),
  }
}

async function recalled(context: Context, query: string): Promise<readonly Entity[]> {
  if (query.trim() === '') return []
  const { results } = await run<Found>(context, 'memory.search', {
    query,
    category: 'entity',
    limit: FOUND_MAX,
    include: 'facts',
  })
  return results.flatMap(({ memory }) => toEntity(memory) ?? [])
}

/** Two that change one entity at once must not undo each other: who comes second reads again. */
async function changeEntity<Done>(
  context: Context,
  name: string,
  change: (entity: Entity) => { readonly observations: readonly string[]; readonly done: Done },
): Promise<Done> {
  for (let attempt = 1; ; attempt++) {
    const { node, memory } = await needEntity(context, name)
    const { observations, done } = change(node)
    if (observations.length === node.observations.length) return done
    try {
      await run(context, 'memory.update', {
        id: memory.id,
        version: memory.version,
        ...entityParts({ ...node, observations }),
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

export async function needEntity(context: Context, name: string): Promise<Kept<Entity>> {
  const kept = await findEntity(context, name)
  if (kept === null) {
    throw new AppError(
      'not_found',
      `Entity with name ${name.slice(0, KEY_CHARACTERS_MAX)} not found. Make it with create_entities first.`,
    )
  }
  return kept
}

export async function findEntity(context: Context, name: string): Promise<Kept<Entity> | null> {
  return findOne(context, entityKey(name), toEntity)
}

async function findRelation(context: Context, relation: Relation): Promise<Kept<Relation> | null> {
  return findOne(context, relationKey(relation), toRelation)
}

async function findOne<Node>(
  context: Context,
  key: string,
  toNode: (memory: WireMemory) => Node | null,
): Promise<Kept<Node> | null> {
  const { data } = await run<{ data: readonly WireMemory[] }>(context, 'memory.list', { key })
  return keep(data, toNode)[0] ?? null
}

const allEntities = (context: Context) => all(context, 'entity', toEntity)
const allRelations = (context: Context) => all(context, 'relationship', toRelation)

/** In the order in which they were made. */
async function all<Node>(
  context: Context,
  category: 'entity' | 'relationship',
  toNode: (memory: WireMemory) => Node | null,
): Promise<readonly Kept<Node>[]> {
  const found: Kept<Node>[] = []
  let after: string | null = null
  do {
    const page: { data: readonly WireMemory[]; next: string | null } = await run(
      context,
      'memory.list',
      { category, order: 'oldest', limit: PAGE_ROWS, after: after ?? undefined },
    )
    found.push(...keep(page.data, toNode))
    after = page.next
    if (found.length > NODES_MAX) {
      throw new AppError('too_large', `The graph has more than ${NODES_MAX} nodes of one kind.`)
    }
  } while (after !== null)
  return found
}

function keep<Node>(
  memories: readonly WireMemory[],
  toNode: (memory: WireMemory) => Node | null,
): readonly Kept<Node>[] {
  return memories.flatMap((memory) => {
    const node = toNode(memory)
    return node === null ? [] : [{ node, memory }]
  })
}

function nodesOf<Node>(kept: readonly Kept<Node>[]): readonly Node[] {
  return kept.map(({ node }) => node)
}

const toEntity = ({ metadata }: WireMemory) => entityIn(metadata)
const toRelation = ({ metadata }: WireMemory) => relationIn(metadata)
