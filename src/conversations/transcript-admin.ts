/**
 * Administration of recorded conversations: listing sessions and turns, and editing, disabling or deleting turns.
 * Deletion is permanent; memories learned from a deleted turn stay.
 */
import type { Entry } from '../domain/entry.ts'
import type { ChangeId, EntryId, MemoryId, TurnId } from '../domain/ids.ts'
import { COMMIT_CHANGES_MAX, PAGE_ROWS_MAX } from '../domain/limits.ts'
import type { Memory } from '../domain/memory.ts'
import type { Scope, SessionPlace } from '../domain/scope.ts'
import type { Settings } from '../domain/settings/settings.ts'
import { type Signal, toSignalEntry } from '../domain/signal.ts'
import type { Turn } from '../domain/turn.ts'
import { buildJobId } from '../jobs/job.ts'
import type { Jobs } from '../jobs/jobs.ts'
import {
  buildDistillationJob,
  buildDistillationJobAt,
} from '../learning/distillation/distillation-job.ts'
import { findEpisode } from '../learning/distillation/episode-writer.ts'
import { buildRetractions, listChangeIds } from '../learning/distillation/retraction.ts'
import { loadSignals } from '../learning/signals.ts'
import { AppError } from '../lib/errors.ts'
import { yieldToEventLoop } from '../lib/event-loop.ts'
import { addMs, DAY_MS } from '../lib/time.ts'
import { planHandover } from '../memory/deletion/turn-suppression.ts'
import { parseTurn } from '../memory/record-codec.ts'
import type { MemoryDependencies } from '../memory/types.ts'
import { retrieveTurns, type TurnHit } from '../recall/turn-retriever.ts'
import { commitWithRetry, createChangeStamp } from '../storage/access/optimistic-commit.ts'
import { parseLimit } from '../storage/access/page-request.ts'
import { pages } from '../storage/access/row-pages.ts'
import type { Change, Page, SessionSummary } from '../storage/store.ts'

export type SessionReport = SessionSummary & {
  /** Signals that wait to be processed. */
  readonly pendingSignals: number
  /** Signals whose processing failed for good. */
  readonly deadLetterSignals: number
  readonly episode: MemoryId | null
  /** The beginning of the first user message; null without one. */
  readonly firstMessage: string | null
}

export type PageQuery = { readonly limit?: number; readonly after?: string }

export type TurnsQuery = PageQuery & {
  /** `said`: oldest first. `lastSaid`: newest first. */
  readonly order?: 'said' | 'lastSaid'
}

export type TurnSearchQuery = {
  readonly text: string
  readonly limit: number
  readonly days: number
}

export type TurnEdit = { readonly content: string; readonly version?: number }

export type EditedTurn = {
  readonly turn: Turn
  /** Changes that retracted memories of the old text; undo restores them. */
  readonly changes: readonly ChangeId[]
}

export type TurnStateChange = {
  readonly turn: Turn
  /** Memories learned from the turn, which stay. */
  readonly learned: readonly MemoryId[]
}

export type DeletedTurn = {
  readonly turn: Turn
  /** Memories learned from the turn, which stay. */
  readonly learned: readonly MemoryId[]
}

export type DeletedSession = { readonly turns: number; readonly signals: number }

type TranscriptAdminDependencies = {
  readonly ports: MemoryDependencies
  readonly jobs: Jobs
  readonly settingsOf: (owner: Scope['owner']) => Promise<Settings>
}

const LIST_LIMIT = 50
const OPENING_CHARACTERS = 200

/** Small commits, so that requests are served between two of them. */
const ROWS_PER_COMMIT = 200

export async function listSessions(
  ports: MemoryDependencies,
  scope: Scope,
  { limit = LIST_LIMIT, after }: PageQuery,
): Promise<Page<SessionReport>> {
  const { rows, next } = await ports.store.listSessions(scope, {
    limit: parseLimit(limit),
    ...(after === undefined ? {} : { after }),
  })
  const reports: SessionReport[] = []
  for (const tally of rows) {
    const [signals, episode, opening] = await Promise.all([
      loadSignals(ports, tally.place),
      findEpisode(ports, tally.place),
      getFirstMessage(ports, tally.place),
    ])
    const countWith = (wanted: Signal['status']) =>
      signals.filter(({ status }) => status === wanted).length
    reports.push({
      ...tally,
      pendingSignals: countWith('pending'),
      deadLetterSignals: countWith('dead'),
      episode: episode?.id ?? null,
      firstMessage: opening,
    })
  }
  return { rows: reports, next }
}

async function getFirstMessage(
  { store }: MemoryDependencies,
  place: SessionPlace,
): Promise<string | null> {
  const where = { roles: ['user'] } as const
  const { rows } = await store.find('turn', place, { where, order: 'said', limit: 1 })
  const [first] = rows
  return first === undefined ? null : [...first.content].slice(0, OPENING_CHARACTERS).join('')
}

export async function listTurns(
  { store }: MemoryDependencies,
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

export async function getTurn(
  { store }: MemoryDependencies,
  scope: Scope,
  id: TurnId,
): Promise<Turn> {
  const turn = await store.get('turn', scope, id)
  if (turn === null)
    throw new AppError('not_found', `There is no turn ${id} in this scope.`, { id })
  return turn
}

/** Searches the turns of the last `days` days. */
export async function searchTurns(
  { store, clock }: MemoryDependencies,
  scope: Scope,
  { text, limit, days }: TurnSearchQuery,
): Promise<readonly TurnHit[]> {
  const createdFrom = addMs(clock.now(), -days * DAY_MS)
  return retrieveTurns(store, scope, { text, limit, where: { createdFrom, statuses: ['active'] } })
}

/** Edits a turn: the new text is learned from, and memories of the old text alone are retracted. */
export async function editTurn(
  parts: TranscriptAdminDependencies,
  scope: Scope,
  id: TurnId,
  { content, version }: TurnEdit,
): Promise<EditedTurn> {
  const { ports } = parts
  if (content.trim() === '') {
    throw new AppError('invalid_input', '`content` must not be empty.', { field: 'content' })
  }
  const stamp = createChangeStamp(ports)
  return commitWithRetry(ports, async () => {
    const before = await getTurn(ports, scope, id)
    if (version !== undefined && version !== before.version) {
      const message = `\`version\` must be ${before.version}, the current version of the turn; got ${version}. Read the turn again and repeat the edit.`
      throw new AppError('conflict', message, { id, version: before.version })
    }
    if (content === before.content) return { changes: [], result: { turn: before, changes: [] } }
    const turn = parseTurn({ ...before, content, version: before.version + 1 })
    const signals = (await loadSignalsWithTurn(ports, before)).filter(
      ({ status }) => status !== 'forgotten',
    )
    const { session } = before.place
    const again = new Set([id, ...signals.flatMap(({ turns }) => turns)])
    const corrected = { changed: new Set([id]), all: again }
    const retractions =
      session === null
        ? []
        : await buildRetractions(ports, { ...before.place, session }, corrected, stamp)
    const expect = { version: before.version }
    return {
      changes: [
        ...retractions.flat(),
        { op: 'put', table: 'turn', row: turn, expect },
        ...signals.map((signal) => buildSignalChange(ports, { ...signal, ...PENDING })),
        ...(signals.length === 0 ? [] : await buildRelearnChanges(parts, before)),
      ],
      result: { turn, changes: listChangeIds(retractions) },
    }
  })
}

/**
 * Disables or restores a turn. Memories learned from it stay. A restored turn that nothing was learned from is processed
 * again, because distillation may have skipped it while it was disabled.
 */
export async function setTurnDisabled(
  { ports, jobs, settingsOf }: TranscriptAdminDependencies,
  scope: Scope,
  id: TurnId,
  disabled: boolean,
): Promise<TurnStateChange> {
  return commitWithRetry(ports, async () => {
    const before = await getTurn(ports, scope, id)
    const learned = await loadLearnedMemories(ports, before)
    const handover = await planHandover(ports, before)
    if (before.disabled === disabled)
      return { changes: handover, result: { turn: before, learned } }
    const turn = { ...before, disabled, version: before.version + 1 }
    const signals =
      disabled || learned.length > 0
        ? []
        : (await loadSignalsWithTurn(ports, before)).filter(isPossiblyProcessed)
    return {
      changes: [
        { op: 'put', table: 'turn', row: turn, expect: { version: before.version } },
        ...handover,
        ...signals.map((signal) => buildSignalChange(ports, { ...signal, ...PENDING })),
        ...(signals.length === 0
          ? []
          : await buildRelearnChanges({ ports, jobs, settingsOf }, turn)),
      ],
      result: { turn, learned },
    }
  })
}

async function buildRelearnChanges(
  { ports, jobs, settingsOf }: TranscriptAdminDependencies,
  { place }: Turn,
): Promise<readonly Change[]> {
  const { session } = place
  const settings = await settingsOf(place.owner)
  if (session === null || settings['learning.extractionMode'] === 'manual') return []
  return jobs.buildScheduleChanges(
    buildDistillationJob({ ...place, session }, settings, ports.clock.now()),
  )
}

/** Whether a signal may have been processed without the disabled turn: by distillation or, while pending, by patterns. */
function isPossiblyProcessed({ status }: Signal): boolean {
  return status === 'pending' || status === 'processed'
}

const PENDING = {
  status: 'pending',
  isPatternScanned: false,
  attempts: 0,
  error: null,
  change: null,
} as const

/** Deletes a turn and its search document, and signals that are left without turns. */
export async function deleteTurn(
  ports: MemoryDependencies,
  scope: Scope,
  id: TurnId,
): Promise<DeletedTurn> {
  return commitWithRetry(ports, async () => {
    const turn = await getTurn(ports, scope, id)
    const signals = await loadSignalsWithTurn(ports, turn)
    const { version, place } = turn
    return {
      changes: [
        { op: 'remove', table: 'turn', scope: place, id, expect: { version } },
        ...signals.map((signal) => {
          const turns = signal.turns.filter((each) => each !== id)
          return turns.length === 0
            ? buildSignalRemoval(signal)
            : buildSignalChange(ports, { ...signal, turns })
        }),
      ],
      result: { turn, learned: await loadLearnedMemories(ports, turn) },
    }
  })
}

async function loadSignalsWithTurn(
  ports: MemoryDependencies,
  { id, place }: Turn,
): Promise<readonly Signal[]> {
  if (place.session === null) return []
  return (await loadSignals(ports, place)).filter(({ turns }) => turns.includes(id))
}

/** Memories that were learned from a turn are stored in the scope of its session. */
async function loadLearnedMemories(
  { store }: MemoryDependencies,
  { id, place }: Turn,
): Promise<readonly MemoryId[]> {
  if (place.session === null) return []
  const learned: MemoryId[] = []
  const where = { statuses: ['active', 'disabled', 'superseded'] } as const
  for await (const page of pages(store, 'memory', place, { where })) {
    const fromTurn = page.filter(({ provenance }) => provenance.turns.includes(id))
    learned.push(...fromTurn.map((memory) => memory.id))
  }
  return learned
}

/** Deletes the signals first, so that nothing is learned any more, then the turns. */
export async function deleteSession(
  { ports, jobs }: Pick<TranscriptAdminDependencies, 'ports' | 'jobs'>,
  place: SessionPlace,
): Promise<DeletedSession> {
  const signals = await loadSignals(ports, place)
  for (let start = 0; start < signals.length; start += COMMIT_CHANGES_MAX) {
    const batch = signals.slice(start, start + COMMIT_CHANGES_MAX)
    await ports.store.commit(batch.map((signal) => buildSignalRemoval(signal, 'any')))
  }
  await cancelPendingJob(jobs, buildJobId(buildDistillationJobAt(place, ports.clock.now())))
  let turns = 0
  const query = { where: {}, limit: ROWS_PER_COMMIT } as const
  for await (const page of pages(ports.store, 'turn', place, query)) {
    await ports.store.commit(
      page.map(({ id }) => ({ op: 'remove', table: 'turn', scope: place, id, expect: 'any' })),
    )
    turns += page.length
    await yieldToEventLoop()
  }
  return { turns, signals: signals.length }
}

async function cancelPendingJob(jobs: Jobs, id: string): Promise<void> {
  const status = (await jobs.get(id))?.status
  if (status === 'waiting' || status === 'running') await jobs.cancel(id)
}

function buildSignalChange({ clock }: MemoryDependencies, after: Signal): Change {
  const { version } = after
  const row = toSignalEntry({ ...after, version: version + 1 }, clock.now())
  return { op: 'put', table: 'entry', row, expect: { version } }
}

function buildSignalRemoval({ id, place, version }: Signal, expect?: 'any'): Change {
  return {
    op: 'remove',
    table: 'entry',
    scope: place,
    id: id as string as EntryId & Entry['id'], // the id of an entry of kind `signal`
    expect: expect ?? { version },
  }
}

export type MemorySources = {
  /** In the order of the conversation. */
  readonly turns: readonly Turn[]
  /** Turns that no longer exist. */
  readonly deletedTurns: readonly TurnId[]
}

/** The turns that a memory was learned from. */
export async function getMemorySources(
  { store }: MemoryDependencies,
  memory: Memory,
): Promise<MemorySources> {
  const { owner, user } = memory.place
  const ids = memory.provenance.turns
  if (ids.length === 0) return { turns: [], deletedTurns: [] }
  const { rows } = await store.find(
    'turn',
    { owner, user },
    { where: { ids }, limit: PAGE_ROWS_MAX },
  )
  const existing = new Set(rows.map(({ id }) => id))
  return {
    turns: [...rows].sort((a, b) => a.saidAt - b.saidAt || a.position - b.position),
    deletedTurns: ids.filter((id) => !existing.has(id)),
  }
}
