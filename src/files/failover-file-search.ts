/**
 * FileSearch with failover. A failing primary is bypassed immediately: the secondary answers the same call and all
 * later ones until the pause ends. Each further failure doubles the pause.
 */

import type { OwnerId } from '../domain/ids.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError, toAppError } from '../lib/errors.ts'
import { addMs, type Instant } from '../lib/time.ts'
import type { FileQuery, FileSearch, FileSearchResult, SyncReport } from './file-search.ts'

export type FailoverDependencies = {
  readonly primary: FileSearch
  readonly fallback: FileSearch
  /** The name of the primary in answers and status. */
  readonly primaryName: string
  readonly clock: Clock
  /** Throws the error instead of failing over. */
  readonly failClosed?: boolean
  readonly retryDelayMs?: number
  readonly retryDelayMsMax?: number
}

const FIRST_PAUSE_MS = 30_000
const PAUSE_MS_MAX = 600_000

type OpenState = {
  readonly because: string
  readonly pauseMs: number
  readonly until: Instant
  readonly failures: number
}

export function createFailoverFileSearch(parts: FailoverDependencies): FileSearch {
  const { primary, fallback, clock, primaryName, failClosed = false } = parts
  const {
    retryDelayMs: firstPauseMs = FIRST_PAUSE_MS,
    retryDelayMsMax: pauseMsMax = PAUSE_MS_MAX,
  } = parts
  /** Null while the primary is healthy. */
  let bypass: OpenState | null = null
  /** One call probes the primary; the others do not wait for it. */
  let isTrying = false

  function isBypassed(): boolean {
    return bypass !== null && (isTrying || clock.now() < bypass.until)
  }

  function noteFailure(because: string): OpenState {
    const pauseMs = bypass === null ? firstPauseMs : Math.min(bypass.pauseMs * 2, pauseMsMax)
    const until = addMs(clock.now(), pauseMs)
    return { because, pauseMs, until, failures: (bypass?.failures ?? 0) + 1 }
  }

  /** Calls the primary and records its health; errors of the caller are rethrown. */
  async function tryPrimary(
    owner: OwnerId,
    query: FileQuery,
  ): Promise<FileSearchResult | AppError> {
    // Concurrent calls that fail together count as one failure.
    const before = bypass
    isTrying = bypass !== null
    try {
      const answer = await primary.search(owner, query)
      bypass = null
      return answer
    } catch (thrown) {
      const error = toAppError(thrown)
      if (isCallerError(error)) throw error
      // A primary that is still indexing one owner is healthy for all others.
      if (error.code === 'busy') return error
      if (bypass === before) bypass = noteFailure(error.message)
      return error
    } finally {
      isTrying = false
    }
  }

  async function search(owner: OwnerId, query: FileQuery): Promise<FileSearchResult> {
    if (!failClosed && isBypassed()) return answerInstead(owner, query, bypass?.because)
    const tried = await tryPrimary(owner, query)
    if (!(tried instanceof AppError)) return tried
    if (failClosed) throw tried
    return answerInstead(owner, query, tried.message)
  }

  async function answerInstead(
    owner: OwnerId,
    query: FileQuery,
    because: string | undefined,
  ): Promise<FileSearchResult> {
    const answer = await fallback.search(owner, query)
    const reasons = [`${primaryName} is bypassed: ${because}`, answer.fallbackReason]
    return { ...answer, fallbackReason: reasons.filter((reason) => reason !== null).join(' ') }
  }

  /** The current backend, for calls that need no index. */
  function answering(): FileSearch {
    return !failClosed && bypass !== null && clock.now() < bypass.until ? fallback : primary
  }

  async function orFallback<Result>(ask: (of: FileSearch) => Promise<Result>): Promise<Result> {
    const first = answering()
    try {
      return await ask(first)
    } catch (thrown) {
      if (first === fallback || failClosed || isCallerError(toAppError(thrown))) throw thrown
      return ask(fallback)
    }
  }

  return {
    search,
    readFile: (owner, path, range) => orFallback((of) => of.readFile(owner, path, range)),
    status: async (owner) => {
      const status = await orFallback((of) => of.status(owner))
      const well = { primary: primaryName, primaryIsWell: bypass === null }
      const facts =
        bypass === null
          ? well
          : {
              ...well,
              bypassReason: bypass.because,
              bypassedUntil: new Date(bypass.until).toISOString(),
              bypassedFailures: bypass.failures,
            }
      return { ...status, facts: { ...status.facts, ...facts } }
    },
    sync: async (owner, options) => {
      // The new backend must see the current files.
      const [first, second] = await Promise.allSettled([
        primary.sync(owner, options),
        fallback.sync(owner, options),
      ])
      if (first.status === 'fulfilled') return first.value
      if (failClosed || second.status === 'rejected') throw first.reason
      return addProblem(second.value, `${primaryName}: ${toAppError(first.reason).message}`)
    },
    probeEmbeddingAvailability: () => orFallback((of) => of.probeEmbeddingAvailability()),
    probeVectorAvailability: () => orFallback((of) => of.probeVectorAvailability()),
    close: async () => {
      const closed = await Promise.allSettled([primary.close(), fallback.close()])
      for (const each of closed) if (each.status === 'rejected') throw each.reason
    },
  }
}

/** Invalid and cancelled queries say nothing about the health of a backend. */
function isCallerError({ code }: AppError): boolean {
  return code === 'invalid_input' || code === 'cancelled'
}

function addProblem(report: SyncReport, message: string): SyncReport {
  return { ...report, problems: [...report.problems, { path: '', reason: 'failed', message }] }
}
