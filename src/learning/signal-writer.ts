/**
 * What goes into the commit that keeps what was said: a signal for each exchange that can be learned from, and the job
 * that learns from it once the session is quiet. A person who goes on in another session has left the one before, so that
 * one's job is due at once.
 */
import type { Entry } from '../domain/entry.ts'
import type { EntryId, SessionId, TurnId } from '../domain/ids.ts'
import type { SessionPlace } from '../domain/scope.ts'
import type { Settings } from '../domain/settings/settings.ts'
import { buildSignalId, createPendingSignal, parseSignal } from '../domain/signal.ts'
import { buildJobId } from '../jobs/job.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { hashParts } from '../lib/hash.ts'
import { addMs, DAY_MS, type Instant } from '../lib/time.ts'
import type { MemoryDependencies } from '../memory/types.ts'
import type { Change, Store } from '../storage/store.ts'
import { buildDistillationJob, buildDistillationJobAt } from './distillation/distillation-job.ts'

/** An exchange that was kept and can be learned from. */
export type RecordedExchange = {
  /** The first names it. */
  readonly turns: readonly [TurnId, ...TurnId[]]
  /** Of the exchange in its session. */
  readonly position: number
  /** Whether it was part of the history of a request. */
  readonly isHistory: boolean
  /** Whether this commit writes any of its turns. */
  readonly isWritten: boolean
}

/** Asked inside of the decision, each time that it is made. */
export type BuildSignalChanges = (
  place: SessionPlace,
  exchanges: readonly RecordedExchange[],
  settings: Settings,
  /** What is read from; default: the store as it is. */
  store?: Store,
) => Promise<readonly Change[]>

const OPEN_KEPT_MS = 30 * DAY_MS

export function createSignalWriter(ports: MemoryDependencies, jobs: Jobs): BuildSignalChanges {
  return async (place, exchanges, settings, store = ports.store) => {
    const openId = buildOpenSessionId(place)
    const signalIds = exchanges.map(({ turns }) => toEntryId(turns[0]))
    const known = await loadEntries(store, place, [openId, ...signalIds])
    const now = ports.clock.now()
    const signals = exchanges.flatMap(
      ({ turns, isWritten, position, isHistory }): readonly Change[] => {
        const before = known.get(toEntryId(turns[0])) ?? null
        // Tried again after it was kept all the same: it waits, or has been learned from. What is not to be learned from, stays so.
        if (before !== null && (!isWritten || parseSignal(before)?.status === 'forgotten'))
          return []
        const options = { position, isHistory, isPatternScanned: true }
        return [buildPut(createPendingSignal(place, turns, now, before, options), before)]
      },
    )
    if (signals.length === 0 || settings['learning.extractionMode'] === 'manual') return signals
    return [
      ...signals,
      ...(await jobs.buildScheduleChanges(buildDistillationJob(place, settings, now), store)),
      ...(await buildPreviousSessionFlush(
        { ...ports, store },
        jobs,
        place,
        known.get(openId) ?? null,
        settings,
      )),
    ]
  }
}

/** The session that was open before is done with; this one is open from now on. */
async function buildPreviousSessionFlush(
  { clock, store }: MemoryDependencies,
  jobs: Jobs,
  place: SessionPlace,
  open: Entry | null,
  { 'learning.extractionMode': extractionMode }: Settings,
): Promise<readonly Change[]> {
  const before = open?.body.session
  if (before === place.session) return []
  const now = clock.now()
  const opening = buildPut(buildOpenSessionEntry(place, now, open), open)
  if (typeof before !== 'string' || extractionMode === 'everyTurn') return [opening]
  const flushed = buildDistillationJobAt({ ...place, session: before as SessionId }, now) // written below
  const job = await jobs.get(buildJobId(flushed), store)
  const isWaiting = job?.status === 'waiting' && job.dueAt !== null && job.dueAt > now
  return isWaiting ? [opening, ...(await jobs.buildScheduleChanges(flushed, store))] : [opening]
}

function buildOpenSessionEntry(
  { owner, user, session }: SessionPlace,
  at: Instant,
  before: Entry | null,
) {
  return {
    id: buildOpenSessionId({ owner, user }),
    place: { owner, user, session: null },
    kind: 'thread',
    about: null,
    at,
    expiresAt: addMs(at, OPEN_KEPT_MS),
    version: (before?.version ?? 0) + 1,
    body: { session },
  } satisfies Entry
}

function buildOpenSessionId({ owner, user }: Pick<SessionPlace, 'owner' | 'user'>): EntryId {
  return `open_${hashParts(owner, user)}` as EntryId // derived: a person is in one session at a time
}

function toEntryId(first: TurnId): EntryId {
  return buildSignalId(first) as string as EntryId // an entry of its own kind
}

function buildPut(row: Entry, before: Entry | null): Change {
  const expect = before === null ? 'absent' : { version: before.version }
  return { op: 'put', table: 'entry', row, expect }
}

async function loadEntries(
  store: Store,
  { owner, user }: SessionPlace,
  ids: readonly EntryId[],
): Promise<ReadonlyMap<EntryId, Entry>> {
  const { rows } = await store.find('entry', { owner, user }, { where: { ids }, limit: ids.length })
  return new Map(rows.map((entry) => [entry.id, entry]))
}
