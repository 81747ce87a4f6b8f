/**
 * Moves faded and expired memories to the trash; all of a step share one change id. No tombstone is written, so the same
 * statement can be learned again.
 */

import type { ChangeId, MemoryId, TurnId } from '../../../domain/ids.ts'
import type { Memory } from '../../../domain/memory.ts'
import { isLearnable } from '../../../domain/signal.ts'
import type { Turn } from '../../../domain/turn.ts'
import { TimeSlice, yieldToEventLoop } from '../../../lib/event-loop.ts'
import { buildReplacement, stampMemory } from '../../../memory/memory-changes.ts'
import type { MemoryDependencies } from '../../../memory/types.ts'
import { commitWithRetry } from '../../../storage/access/optimistic-commit.ts'
import { pages } from '../../../storage/access/row-pages.ts'
import type { Change } from '../../../storage/store.ts'
import { loadSignals } from '../../signals.ts'
import { type ConsolidationRun, createChangeId, loadMemories } from '../consolidation-run.ts'
import type { MemoryStatistics } from '../statistics.ts'
import {
  computeRetentionCutoff,
  decideEviction,
  type EvictionCandidate,
  type EvictionDecision,
  formatDays,
  isProtectedFromEviction,
} from './eviction-policy.ts'

const MEMORIES_PER_REPORT = 2_000

/** Small commits let other requests run in between. */
const MEMORIES_PER_COMMIT = 10
const PAGE_ROWS = 200
const TURNS_PER_COMMIT = 10

export type EvictionCounts = { readonly evicted: number; readonly expired: number }

export async function evictFaded(
  run: ConsolidationRun,
  statistics: MemoryStatistics,
): Promise<EvictionCounts> {
  const changes = { evict: createChangeId(run), expire: createChangeId(run) }
  const decide = (memory: EvictionCandidate) => decideEviction(memory, run.now, run.settings)
  const counts = { evict: 0, expire: 0 }
  const pace = new TimeSlice()
  let waiting: number[] = []
  const flush = async () => {
    for (const kind of ['evict', 'expire'] as const) {
      const meant = waiting.filter((index) => decide(statistics.candidateAt(index))?.kind === kind)
      const gone = await trashBatch(run, {
        ids: meant.map((index) => statistics.idAt(index)),
        decide: (memory) => {
          const decision = decide({ ...memory, isProtected: isProtectedFromEviction(memory) })
          return decision?.kind === kind ? decision : null
        },
        change: changes[kind],
      })
      for (const index of meant) if (gone.has(statistics.idAt(index))) statistics.remove(index)
      counts[kind] += gone.size
    }
    waiting = []
    await yieldToEventLoop()
  }
  for (let index = 0; index < statistics.count; index++) {
    if (index % MEMORIES_PER_REPORT === 0) {
      run.reportProgress({ step: 'evict', done: index, total: statistics.count })
    }
    if (pace.isExpired) await pace.yieldThread()
    if (statistics.isGone(index) || decide(statistics.candidateAt(index)) === null) continue
    waiting.push(index)
    if (waiting.length === MEMORIES_PER_COMMIT) await flush()
  }
  if (waiting.length > 0) await flush()
  return { evicted: counts.evict, expired: counts.expire }
}

/** Trashes unpinned episodes past their retention, whatever their status. */
export async function pruneEpisodes(
  run: ConsolidationRun,
  ids: readonly MemoryId[],
): Promise<number> {
  const change = createChangeId(run)
  const reason = `It was made more than ${formatDays(run.settings['retention.episodeDays'])} ago.`
  const meant = ids.filter((id) => !run.trashed.has(id))
  let pruned = 0
  for (let start = 0; start < meant.length; start += MEMORIES_PER_COMMIT) {
    run.reportProgress({ step: 'prune', done: start, total: meant.length })
    const gone = await trashBatch(run, {
      ids: meant.slice(start, start + MEMORIES_PER_COMMIT),
      decide: ({ status, pinned }) =>
        status === 'forgotten' || pinned ? null : { kind: 'delete-episode', reason },
      change,
    })
    pruned += gone.size
    await yieldToEventLoop()
  }
  return pruned
}

/**
 * Removes turns past `retention.turnDays` for good, with their documents and vectors. Episodes and memories that were
 * learned from them stay. Turns with a pending signal are removed by a later run.
 */
export async function deleteExpiredTurns(run: ConsolidationRun): Promise<number> {
  const { ports, scope } = run
  const { 'retention.turnDays': turnRetentionDays } = run.settings
  const before = computeRetentionCutoff(run.now, turnRetentionDays)
  if (before === null) return 0
  let pruned = 0
  const query = { where: { saidBefore: before }, order: 'said', limit: PAGE_ROWS } as const
  for await (const page of pages(ports.store, 'turn', scope, query)) {
    run.reportProgress({ step: 'prune', done: pruned, total: null })
    for (let start = 0; start < page.length; start += TURNS_PER_COMMIT) {
      pruned += await deleteLearnedTurns(run, page.slice(start, start + TURNS_PER_COMMIT))
      await yieldToEventLoop()
    }
  }
  if (pruned > 0) {
    const turns = pruned === 1 ? '1 turn was' : `${pruned} turns were`
    const reason = `${turns} said more than ${formatDays(turnRetentionDays)} ago.`
    run.actions.add({ kind: 'delete-turns', memories: [], reason, change: null })
  }
  return pruned
}

/** Deletes turns without a pending signal. A concurrent change leaves the batch for the next run. */
async function deleteLearnedTurns(
  { ports, isDryRun }: ConsolidationRun,
  turns: readonly Turn[],
): Promise<number> {
  const waiting = await loadPendingTurns(ports, turns)
  const removed = turns.filter(({ id }) => !waiting.has(id))
  if (isDryRun || removed.length === 0) return removed.length
  const { kind } = await ports.store.commit(
    removed.map(
      ({ id, place, version }): Change => ({
        op: 'remove',
        table: 'turn',
        scope: place,
        id,
        expect: { version },
      }),
    ),
  )
  return kind === 'committed' ? removed.length : 0
}

/** Turns of the same sessions whose signals are pending or dead. */
async function loadPendingTurns(
  ports: MemoryDependencies,
  turns: readonly Turn[],
): Promise<ReadonlySet<TurnId>> {
  const places = new Map(turns.map(({ place }) => [JSON.stringify(place), place]))
  const waiting = new Set<TurnId>()
  for (const place of places.values()) {
    const signals = place.session === null ? [] : await loadSignals(ports, place)
    for (const { status, turns: ids } of signals) {
      if (isLearnable({ status })) for (const id of ids) waiting.add(id)
    }
  }
  return waiting
}

type TrashBatch = {
  readonly ids: readonly MemoryId[]
  /** Null when the memory stays, for example because it was used in the meantime. */
  readonly decide: (memory: Memory) => EvictionDecision | null
  readonly change: ChangeId
}

async function trashBatch(
  run: ConsolidationRun,
  { ids, decide, change }: TrashBatch,
): Promise<ReadonlySet<MemoryId>> {
  if (ids.length === 0) return new Set()
  const { ports, isDryRun, now } = run
  const stamp = { change, now }
  const decideAll = async () =>
    (await loadMemories(run, ids)).flatMap((memory) => {
      const decision = decide(memory)
      return decision === null ? [] : [{ memory, decision }]
    })
  const left = isDryRun
    ? await decideAll()
    : await commitWithRetry(ports, async () => {
        const meant = await decideAll()
        const changes = meant.flatMap(({ memory }) =>
          buildReplacement(ports, memory, { ...stampMemory(memory, stamp), status: 'forgotten' }),
        )
        return { changes, result: meant }
      })
  for (const { memory, decision } of left) {
    const { kind, reason } = decision
    run.trashed.add(memory.id)
    run.actions.add({
      kind,
      memories: [memory.id],
      reason,
      change: isDryRun ? null : change,
    })
  }
  return new Set(left.map(({ memory }) => memory.id))
}
