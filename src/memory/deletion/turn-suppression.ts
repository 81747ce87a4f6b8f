/**
 * Disables the turns that state a forgotten fact, so that recall cannot quote them instead.
 *
 * Suppression entries link both ways: the entry of a turn lists the forgotten facts that disable it, the entry of a fact its
 * turns. A turn is enabled again when its last fact is restored. A turn without an entry was disabled by a person and is
 * never enabled here.
 */

import type { Entry } from '../../domain/entry.ts'
import type { EntryId, MemoryId, OwnerId, TurnId } from '../../domain/ids.ts'
import type { Memory } from '../../domain/memory.ts'
import { type Place, toUserScope } from '../../domain/scope.ts'
import { toDocumentId } from '../../domain/search-document.ts'
import type { Turn } from '../../domain/turn.ts'
import { yieldToEventLoop } from '../../lib/event-loop.ts'
import { hashParts } from '../../lib/hash.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Instant } from '../../lib/time.ts'
import { pages } from '../../storage/access/row-pages.ts'
import type { Change, Store } from '../../storage/store.ts'
import { rewriteToFirstPerson } from '../contradiction/persons.ts'
import type { MemoryDependencies } from '../types.ts'
import { buildRedaction } from './receipt-redaction.ts'
import { isRestatedIn, isSupportedBy, selectSources, toStatement } from './restatement.ts'

export type SuppressionPlan = {
  readonly changes: readonly Change[]
  /** The number of turns that the changes disable or enable. */
  readonly turns: number
}

/** Every turn takes two changes of the commit. */
const TURNS_MAX = 400

/** Candidates per fact. */
const RESTATEMENTS_MAX = 200

/** Less than 1, because `coverage` is a sum of fractions. */
const FULL_COVERAGE = 0.999

type LinkedId = MemoryId | TurnId

export function buildSuppressionId(owner: OwnerId, id: LinkedId): EntryId {
  return `tsp_${hashParts(owner, id)}` as EntryId // derived: a turn or fact has one entry at most
}

/**
 * Disables the turns that state these memories, which belong to one owner. With `isErasure`, the memories cannot be
 * restored: the turns stay disabled and receipts lose their lines.
 */
export async function planSuppression(
  deps: MemoryDependencies,
  memories: readonly Memory[],
  now: Instant,
  { isErasure = false }: { readonly isErasure?: boolean } = {},
): Promise<SuppressionPlan> {
  const [first] = memories
  if (first === undefined) return EMPTY_PLAN
  const { owner } = first.place
  const turns = new Map<TurnId, Turn>()
  const factsOf = new Map<TurnId, MemoryId[]>()
  for (const memory of memories) {
    await yieldToEventLoop() // a search per fact takes long
    for (const turn of await findStatingTurns(deps.store, memory)) {
      turns.set(turn.id, turn)
      factsOf.set(turn.id, [...(factsOf.get(turn.id) ?? []), memory.id])
    }
  }
  const ids = [...turns.keys(), ...memories.map(({ id }) => id)]
  const entries = await readEntries(deps.store, owner, ids)
  const changes: Change[] = []
  const linked = new Map<MemoryId, TurnId[]>()
  let disabled = 0
  for (const turn of turns.values()) {
    const entry = entries.get(turn.id)
    if (turn.disabled && entry === undefined) continue
    const facts = factsOf.get(turn.id) ?? []
    for (const id of facts) linked.set(id, [...(linked.get(id) ?? []), turn.id])
    changes.push(...putLinks(turn, entry, facts, now))
    if (turn.disabled) continue
    changes.push(putTurn(turn, true))
    disabled++
  }
  for (const memory of memories) {
    const entry = entries.get(memory.id)
    const links = linked.get(memory.id) ?? []
    changes.push(
      ...(isErasure ? eraseLinks(owner, entry, links) : putLinks(memory, entry, links, now)),
    )
  }
  return { changes, turns: disabled }
}

/** Erases the links of a memory that was forgotten before: its turns stay disabled, and receipts lose their lines. */
export async function planLinkErasure(
  { store }: MemoryDependencies,
  memory: Memory,
): Promise<SuppressionPlan> {
  const { owner } = memory.place
  const entry = (await readEntries(store, owner, [memory.id])).get(memory.id)
  return { changes: eraseLinks(owner, entry, []), turns: 0 }
}

/** Enables the turns that these memories, of one owner, disabled, unless another forgotten fact still disables them. */
export async function planRelease(
  { store }: MemoryDependencies,
  memories: readonly Memory[],
  now: Instant,
): Promise<SuppressionPlan> {
  const [first] = memories
  if (first === undefined) return EMPTY_PLAN
  const { owner } = first.place
  const released = new Set<string>(memories.map(({ id }) => id))
  const factEntries = await readEntries(store, owner, [...released] as MemoryId[]) // ids of memories
  if (factEntries.size === 0) return EMPTY_PLAN
  const ids = [...new Set([...factEntries.values()].flatMap(getLinks))] as TurnId[] // facts link to turns
  const entries = await readEntries(store, owner, ids)
  const changes: Change[] = [...factEntries.values()].map(removeEntry)
  let enabled = 0
  for (const turn of await readTurns(store, owner, ids)) {
    const entry = entries.get(turn.id)
    if (entry === undefined) continue
    const links = getLinks(entry).filter((id) => !released.has(id))
    if (links.length > 0) {
      changes.push(putEntry(turn, entry, links, now))
      continue
    }
    changes.push(removeEntry(entry))
    if (!turn.disabled) continue
    changes.push(putTurn(turn, false))
    enabled++
  }
  return { changes, turns: enabled }
}

type ExchangeSuppression = {
  /** The disabled versions of the turns. */
  readonly turns: readonly Turn[]
  /** Changes of the suppression entries, without the turns. */
  readonly changes: readonly Change[]
}

/**
 * Disables turns of an exchange in which a memory tool forgot facts: `planSuppression` ran before the turns were stored.
 * Includes facts that earlier requests of the exchange forgot, which the entries of its turns list.
 */
export async function planExchangeSuppression(
  { store, clock }: MemoryDependencies,
  turns: readonly Turn[],
  forgotten: readonly MemoryId[],
): Promise<ExchangeSuppression> {
  const [first] = turns
  if (first === undefined) return { turns: [], changes: [] }
  const { owner } = first.place
  const turnEntries = await readEntries(
    store,
    owner,
    turns.map(({ id }) => id),
  )
  const ids = [
    ...new Set([...forgotten, ...[...turnEntries.values()].flatMap(getLinks)]),
  ] as MemoryId[] // turns link to facts
  if (ids.length === 0) return { turns: [], changes: [] }
  // A fact that was restored meanwhile disables nothing.
  const where = { ids, statuses: ['forgotten'] } as const
  const { rows } = await store.find('memory', { owner }, { where, limit: ids.length })
  const facts = rows.filter(({ category }) => category !== 'episode')
  const factEntries = await readEntries(
    store,
    owner,
    facts.map(({ id }) => id),
  )
  const now = clock.now()
  const stated = facts.map((fact) => {
    const statement = toStatement(fact.content)
    const stating = turns.filter(
      ({ content, disabled }) => !disabled && isSupportedBy(statement, content),
    )
    return { fact, stating }
  })
  const disabled = turns.filter((turn) => stated.some(({ stating }) => stating.includes(turn)))
  const linkTurn = (turn: Turn) => {
    const links = stated.filter(({ stating }) => stating.includes(turn))
    const ids = links.map(({ fact }) => fact.id)
    return putLinks(turn, turnEntries.get(turn.id), ids, now)
  }
  return {
    turns: disabled.map((turn) => ({ ...turn, disabled: true })),
    changes: [
      ...disabled.flatMap(linkTurn),
      ...stated.flatMap(({ fact, stating }) => {
        if (stating.length === 0) return []
        const { id, place, version } = fact
        const links = stating.map((turn) => turn.id)
        return [
          // A concurrent restore of the fact would leave its turns disabled.
          { op: 'check', table: 'memory', scope: place, id, expect: { version } } as const,
          ...putLinks(fact, factEntries.get(id), links, now),
        ]
      }),
    ],
  }
}

/** Removes the entry of a turn that a person enables or disables: from then on that decision counts. */
export async function planHandover(
  { store }: MemoryDependencies,
  turn: Turn,
): Promise<readonly Change[]> {
  const entries = await readEntries(store, turn.place.owner, [turn.id])
  return [...entries.values()].map(removeEntry)
}

const EMPTY_PLAN: SuppressionPlan = { changes: [], turns: 0 }

/** The sources of the fact, neighbors that repeat it, and turns elsewhere that state it. */
async function findStatingTurns(store: Store, memory: Memory): Promise<readonly Turn[]> {
  // The summary of a conversation is forgotten with its session.
  if (memory.category === 'episode') return []
  const scope = toUserScope(memory.place)
  const statement = toStatement(memory.content)
  const load = async (ids: readonly string[]): Promise<readonly Turn[]> => {
    if (ids.length === 0) return []
    const where = { ids: ids as readonly TurnId[] } // document ids of turns
    return (await store.find('turn', scope, { where, limit: ids.length })).rows
  }
  const turns = await load(memory.provenance.turns.slice(0, TURNS_MAX))
  const sources = selectSources(
    statement,
    [...turns].sort((a, b) => a.saidAt - b.saidAt || a.position - b.position),
  )
  const neighborhoods = await store.findNeighbors(
    scope,
    sources.map(({ id }) => toDocumentId(id)),
    1,
  )
  const adjacent = [...neighborhoods.values()].flatMap(({ before, after }) => [...before, ...after])
  const text = rewriteToFirstPerson(memory.content)
  const where = { types: ['turn'] } as const
  const { hits } = await store.searchText(scope, { text, limit: RESTATEMENTS_MAX, where })
  const similar = hits.filter(({ coverage }) => coverage >= FULL_COVERAGE).map(({ id }) => id)
  const neighbors = (await load(adjacent)).filter(({ content }) =>
    isSupportedBy(statement, content),
  )
  const restating = (await load(similar)).filter(({ content }) => isRestatedIn(statement, content))
  const stating = new Map([...sources, ...neighbors, ...restating].map((turn) => [turn.id, turn]))
  return [...stating.values()].slice(0, TURNS_MAX)
}

async function readEntries<Id extends LinkedId>(
  store: Store,
  owner: OwnerId,
  ids: readonly Id[],
): Promise<ReadonlyMap<Id, Entry>> {
  if (ids.length === 0) return new Map()
  const idOf = new Map<EntryId, Id>(ids.map((id) => [buildSuppressionId(owner, id), id]))
  const entries = new Map<Id, Entry>()
  for await (const rows of pages(store, 'entry', { owner }, { where: { ids: [...idOf.keys()] } })) {
    for (const row of rows) {
      const id = idOf.get(row.id)
      if (id !== undefined) entries.set(id, row)
    }
  }
  return entries
}

async function readTurns(
  store: Store,
  owner: OwnerId,
  ids: readonly TurnId[],
): Promise<readonly Turn[]> {
  const turns: Turn[] = []
  for await (const rows of pages(store, 'turn', { owner }, { where: { ids } })) turns.push(...rows)
  return turns
}

function getLinks({ body }: Entry): readonly string[] {
  return body.links as readonly string[] // written by `putEntry`
}

type LinkedRow = { readonly id: LinkedId; readonly place: Place }

/** Adds links to those that an entry has. */
function putLinks(
  row: LinkedRow,
  entry: Entry | undefined,
  links: readonly string[],
  now: Instant,
): readonly Change[] {
  const known = entry === undefined ? [] : getLinks(entry)
  const all = [...new Set([...known, ...links])]
  return all.length === known.length ? [] : [putEntry(row, entry, all, now)]
}

function putEntry(
  { id, place: { owner, user } }: LinkedRow,
  before: Entry | undefined,
  links: readonly string[],
  now: Instant,
): Change {
  const row: Entry = {
    id: buildSuppressionId(owner, id),
    place: { owner, user, session: null },
    kind: 'turn-suppression',
    about: null,
    at: now,
    expiresAt: null,
    version: (before?.version ?? 0) + 1,
    body: { links } satisfies JsonObject,
  }
  const expect = before === undefined ? 'absent' : { version: before.version }
  return { op: 'put', table: 'entry', row, expect }
}

function removeEntry({ id, place, version }: Entry): Change {
  return { op: 'remove', table: 'entry', scope: place, id, expect: { version } }
}

function eraseLinks(
  owner: OwnerId,
  entry: Entry | undefined,
  links: readonly string[],
): readonly Change[] {
  const all = new Set([...(entry === undefined ? [] : getLinks(entry)), ...links])
  return [
    ...[...all].map((id) => buildRedaction(owner, id as TurnId)), // facts link to turns
    ...(entry === undefined ? [] : [removeEntry(entry)]),
  ]
}

function putTurn(turn: Turn, disabled: boolean): Change {
  const { version } = turn
  const row: Turn = { ...turn, disabled, version: version + 1 }
  return { op: 'put', table: 'turn', row, expect: { version } }
}
