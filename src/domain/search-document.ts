/**
 * The unit of retrieval: a memory, or a conversation turn in the form of a memory.
 *
 * Stores write the document of a turn into the lexical and vector index of the memories, in the commit that writes the
 * turn. Facts and turns are therefore scored with the same statistics and filters, and one ranked list holds both.
 */
import type { ChangeId, MemoryId, TurnId } from './ids.ts'
import { MEMORY_TYPES, type Memory, type Trust } from './memory.ts'
import type { Turn, TurnRole } from './turn.ts'

/** Callers cannot write memories of type `turn`. */
export const DOCUMENT_TYPES = [...MEMORY_TYPES, 'turn'] as const

export type DocumentType = (typeof DOCUMENT_TYPES)[number]

/** A memory is its own document. The document of a turn has the id of the turn. */
export type SearchDocument = Omit<Memory, 'type'> & { readonly type: DocumentType }

const TURN_SOURCE = 'conversation'

/** Documents of turns are derived, so no change wrote them. */
const NO_CHANGE = 'chg_0' as ChangeId // a constant that no generator draws

/** Nobody vouches for tool results and system prompts. */
const TRUST_BY_ROLE: Readonly<Record<TurnRole, Trust>> = {
  user: 'user',
  assistant: 'assistant',
  system: 'tool',
  tool: 'tool',
}

export function toTurnDocument(turn: Turn): SearchDocument {
  const { id, place, role, speaker, content, position, saidAt, disabled, version } = turn
  return {
    id: toDocumentId(id),
    place,
    key: null,
    content,
    type: 'turn',
    category: 'general',
    importance: 5,
    salience: 0.5,
    pinned: false,
    trust: TRUST_BY_ROLE[role],
    status: disabled ? 'disabled' : 'active',
    validFrom: null,
    validUntil: null,
    supersededBy: null,
    conflictsWith: null,
    expiresAt: null,
    provenance: {
      source: TURN_SOURCE,
      speaker: speaker ?? role,
      turns: [id],
      extractor: null,
      extractorVersion: null,
    },
    entities: [],
    language: null,
    metadata: { role, position },
    sourceCount: 1,
    useCount: 0,
    lastUsedAt: null,
    version,
    change: NO_CHANGE,
    createdAt: saidAt,
    updatedAt: saidAt,
  }
}

/** The id of a turn in the index. */
export function toDocumentId(turn: TurnId): MemoryId {
  return turn as string as MemoryId // prefixes keep the ids of turns and memories apart
}

/** Whether a document id is the id of a turn. */
export function isTurnId(id: string): boolean {
  return id.startsWith('turn_')
}

/**
 * Separates memories from turns in the results of a recall.
 *
 * @example
 * const { memories } = await memory.recall({ owner: 'ada' }, { text: 'ferry' })
 * const facts = memories.map((each) => each.memory).filter(isMemoryDocument)
 */
export function isMemoryDocument(document: SearchDocument): document is Memory {
  return document.type !== 'turn'
}

export function isTurnDocument({ type }: Pick<SearchDocument, 'type'>): boolean {
  return type === 'turn'
}

/** The turn of a document; null for a memory. */
export function getTurnId({ id, type }: Pick<SearchDocument, 'id' | 'type'>): TurnId | null {
  return type === 'turn' ? (id as string as TurnId) : null // as toTurnDocument made it
}

export function getTurnRole({ metadata }: Pick<SearchDocument, 'metadata'>): TurnRole | null {
  const { role } = metadata
  return typeof role === 'string' && role in TRUST_BY_ROLE ? (role as TurnRole) : null // a key of the table
}

/** The position of a turn in its session; null for a memory. */
export function getTurnPosition({ metadata, type }: SearchDocument): number | null {
  return type === 'turn' && typeof metadata.position === 'number' ? metadata.position : null
}

/** Without a list, all memories match and no turn does: turns are found only by queries that ask for them. */
export function isMatchingType(types: readonly DocumentType[] | undefined, type: DocumentType) {
  return types === undefined ? type !== 'turn' : types.includes(type)
}

/** Memories and turns have separate index tokens, so a search for one kind never reads rows of the other. */
export type DocumentKind = 'memory' | 'turn'

export const DOCUMENT_KINDS: readonly DocumentKind[] = ['memory', 'turn']

export function selectKinds(types: readonly DocumentType[] | undefined): readonly DocumentKind[] {
  if (types === undefined) return ['memory']
  return DOCUMENT_KINDS.filter((kind) =>
    types.some((type) => (type === 'turn') === (kind === 'turn')),
  )
}

/** A copy for callers who may modify it. Stores share documents between queries. */
export function copyDocument(document: SearchDocument): SearchDocument {
  return {
    ...document,
    place: { ...document.place },
    provenance: copyJson(document.provenance),
    entities: copyJson(document.entities),
    metadata: copyJson(document.metadata),
  }
}

function copyJson<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyJson) as Value // the same elements
  const copy = { ...value } as Record<string, unknown> // a JSON object
  // Nested values are rare.
  for (const name in copy) if (typeof copy[name] === 'object') copy[name] = copyJson(copy[name])
  return copy as Value // the same fields
}
