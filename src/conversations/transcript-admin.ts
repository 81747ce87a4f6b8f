/**
 * What was said, for those who look after it: which conversations there are, what they say, and correcting or removing
 * it. Removing is for good; what was learned from it is a memory of its own and stays.
 */
import type { Entry } from '../domain/entry.ts'
import { AppError } from '../domain/errors.ts'
import type { ChangeId, EntryId, MemoryId, TurnId } from '../domain/ids.ts'
import { COMMIT_CHANGES_MAX, PAGE_ROWS_MAX } from '../domain/limits.ts'
import type { Memory } from '../domain/memory.ts'
import type { Scope, SessionPlace } from '../domain/scope.ts'
import type { Settings } from '../domain/settings/settings.ts'
import { type Signal, toSignalEntry } from '../domain/signal.ts'
import type { Turn } from '../domain/turn.ts'
import type { EnginePorts } from '../engine/engine-dependencies.ts'
import { jobId } from '../jobs/job.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { distillation, dueAt } from '../learning/distillation/distillation-job.ts'
import { findEpisode } from '../learning/distillation/episode-writer.ts'
import { changesIn, unlearning } from '../learning/distillation/retraction.ts'
import { allSignals } from '../learning/signals.ts'
import { nextTurn } from '../lib/event-loop.ts'
import type { Instant } from '../lib/time.ts'
import { parseTurn } from '../memory/record-codec.ts'
import { planHandover } from '../memory/turn-suppression.ts'
import { type FoundTurn, findSaid } from '../recall/turn-retriever.ts'
import { decideAndCommit, stamp } from '../storage/access/optimistic-commit.ts'
import { parseLimit } from '../storage/access/page-request.ts'
import { pages } from '../storage/access/row-pages.ts'
import type { Change, Page, SessionTally } from '../storage/store.ts'

export type SessionReport = SessionTally & {
  /** Exchanges that wait to be learned from. */
  readonly pending: number
  /** Exchanges that could not be learned from. */
  readonly dead: number
  readonly episode: MemoryId | null
  /** The first words of the person; null when they said nothing. */
  readonly opening: string | null
}

export type PageQuery = { readonly limit?: number; readonly after?: string }

export type TurnsQuery = PageQuery & {
  /** `lastSaid`: the last word first. */
  readonly order?: 'said' | 'lastSaid'
}

export type SearchTurns = { readonly text: string; readonly limit: number; readonly days: number }

export type TurnEdit = { readonly content: string; readonly version?: number }

export type EditedTurn = {
  readonly turn: Turn
  /** By which what the old words had taught can be brought back. */
  readonly changes: readonly ChangeId[]
}

export type SwitchedTurn = {
  readonly turn: Turn
  /** Memories that were learned from it, and stay. */
  readonly learned: readonly MemoryId[]
}

export type ForgottenTurn = {
  readonly turn: Turn
  /** Memories that were learned from it, and stay. */
  readonly learned: readonly MemoryId[]
}

export type ForgottenSession = { readonly turns: number; readonly signals: number }

export type TranscriptParts = {
  readonly ports: EnginePorts
  readonly jobs: Jobs
  readonly settingsOf: (owner: Scope['owner']) => Promise<Settings>
}

const LIST_LIMIT = 50
const DAY_MS = 86_400_000
const OPENING_CHARACTERS = 200

/** So few that others are answered between two commits. */
const ROWS_PER_COMMIT = 200

export async function listSessions(
  ports: EnginePorts,
  scope: Scope,
  { limit = LIST_LIMIT, after }: PageQuery,
): Promise<Page<SessionReport>> {
  const { rows, next } = await ports.store.sessions(scope, {
    limit: parseLimit(limit),
    ...(after === undefined ? {} : { after }),
  })
  const reports: SessionReport[] = []
  for (const tally of rows) {
    const [signals, episode, opening] = await Promise.all([
      allSignals(ports, tally.place),
      findEpisode(ports, tally.place),
      openingOf(ports, tally.place),
    ])
    const counted = (wanted: Signal['status']) =>
      signals.filter(({ status }) => status === wanted).length
    reports.push({
      ...tally,
      pending: counted('pending'),
      dead: counted('dead'),
      episode: episode?.id ?? null,
      opening,
    })
  }
  return { rows: reports, next }
}

async function openingOf({ store }: EnginePorts, place: SessionPlace): Promise<string | null> {
  const where = { roles: ['user'] } as const
  const { rows } = await store.find('turn', place, { where, order: 'said', limit: 1 })
  const [first] = rows
  return first === undefined ? null : [...first.content].slice(0, OPENING_CHARACTERS).join('')
}

export async function listTurns(
  { store }: EnginePorts,
  scope: Scope,
  { limit = LIST_LIMIT, after, order = 'said' }: TurnsQuery,
): Promise<Page<Turn>> {
  return store.find('turn', scope, {
    where: {},
    order,
    limit: parseLimit(limit),
    ...(after === undefined ? {} : { after }),
  })
}

export async function getTurn({ store }: EnginePorts, scope: Scope, id: TurnId): Promise<Turn> {
  const turn = await store.get('turn', scope, id)
  if (turn === null) throw new AppError('not_found', `There is no turn ${id} here.`, { id })
  return turn
}

/** By their words; of the last so many days. */
export async function searchTurns(
  { store, clock }: EnginePorts,
  scope: Scope,
  { text, limit, days }: SearchTurns,
): Promise<readonly FoundTurn[]> {
  const createdFrom = (clock.now() - days * DAY_MS) as Instant // whole milliseconds
  return findSaid(store, scope, { text, limit, where: { createdFrom, statuses: ['active'] } })
}

/** What it says now is learned from again; what only the old words said is taken back. */
export async function editTurn(
  parts: TranscriptParts,
  scope: Scope,
  id: TurnId,
  { content, version }: TurnEdit,
): Promise<EditedTurn> {
  const { ports } = parts
  if (content.trim() === '') {
    throw new AppError('invalid_input', 'A turn says something.', { field: 'content' })
  }
  const mark = stamp(ports)
  return decideAndCommit(ports, async () => {
    const before = await getTurn(ports, scope, id)
    if (version !== undefined && version !== before.version) {
      const message = `The turn has changed: it is at version ${before.version}, not ${version}.`
      throw new AppError('conflict', message, { id, version: before.version })
    }
    if (content === before.content) return { changes: [], result: { turn: before, changes: [] } }
    const turn = parseTurn({ ...before, content, version: before.version + 1 })
    const signals = (await signalsWith(ports, before)).filter(
      ({ status }) => status !== 'forgotten',
    )
    const { session } = before.place
    const again = new Set([id, ...signals.flatMap(({ turns }) => turns)])
    const corrected = { changed: new Set([id]), all: again }
    const unlearned =
      session === null ? [] : await unlearning(ports, { ...before.place, session }, corrected, mark)
    const expect = { version: before.version }
    return {
      changes: [
        ...unlearned.flat(),
        { op: 'put', table: 'turn', row: turn, expect },
        ...signals.map((signal) => putSignal(ports, { ...signal, ...WAITING })),
        ...(signals.length === 0 ? [] : await relearning(parts, before)),
      ],
      result: { turn, changes: changesIn(unlearned) },
    }
  })
}

/**
 * Takes a turn out of use, or back into it. What was learned from it stays, and is named. One that nothing was learned from is
 * learned from when it is back: it may have been passed over meanwhile.
 */
export async function switchTurn(
  { ports, jobs, settingsOf }: TranscriptParts,
  scope: Scope,
  id: TurnId,
  disabled: boolean,
): Promise<SwitchedTurn> {
  return decideAndCommit(ports, async () => {
    const before = await getTurn(ports, scope, id)
    const learned = await learnedFrom(ports, before)
    const handover = await planHandover(ports, before)
    if (before.disabled === disabled)
      return { changes: handover, result: { turn: before, learned } }
    const turn = { ...before, disabled, version: before.version + 1 }
    const signals =
      disabled || learned.length > 0
        ? []
        : (await signalsWith(ports, before)).filter(mayHaveBeenRead)
    return {
      changes: [
        { op: 'put', table: 'turn', row: turn, expect: { version: before.version } },
        ...handover,
        ...signals.map((signal) => putSignal(ports, { ...signal, ...WAITING })),
        ...(signals.length === 0 ? [] : await relearning({ ports, jobs, settingsOf }, turn)),
      ],
      result: { turn, learned },
    }
  })
}

async function relearning(
  { ports, jobs, settingsOf }: TranscriptParts,
  { place }: Turn,
): Promise<readonly Change[]> {
  const { session } = place
  const settings = await settingsOf(place.owner)
  if (session === null || settings.extractionMode === 'manual') return []
  return jobs.arming(distillation({ ...place, session }, settings, ports.clock.now()))
}

/** Whether it may have been read without a turn that was out of use; one that waits, by patterns. */
function mayHaveBeenRead({ status }: Signal): boolean {
  return status === 'pending' || status === 'processed'
}

const WAITING = {
  status: 'pending',
  isRead: false,
  attempts: 0,
  error: null,
  change: null,
} as const

/** It goes with its words in the index. What nothing is left of is not learned from any more. */
export async function forgetTurn(
  ports: EnginePorts,
  scope: Scope,
  id: TurnId,
): Promise<ForgottenTurn> {
  return decideAndCommit(ports, async () => {
    const turn = await getTurn(ports, scope, id)
    const signals = await signalsWith(ports, turn)
    const { version, place } = turn
    return {
      changes: [
        { op: 'remove', table: 'turn', scope: place, id, expect: { version } },
        ...signals.map((signal) => {
          const turns = signal.turns.filter((each) => each !== id)
          return turns.length === 0 ? removeSignal(signal) : putSignal(ports, { ...signal, turns })
        }),
      ],
      result: { turn, learned: await learnedFrom(ports, turn) },
    }
  })
}

async function signalsWith(ports: EnginePorts, { id, place }: Turn): Promise<readonly Signal[]> {
  if (place.session === null) return []
  return (await allSignals(ports, place)).filter(({ turns }) => turns.includes(id))
}

/** What is learned from a conversation is kept in its place. */
async function learnedFrom(
  { store }: EnginePorts,
  { id, place }: Turn,
): Promise<readonly MemoryId[]> {
  if (place.session === null) return []
  const learned: MemoryId[] = []
  const where = { statuses: ['active', 'disabled', 'superseded'] } as const
  for await (const page of pages(store, 'memory', place, { where })) {
    const meant = page.filter(({ provenance }) => provenance.turns.includes(id))
    learned.push(...meant.map((memory) => memory.id))
  }
  return learned
}

/** First what is to be learned from it, so that nothing is any more; then what was said. */
export async function forgetSession(
  { ports, jobs }: Pick<TranscriptParts, 'ports' | 'jobs'>,
  place: SessionPlace,
): Promise<ForgottenSession> {
  const signals = await allSignals(ports, place)
  for (let start = 0; start < signals.length; start += COMMIT_CHANGES_MAX) {
    const some = signals.slice(start, start + COMMIT_CHANGES_MAX)
    await ports.store.commit(some.map((signal) => removeSignal(signal, 'any')))
  }
  await cancelWaiting(jobs, jobId(dueAt(place, ports.clock.now())))
  let turns = 0
  const query = { where: {}, limit: ROWS_PER_COMMIT } as const
  for await (const page of pages(ports.store, 'turn', place, query)) {
    await ports.store.commit(
      page.map(({ id }) => ({ op: 'remove', table: 'turn', scope: place, id, expect: 'any' })),
    )
    turns += page.length
    await nextTurn()
  }
  return { turns, signals: signals.length }
}

async function cancelWaiting(jobs: Jobs, id: string): Promise<void> {
  const status = (await jobs.get(id))?.status
  if (status === 'waiting' || status === 'running') await jobs.cancel(id)
}

function putSignal({ clock }: EnginePorts, after: Signal): Change {
  const { version } = after
  const row = toSignalEntry({ ...after, version: version + 1 }, clock.now())
  return { op: 'put', table: 'entry', row, expect: { version } }
}

function removeSignal({ id, place, version }: Signal, expect?: 'any'): Change {
  return {
    op: 'remove',
    table: 'entry',
    scope: place,
    id: id as string as EntryId & Entry['id'], // an entry of its own kind
    expect: expect ?? { version },
  }
}

export type Sources = {
  /** In the order in which they were said. */
  readonly turns: readonly Turn[]
  /** Those that are not kept any more. */
  readonly gone: readonly TurnId[]
}

/** What a memory was learned from. */
export async function sourcesOf({ store }: EnginePorts, memory: Memory): Promise<Sources> {
  const { owner, user } = memory.place
  const ids = memory.provenance.turns
  if (ids.length === 0) return { turns: [], gone: [] }
  const { rows } = await store.find(
    'turn',
    { owner, user },
    { where: { ids }, limit: PAGE_ROWS_MAX },
  )
  const kept = new Set(rows.map(({ id }) => id))
  return {
    turns: [...rows].sort((a, b) => a.saidAt - b.saidAt || a.position - b.position),
    gone: ids.filter((id) => !kept.has(id)),
  }
}
