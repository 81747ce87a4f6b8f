/**
 * What has faded or outlived its time goes into the bin, from where it can be brought back; all of a step in one change.
 * It leaves no trace that would refuse it: nobody wished it away, and it is welcome when it is said again.
 */

import type { ChangeId, MemoryId, TurnId } from '../../../domain/ids.ts'
import type { Memory } from '../../../domain/memory.ts'
import { isLearnable } from '../../../domain/signal.ts'
import type { Turn } from '../../../domain/turn.ts'
import { TimeSlice, yieldToEventLoop } from '../../../lib/event-loop.ts'
import { buildReplacement } from '../../../memory/memory-changes.ts'
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
} from './eviction-policy.ts'

const MEMORIES_PER_REPORT = 2_000

/** So few that others are answered between two commits. */
const MEMORIES_PER_COMMIT = 10
const PAGE_ROWS = 200
const TURNS_PER_COMMIT = 10

export type EvictionCounts = { readonly evicted: number; readonly expired: number }

export async function evictFaded(
  run: ConsolidationRun,
  census: MemoryStatistics,
): Promise<EvictionCounts> {
  const changes = { evict: createChangeId(run), expire: createChangeId(run) }
  const reasonOf = (memory: EvictionCandidate) => decideEviction(memory, run.now, run.settings)
  const left = { evict: 0, expire: 0 }
  const pace = new TimeSlice()
  let waiting: number[] = []
  const flush = async () => {
    for (const kind of ['evict', 'expire'] as const) {
      const meant = waiting.filter((index) => reasonOf(census.candidateAt(index))?.kind === kind)
      const gone = await trashBatch(run, {
        ids: meant.map((index) => census.idAt(index)),
        reasonOf: (memory) => {
          const reason = reasonOf(memory)
          return reason?.kind === kind ? reason : null
        },
        change: changes[kind],
      })
      for (const index of meant) if (gone.has(census.idAt(index))) census.leave(index)
      left[kind] += gone.size
    }
    waiting = []
    await yieldToEventLoop()
  }
  for (let index = 0; index < census.count; index++) {
    if (index % MEMORIES_PER_REPORT === 0) {
      run.reportProgress({ step: 'evict', done: index, total: census.count })
    }
    if (pace.isExpired) await pace.yieldThread()
    if (census.isGone(index) || reasonOf(census.candidateAt(index)) === null) continue
    waiting.push(index)
    if (waiting.length === MEMORIES_PER_COMMIT) await flush()
  }
  if (waiting.length > 0) await flush()
  return { evicted: left.evict, expired: left.expire }
}

/** Digests of conversations that are past their time, whatever became of them since. */
export async function pruneEpisodes(
  run: ConsolidationRun,
  ids: readonly MemoryId[],
): Promise<number> {
  const change = createChangeId(run)
  const because = `It was made more than ${formatDays(run.settings['retention.episodeDays'])} ago.`
  const meant = ids.filter((id) => !run.trashed.has(id))
  let pruned = 0
  for (let start = 0; start < meant.length; start += MEMORIES_PER_COMMIT) {
    run.reportProgress({ step: 'prune', done: start, total: meant.length })
    const gone = await trashBatch(run, {
      ids: meant.slice(start, start + MEMORIES_PER_COMMIT),
      reasonOf: ({ status, pinned }) =>
        status === 'forgotten' || pinned ? null : { kind: 'delete-episode', reason: because },
      change,
    })
    pruned += gone.size
    await yieldToEventLoop()
  }
  return pruned
}

/**
 * Removes turns past `retention.turnDays` for good, with their documents and vectors. Episodes and memories that were
 * learned from them stay. A turn that still waits to be learned from is removed by a later run.
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
    const because = `${turns} said more than ${formatDays(turnRetentionDays)} ago.`
    run.actions.add({ kind: 'delete-turns', memories: [], reason: because, change: null })
  }
  return pruned
}

/** Those that nobody waits to learn from. When one of them is changed meanwhile, they are left for the next run. */
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

/** Turns of the same conversations that wait for a model, or failed too often and wait for somebody. */
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
  /** Null when it stays: somebody may have used or changed it meanwhile. */
  readonly reasonOf: (memory: Memory) => EvictionDecision | null
  readonly change: ChangeId
}

async function trashBatch(
  run: ConsolidationRun,
  { ids, reasonOf, change }: TrashBatch,
): Promise<ReadonlySet<MemoryId>> {
  if (ids.length === 0) return new Set()
  const { ports, isDryRun } = run
  const decide = async () =>
    (await loadMemories(run, ids)).flatMap((memory) => {
      const reason = reasonOf(memory)
      return reason === null ? [] : [{ memory, reason }]
    })
  const left = isDryRun
    ? await decide()
    : await commitWithRetry(ports, async () => {
        const meant = await decide()
        const changes = meant.flatMap(({ memory }) =>
          buildReplacement(ports, memory, buildTrashedMemory(memory, run, change)),
        )
        return { changes, result: meant }
      })
  for (const { memory, reason } of left) {
    const { kind, reason: because } = reason
    run.trashed.add(memory.id)
    run.actions.add({
      kind,
      memories: [memory.id],
      reason: because,
      change: isDryRun ? null : change,
    })
  }
  return new Set(left.map(({ memory }) => memory.id))
}

function buildTrashedMemory(memory: Memory, { now }: ConsolidationRun, change: ChangeId): Memory {
  return { ...memory, status: 'forgotten', version: memory.version + 1, change, updatedAt: now }
}
