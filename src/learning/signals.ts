/** Storage of learning signals: pending, processed, dead and forgotten exchanges. */

import type { ChangeId, SignalId } from '../domain/ids.ts'
import { COMMIT_CHANGES_MAX } from '../domain/limits.ts'
import type { Scope } from '../domain/scope.ts'
import {
  isLearnable,
  SIGNAL_STATUSES,
  type Signal,
  type SignalStatus,
  updateSignal,
} from '../domain/signal.ts'
import { AppError } from '../lib/errors.ts'
import type { MemoryDependencies } from '../memory/types.ts'
import { commitWithRetry } from '../storage/access/optimistic-commit.ts'
import { parseLimit } from '../storage/access/page-request.ts'
import { pages } from '../storage/access/row-pages.ts'
import type { Change, Page, SignalFilter } from '../storage/store.ts'

/** Failures before a signal is dead. */
export const SIGNAL_ATTEMPTS_MAX = 3
const LIST_LIMIT = 50

/** The signals of a scope by creation time, then by position in the conversation. */
export async function loadSignals(
  { store }: Pick<MemoryDependencies, 'store'>,
  scope: Scope,
  where: SignalFilter = {},
): Promise<readonly Signal[]> {
  const signals: Signal[] = []
  for await (const page of pages(store, 'signal', scope, { where })) signals.push(...page)
  return signals.sort((a, b) => a.createdAt - b.createdAt || a.position - b.position)
}

export async function countPendingSignals(
  ports: Pick<MemoryDependencies, 'store'>,
  scope: Scope,
): Promise<number> {
  return (await loadSignals(ports, scope, { statuses: ['pending'] })).length
}

/** The stored versions of signals; removed ones are missing. */
export async function reloadSignals(
  { store }: Pick<MemoryDependencies, 'store'>,
  scope: Scope,
  signals: readonly Signal[],
): Promise<ReadonlyMap<SignalId, Signal>> {
  const ids = signals.map(({ id }) => id)
  const limit = Math.max(1, ids.length)
  const { rows } = await store.find('signal', scope, { where: { ids }, limit })
  return new Map(rows.map((signal) => [signal.id, signal]))
}

/** Writes the next version of a signal, unless it has changed since it was read. */
export function buildSignalUpdate(
  { clock }: Pick<MemoryDependencies, 'clock'>,
  before: Signal,
  changes: Partial<
    Pick<Signal, 'turns' | 'status' | 'isPatternScanned' | 'attempts' | 'error' | 'change'>
  >,
): Change {
  const row = updateSignal(before, changes, clock.now())
  return { op: 'put', table: 'signal', row, expect: { version: before.version } }
}

export function buildSignalRemoval(
  { id, place, version }: Signal,
  expect: 'any' | { readonly version: number } = { version },
): Change {
  return { op: 'remove', table: 'signal', scope: place, id, expect }
}

export function markProcessed(
  ports: Pick<MemoryDependencies, 'clock'>,
  signal: Signal,
  change: ChangeId | null,
): Change {
  return buildSignalUpdate(ports, signal, {
    status: 'processed',
    isPatternScanned: true,
    error: null,
    change,
  })
}

/** Marks a signal as scanned by patterns; it stays pending for a model. */
export function markScanned(
  ports: Pick<MemoryDependencies, 'clock'>,
  signal: Signal,
  change: ChangeId | null,
): Change {
  return buildSignalUpdate(ports, signal, { isPatternScanned: true, change })
}

/** Counts a failure for each unchanged signal. Resolves to the number that became dead. */
export async function recordFailure(
  ports: MemoryDependencies,
  scope: Scope,
  signals: readonly Signal[],
  error: string,
): Promise<number> {
  return commitWithRetry(ports, async () => {
    const current = await reloadSignals(ports, scope, signals)
    const failed = signals.flatMap(({ id, version }) => {
      const signal = current.get(id)
      return signal?.version === version ? [signal] : []
    })
    const isLast = ({ attempts }: Signal) => attempts + 1 >= SIGNAL_ATTEMPTS_MAX
    return {
      changes: failed.map((signal) =>
        buildSignalUpdate(ports, signal, {
          attempts: signal.attempts + 1,
          error,
          status: isLast(signal) ? 'dead' : 'pending',
        }),
      ),
      result: failed.filter(isLast).length,
    }
  })
}

export type SignalQuery = {
  readonly status?: SignalStatus
  readonly limit?: number
  readonly after?: string
}

/** Ordered by id, which is stable from page to page. */
export async function listSignals(
  { store }: Pick<MemoryDependencies, 'store'>,
  scope: Scope,
  { status, limit, after }: SignalQuery = {},
): Promise<Page<Signal>> {
  if (status !== undefined && !SIGNAL_STATUSES.includes(status)) {
    const message = `\`status\` must be one of ${SIGNAL_STATUSES.join(', ')}; got ${String(status)}.`
    throw new AppError('invalid_input', message, { field: 'status' })
  }
  return store.find('signal', scope, {
    where: status === undefined ? {} : { statuses: [status] },
    order: 'oldest',
    limit: parseLimit(limit ?? LIST_LIMIT),
    ...(after === undefined ? {} : { after }),
  })
}

export async function getSignal(
  { store }: Pick<MemoryDependencies, 'store'>,
  scope: Scope,
  id: string,
): Promise<Signal> {
  const signal = await store.get('signal', scope, id as SignalId) // an unknown id finds nothing
  if (signal === null) throw new AppError('not_found', `Signal ${id} not found.`, { id })
  return signal
}

/** Resets signals to pending and returns them: all dead ones, or those in `ids`, forgotten ones included. */
export async function retrySignals(
  ports: MemoryDependencies,
  scope: Scope,
  { ids }: { readonly ids?: readonly string[] } = {},
): Promise<readonly Signal[]> {
  return changeSignals(
    ports,
    scope,
    ids,
    ({ status }) => status === 'dead' || (ids !== undefined && status === 'forgotten'),
    { status: 'pending', attempts: 0, error: null },
  )
}

/** Excludes pending and dead signals from learning, all or those in `ids`. Returns the changed ones. */
export async function forgetSignals(
  ports: MemoryDependencies,
  scope: Scope,
  { ids }: { readonly ids?: readonly string[] } = {},
): Promise<readonly Signal[]> {
  return changeSignals(ports, scope, ids, isLearnable, { status: 'forgotten' })
}

async function changeSignals(
  ports: MemoryDependencies,
  scope: Scope,
  ids: readonly string[] | undefined,
  isSelected: (signal: Signal) => boolean,
  after: Partial<Pick<Signal, 'status' | 'attempts' | 'error'>>,
): Promise<readonly Signal[]> {
  return commitWithRetry(ports, async () => {
    const all = await loadSignals(ports, scope)
    const named = all.filter(({ id }) => ids === undefined || ids.includes(id))
    if (ids !== undefined && named.length < new Set(ids).size) {
      throw new AppError(
        'not_found',
        '`ids` must name signals of the scope; at least one was not found.',
      )
    }
    const selected = named.filter(isSelected).slice(0, COMMIT_CHANGES_MAX)
    return {
      changes: selected.map((signal) => buildSignalUpdate(ports, signal, after)),
      result: selected.map((signal) => ({ ...signal, ...after, version: signal.version + 1 })),
    }
  })
}
