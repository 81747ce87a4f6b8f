/**
 * Disables the turns that state a fact when the fact is forgotten, so that recall can't quote them instead.
 *
 * Entries link both ways: that of a turn names the forgotten facts which keep it disabled, that of a fact its turns. A turn is
 * enabled again when its last fact is restored. A turn without an entry was disabled by a person and is never enabled here.
 */

import { type EntryOf, parseEntries } from '../domain/entries/entry.ts'
import type { EntryId, MemoryId, OwnerId, TurnId } from '../domain/ids.ts'
import type { Memory } from '../domain/memory.ts'
import type { Place } from '../domain/scope.ts'
import { toDocumentId } from '../domain/search-document.ts'
import type { Turn } from '../domain/turn.ts'
import { yieldToEventLoop } from '../lib/event-loop.ts'
import { hashParts } from '../lib/hash.ts'
import type { Instant } from '../lib/time.ts'
import { pages } from '../storage/access/row-pages.ts'
import { buildEntryChange, buildEntryRemoval } from '../storage/access/system-entries.ts'
import type { Change, Store } from '../storage/store.ts'
import { rewriteToFirstPerson } from './contradiction/persons.ts'
import { buildRedaction } from './receipt-redaction.ts'
import { isRestatedIn, isSupportedBy, selectSources, toStatement } from './restatement.ts'
import type { MemoryDependencies } from './types.ts'

export type SuppressionPlan = {
  readonly changes: readonly Change[]
  /** How many turns the changes disable, or enable. */
  readonly turns: number
}

/** A commit holds two changes for each turn. */
const TURNS_MAX = 400

/** Candidates for restatements of one fact. */
const RESTATEMENTS_MAX = 200

/** `coverage` is a sum of fractions. */
const FULL_COVERAGE = 0.999

type LinkedId = MemoryId | TurnId

export function suppressionId(owner: OwnerId, id: LinkedId): EntryId {
  return `tsp_${hashParts(owner, id)}` as EntryId // derived: a turn or fact has one entry at most
}

/** All of one owner. `isErasure`: the facts can't be restored, so the turns stay disabled and receipts lose their lines. */
export async function planSuppression(
  ports: MemoryDependencies,
  memories: readonly Memory[],
  now: Instant,
  { isErasure = false }: { readonly isErasure?: boolean } = {},
): Promise<SuppressionPlan> {
  const [first] = memories
  if (first === undefined) return NO_PLAN
  const { owner } = first.place
  const turns = new Map<TurnId, Turn>()
  const factsOf = new Map<TurnId, MemoryId[]>()
  for (const memory of memories) {
    await yieldToEventLoop() // searching for each of many facts takes long
    for (const turn of await findStatingTurns(ports.store, memory)) {
      turns.set(turn.id, turn)
      factsOf.set(turn.id, [...(factsOf.get(turn.id) ?? []), memory.id])
    }
  }
  const ids = [...turns.keys(), ...memories.map(({ id }) => id)]
  const entries = await readEntries(ports.store, owner, ids)
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
    changes.push(switchTo(turn, true))
    disabled++
  }
  for (const memory of memories) {
    const entry = entries.get(memory.id)
    const links = linked.get(memory.id) ?? []
    changes.push(
      ...(isErasure ? forgetLinks(owner, entry, links) : putLinks(memory, entry, links, now)),
    )
  }
  return { changes, turns: disabled }
}

/** What erasing a fact changes that was forgotten before: its turns stay disabled, and receipts lose their lines. */
export async function planLinkErasure(
  { store }: MemoryDependencies,
  memory: Memory,
): Promise<SuppressionPlan> {
  const { owner } = memory.place
  const entry = (await readEntries(store, owner, [memory.id])).get(memory.id)
  return { changes: forgetLinks(owner, entry, []), turns: 0 }
}

/** Enables the turns that were disabled for these facts, unless another forgotten fact needs them disabled. All of one owner. */
export async function planRelease(
  { store }: MemoryDependencies,
  memories: readonly Memory[],
  now: Instant,
): Promise<SuppressionPlan> {
  const [first] = memories
  if (first === undefined) return NO_PLAN
  const { owner } = first.place
  const released = new Set<string>(memories.map(({ id }) => id))
  const ofFacts = await readEntries(store, owner, [...released] as MemoryId[]) // of memories
  if (ofFacts.size === 0) return NO_PLAN
  const ids = [...new Set([...ofFacts.values()].flatMap(({ body }) => body.links))] as TurnId[] // the links of facts are turns
  const entries = await readEntries(store, owner, ids)
  const changes: Change[] = [...ofFacts.values()].map(removeEntry)
  let enabled = 0
  for (const turn of await readTurns(store, owner, ids)) {
    const entry = entries.get(turn.id)
    if (entry === undefined) continue
    const links = entry.body.links.filter((id) => !released.has(id))
    if (links.length > 0) {
      changes.push(putEntry(turn, entry, links, now))
      continue
    }
    changes.push(removeEntry(entry))
    if (!turn.disabled) continue
    changes.push(switchTo(turn, false))
    enabled++
  }
  return { changes, turns: enabled }
}

export type ExchangeSuppression = {
  /** The turns to disable, as they will be. */
  readonly turns: readonly Turn[]
  /** Entries of the turns and the facts; not the turns themselves. */
  readonly changes: readonly Change[]
}

/**
 * What recording an exchange disables in which a memory tool forgot facts: `planSuppression` ran before its turns were stored.
 * Facts that earlier requests of the exchange forgot count too; the entries of its turns name them.
 */
export async function planExchangeSuppression(
  { store, clock }: MemoryDependencies,
  turns: readonly Turn[],
  forgotten: readonly MemoryId[],
): Promise<ExchangeSuppression> {
  const [first] = turns
  if (first === undefined) return { turns: [], changes: [] }
  const { owner } = first.place
  const ofTurns = await readEntries(
    store,
    owner,
    turns.map(({ id }) => id),
  )
  const ids = [
    ...new Set([...forgotten, ...[...ofTurns.values()].flatMap(({ body }) => body.links)]),
  ] as MemoryId[] // the links of turns are facts
  if (ids.length === 0) return { turns: [], changes: [] }
  // One that was restored meanwhile disables nothing.
  const where = { ids, statuses: ['forgotten'] } as const
  const { rows } = await store.find('memory', { owner }, { where, limit: ids.length })
  const facts = rows.filter(({ category }) => category !== 'episode')
  const ofFacts = await readEntries(
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
    return putLinks(turn, ofTurns.get(turn.id), ids, now)
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
          // Restoring the fact at the same time would leave its turns disabled.
          { op: 'check', table: 'memory', scope: place, id, expect: { version } } as const,
          ...putLinks(fact, ofFacts.get(id), links, now),
        ]
      }),
    ],
  }
}

/** Whether a turn is in use is a person's decision from now on. */
export async function planHandover(
  { store }: MemoryDependencies,
  turn: Turn,
): Promise<readonly Change[]> {
  const entries = await readEntries(store, turn.place.owner, [turn.id])
  return [...entries.values()].map(removeEntry)
}

const NO_PLAN: SuppressionPlan = { changes: [], turns: 0 }

/** Sources of the fact, neighbours that repeat it, and turns elsewhere that state it. */
async function findStatingTurns(store: Store, memory: Memory): Promise<readonly Turn[]> {
  // A digest is about a whole conversation, which is forgotten by its session.
  if (memory.category === 'episode') return []
  const home = { owner: memory.place.owner, user: memory.place.user }
  const statement = toStatement(memory.content)
  const load = async (ids: readonly string[]): Promise<readonly Turn[]> => {
    if (ids.length === 0) return []
    const where = { ids: ids as readonly TurnId[] } // ids of documents of turns
    return (await store.find('turn', home, { where, limit: ids.length })).rows
  }
  const known = await load(memory.provenance.turns.slice(0, TURNS_MAX))
  const sources = selectSources(
    statement,
    [...known].sort((a, b) => a.saidAt - b.saidAt || a.position - b.position),
  )
  const around = await store.findNeighbors(
    home,
    sources.map(({ id }) => toDocumentId(id)),
    1,
  )
  const beside = [...around.values()].flatMap(({ before, after }) => [...before, ...after])
  const text = rewriteToFirstPerson(memory.content)
  const where = { types: ['turn'] } as const
  const { hits } = await store.searchText(home, { text, limit: RESTATEMENTS_MAX, where })
  const alike = hits.filter(({ coverage }) => coverage >= FULL_COVERAGE).map(({ id }) => id)
  const neighbours = (await load(beside)).filter(({ content }) => isSupportedBy(statement, content))
  const restating = (await load(alike)).filter(({ content }) => isRestatedIn(statement, content))
  const stating = new Map([...sources, ...neighbours, ...restating].map((turn) => [turn.id, turn]))
  return [...stating.values()].slice(0, TURNS_MAX)
}

async function readEntries<Id extends LinkedId>(
  store: Store,
  owner: OwnerId,
  ids: readonly Id[],
): Promise<ReadonlyMap<Id, SuppressionEntry>> {
  if (ids.length === 0) return new Map()
  const idOf = new Map<EntryId, Id>(ids.map((id) => [suppressionId(owner, id), id]))
  const found = new Map<Id, SuppressionEntry>()
  for await (const rows of pages(store, 'entry', { owner }, { where: { ids: [...idOf.keys()] } })) {
    for (const row of parseEntries('turn-suppression', rows)) {
      const id = idOf.get(row.id)
      if (id !== undefined) found.set(id, row)
    }
  }
  return found
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

type SuppressionEntry = EntryOf<'turn-suppression'>

type Linked = { readonly id: LinkedId; readonly place: Place }

/** Adds links to those that an entry has. */
function putLinks(
  of: Linked,
  entry: SuppressionEntry | undefined,
  links: readonly string[],
  now: Instant,
): readonly Change[] {
  const known = entry === undefined ? [] : entry.body.links
  const all = [...new Set([...known, ...links])]
  return all.length === known.length ? [] : [putEntry(of, entry, all, now)]
}

function putEntry(
  { id, place: { owner, user } }: Linked,
  before: SuppressionEntry | undefined,
  links: readonly string[],
  now: Instant,
): Change {
  return buildEntryChange(
    {
      id: suppressionId(owner, id),
      place: { owner, user, session: null },
      ...{ kind: 'turn-suppression', at: now, body: { links } },
    },
    before ?? null,
  ).change
}

function removeEntry(entry: SuppressionEntry): Change {
  return buildEntryRemoval(entry, { version: entry.version })
}

function forgetLinks(
  owner: OwnerId,
  entry: SuppressionEntry | undefined,
  links: readonly string[],
): readonly Change[] {
  const all = new Set([...(entry === undefined ? [] : entry.body.links), ...links])
  return [
    ...[...all].map((id) => buildRedaction(owner, id as TurnId)), // the links of a fact are turns
    ...(entry === undefined ? [] : [removeEntry(entry)]),
  ]
}

function switchTo(turn: Turn, disabled: boolean): Change {
  const { version } = turn
  const row: Turn = { ...turn, disabled, version: version + 1 }
  return { op: 'put', table: 'turn', row, expect: { version } }
}
