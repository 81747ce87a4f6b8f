/**
 * What retrieval searches and ranks: memories, and turns of conversations in the same form.
 *
 * Every store keeps the document of a turn in the same lexical and vector index as its memories and writes it in the
 * commit that writes the turn. So facts and turns are scored with the same statistics, by the same evidence and under
 * the same filters, and one ranked list holds both.
 */
import type { ChangeId, MemoryId, TurnId } from './ids.ts'
import { MEMORY_TYPES, type Memory, type Trust } from './memory.ts'
import type { Turn, TurnRole } from './turn.ts'

/** The types of a memory, and `turn`. Callers can't give a memory the type `turn`. */
export const DOCUMENT_TYPES = [...MEMORY_TYPES, 'turn'] as const

export type DocumentType = (typeof DOCUMENT_TYPES)[number]

/** A memory is its own document. That of a turn goes by the id of the turn. */
export type SearchDocument = Omit<Memory, 'type'> & { readonly type: DocumentType }

/** `provenance.source` of every turn. */
export const TURN_SOURCE = 'conversation'

/** No change wrote the document: it is derived. */
const NO_CHANGE = 'chg_0' as ChangeId // the one place where it is made

/** What tools and system prompts say is text that nobody vouches for. */
const TRUST_OF: Readonly<Record<TurnRole, Trust>> = {
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
    trust: TRUST_OF[role],
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

/** The id under which the index knows a turn. */
export function toDocumentId(turn: TurnId): MemoryId {
  return turn as string as MemoryId // ids of turns and memories have different prefixes, so one index holds both
}

/** Whether a document's id is that of a turn. */
export function isTurnId(id: string): boolean {
  return id.startsWith('turn_')
}

/**
 * Tells memories from turns among the results of a recall.
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

/** The turn that a document is of; null for a memory. */
export function getTurnId({ id, type }: Pick<SearchDocument, 'id' | 'type'>): TurnId | null {
  return type === 'turn' ? (id as string as TurnId) : null // as `turnDocument` made it
}

export function getTurnRole({ metadata }: Pick<SearchDocument, 'metadata'>): TurnRole | null {
  const { role } = metadata
  return typeof role === 'string' && role in TRUST_OF ? (role as TurnRole) : null // as `turnDocument` wrote it
}

/** Where a turn stands in its session; null for a memory. */
export function getTurnPosition({ metadata, type }: SearchDocument): number | null {
  return type === 'turn' && typeof metadata.position === 'number' ? metadata.position : null
}

/** Without a list, every memory passes and no turn does: turns are found only by who asks for them. */
export function isMatchingType(wanted: readonly DocumentType[] | undefined, type: DocumentType) {
  return wanted === undefined ? type !== 'turn' : wanted.includes(type)
}

/** Memories and turns have tokens of their own, so that a search for one kind never meets rows of the other. */
export type DocumentKind = 'memory' | 'turn'

export const DOCUMENT_KINDS: readonly DocumentKind[] = ['memory', 'turn']

export function selectKinds(types: readonly DocumentType[] | undefined): readonly DocumentKind[] {
  if (types === undefined) return ['memory']
  return DOCUMENT_KINDS.filter((kind) =>
    types.some((type) => (type === 'turn') === (kind === 'turn')),
  )
}
