/**
 * Builds the changes that accompany recorded turns: one learning signal per exchange and the debounced distillation job.
 * When the user moves to another session, the job of the previous one becomes due immediately.
 */
import type { EntryOf } from '../domain/entries/entry.ts'
import type { SignalId, TurnId } from '../domain/ids.ts'
import type { Scope, SessionPlace } from '../domain/scope.ts'
import type { Settings } from '../domain/settings/settings.ts'
import { buildSignalId, createPendingSignal, type Signal } from '../domain/signal.ts'
import { buildJobId } from '../jobs/job.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { hashParts } from '../lib/hash.ts'
import { addMs, DAY_MS, type Instant } from '../lib/time.ts'
import type { MemoryDependencies } from '../memory/types.ts'
import { buildEntryChange, getEntry } from '../storage/access/system-entries.ts'
import type { Change, Store } from '../storage/store.ts'
import { buildDistillationJob, buildDistillationJobAt } from './distillation/distillation-job.ts'

export type RecordedExchange = {
  /** The first one identifies the exchange. */
  readonly turns: readonly [TurnId, ...TurnId[]]
  /** The position of the exchange in its session. */
  readonly position: number
  /** Whether it came with the history of a request. */
  readonly isHistory: boolean
  /** Whether this commit writes any of its turns. */
  readonly isWritten: boolean
}

/** Called inside of a commit decision, again on every retry. */
export type BuildSignalChanges = (
  place: SessionPlace,
  exchanges: readonly RecordedExchange[],
  settings: Settings,
  options?: SignalOptions,
) => Promise<readonly Change[]>

type SignalOptions = {
  /** The store to read from. Default: the store of the ports. */
  readonly store?: Store
  /** Distills the session without waiting for a pause. */
  readonly isUrgent?: boolean
}

const OPEN_SESSION_TTL_MS = 30 * DAY_MS

export function createSignalWriter(ports: MemoryDependencies, jobs: Jobs): BuildSignalChanges {
  return async (place, exchanges, settings, { store = ports.store, isUrgent = false } = {}) => {
    const ids = exchanges.map(({ turns }) => buildSignalId(turns[0]))
    const [known, open] = await Promise.all([
      loadSignalsById(store, place, ids),
      getEntry({ store }, toUserScope(place), 'open-session', buildOpenSessionId(place)),
    ])
    const now = ports.clock.now()
    const signals = exchanges.flatMap(
      ({ turns, isWritten, position, isHistory }): readonly Change[] => {
        const before = known.get(buildSignalId(turns[0])) ?? null
        // The client repeated a recorded exchange, whose signal exists already. Forgotten signals stay forgotten.
        if (before !== null && (!isWritten || before.status === 'forgotten')) return []
        const options = { position, isHistory, isPatternScanned: true }
        const row = createPendingSignal(place, turns, now, before, options)
        const expect = before === null ? 'absent' : { version: before.version }
        return [{ op: 'put', table: 'signal', row, expect }]
      },
    )
    if (signals.length === 0 || settings['learning.extractionMode'] === 'manual') return signals
    const [scheduled, flushed] = await Promise.all([
      jobs.buildScheduleChanges(
        isUrgent ? buildDistillationJobAt(place, now) : buildDistillationJob(place, settings, now),
        store,
      ),
      buildPreviousSessionFlush({ ...ports, store }, jobs, place, open, settings),
    ])
    return [...signals, ...scheduled, ...flushed]
  }
}

/** Marks the session as open and flushes the debounced job of the previously open one. */
async function buildPreviousSessionFlush(
  { clock, store }: MemoryDependencies,
  jobs: Jobs,
  place: SessionPlace,
  open: EntryOf<'open-session'> | null,
  { 'learning.extractionMode': extractionMode }: Settings,
): Promise<readonly Change[]> {
  const before = open?.body.session
  if (before === place.session) return []
  const now = clock.now()
  const opening = buildOpenSessionChange(place, now, open)
  if (before === undefined || extractionMode === 'everyTurn') return [opening]
  const flushed = buildDistillationJobAt({ ...place, session: before }, now)
  const job = await jobs.get(buildJobId(flushed), store)
  const isWaiting = job?.status === 'waiting' && job.dueAt !== null && job.dueAt > now
  return isWaiting ? [opening, ...(await jobs.buildScheduleChanges(flushed, store))] : [opening]
}

function buildOpenSessionChange(
  { owner, user, session }: SessionPlace,
  at: Instant,
  before: EntryOf<'open-session'> | null,
): Change {
  return buildEntryChange(
    {
      id: buildOpenSessionId({ owner, user }),
      place: { owner, user, session: null },
      kind: 'open-session',
      ...{ at, expiresAt: addMs(at, OPEN_SESSION_TTL_MS), body: { session } },
    },
    before,
  ).change
}

function toUserScope({ owner, user }: SessionPlace): Scope {
  return { owner, user }
}

/** One open session per user. */
function buildOpenSessionId({ owner, user }: Pick<SessionPlace, 'owner' | 'user'>): string {
  return `open_${hashParts(owner, user)}`
}

async function loadSignalsById(
  store: Store,
  place: SessionPlace,
  ids: readonly SignalId[],
): Promise<ReadonlyMap<SignalId, Signal>> {
  if (ids.length === 0) return new Map()
  const { rows } = await store.find('signal', toUserScope(place), {
    where: { ids },
    limit: ids.length,
  })
  return new Map(rows.map((signal) => [signal.id, signal]))
}
