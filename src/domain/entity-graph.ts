/**
 * Stores a graph of entities and relations as memories. Each entity and each relation is one memory with a derived key,
 * readable content that recall finds, and its fields in the metadata.
 */

import { sha256 } from '../lib/hash.ts'
import { ENTITY_CHARACTERS_MAX, KEY_CHARACTERS_MAX } from './limits.ts'

export type GraphEntity = {
  readonly name: string
  readonly entityType: string
  readonly observations: readonly string[]
}
export type GraphRelation = {
  readonly from: string
  readonly to: string
  readonly relationType: string
}

export function buildEntityKey(name: string): string {
  return shortenKey('entity:', name)
}

export function buildRelationKey({ from, to, relationType }: GraphRelation): string {
  return shortenKey('relation:', JSON.stringify([from, relationType, to]))
}

/** The fields of the memory that depend on the observations. */
export function buildEntityFields({ name, entityType, observations }: GraphEntity) {
  const suffix = observations.length === 0 ? '' : `: ${observations.join('; ')}`
  return {
    content: `${name} (${entityType})${suffix}`,
    entities: toEntityNames([name]),
    metadata: { graph: 'entity', name, entityType, observations: [...observations] },
  }
}

export function buildEntityDraft(entity: GraphEntity) {
  return {
    key: buildEntityKey(entity.name),
    type: 'semantic',
    category: 'entity',
    ...buildEntityFields(entity),
  } as const
}

export function buildRelationDraft(relation: GraphRelation) {
  const { from, to, relationType } = relation
  return {
    key: buildRelationKey(relation),
    content: `${from} ${relationType.replaceAll('_', ' ')} ${to}`,
    type: 'semantic',
    category: 'relationship',
    entities: toEntityNames([from, to]),
    metadata: { graph: 'relation', from, to, relationType },
  } as const
}

type Metadata = { readonly [name: string]: unknown }

/** The entity that a memory represents, or null. Any caller can write such metadata, so every field is checked. */
export function parseEntity({
  graph,
  name,
  entityType,
  observations,
}: Metadata): GraphEntity | null {
  if (graph !== 'entity' || typeof name !== 'string' || typeof entityType !== 'string') return null
  const values: readonly unknown[] = Array.isArray(observations) ? observations : []
  return { name, entityType, observations: values.filter((each) => typeof each === 'string') }
}

export function parseRelation({ graph, from, to, relationType }: Metadata): GraphRelation | null {
  if (graph !== 'relation' || typeof from !== 'string' || typeof to !== 'string') return null
  return typeof relationType === 'string' ? { from, to, relationType } : null
}

/** Hashes names that are too long for a key. */
function shortenKey(prefix: string, name: string): string {
  const key = `${prefix}${name}`
  return key.length <= KEY_CHARACTERS_MAX ? key : `${prefix}${sha256(name)}`
}

function toEntityNames(names: readonly string[]): readonly string[] {
  return [...new Set(names)].filter((name) => name.length <= ENTITY_CHARACTERS_MAX)
}
