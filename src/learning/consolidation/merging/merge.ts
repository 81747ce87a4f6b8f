/** Merges near-duplicate memories. Each merge is a change of its own and supersedes the absorbed memories. */

import type { Memory } from '../../../domain/memory.ts'
import { TimeSlice, yieldToEventLoop } from '../../../lib/event-loop.ts'
import {
  listContradictionPatterns,
  warmUpPatternsInSlices,
} from '../../../memory/contradiction/pattern-warmup.ts'
import { buildReplacement } from '../../../memory/memory-changes.ts'
import { commitWithRetry } from '../../../storage/access/optimistic-commit.ts'
import { pages } from '../../../storage/access/row-pages.ts'
import { type ConsolidationRun, createChangeId, loadMemories } from '../consolidation-run.ts'
import type { MemoryStatistics } from '../statistics.ts'
import { buildAbsorbed, buildSurvivor, decideMerge, type MergeDecision } from './merge-decision.ts'
import { NearDuplicateIndex } from './near-duplicates.ts'

const MEMORIES_PER_REPORT = 100

/** Candidates per merge. */
const OTHERS_PER_COMMIT = 8

/** Resolves to the number of absorbed memories. */
export async function mergeDuplicates(
  run: ConsolidationRun,
  statistics: MemoryStatistics,
): Promise<number> {
  await warmUpPatternsInSlices(listContradictionPatterns())
  const near = new NearDuplicateIndex(statistics.words, (a, b) => statistics.isApart(a, b))
  const pace = new TimeSlice()
  let merged = 0
  for (let index = 0; index < statistics.count; index++) {
    if (index % MEMORIES_PER_REPORT === 0) {
      run.reportProgress({ step: 'merge', done: index, total: statistics.count })
    }
    if (pace.isExpired) await pace.yieldThread()
    const others = near.take(index)
    let leader = index
    for (let start = 0; start < others.length; start += OTHERS_PER_COMMIT) {
      const meant = [leader, ...others.slice(start, start + OTHERS_PER_COMMIT)]
      const merge = await mergeGroup(run, statistics, meant)
      await yieldToEventLoop()
      // Sorted by similarity: when none of these matches, the rest does not either.
      if (merge === null) break
      leader = merge.survivor
      merged += merge.absorbed.length
      for (const gone of merge.absorbed) {
        statistics.remove(gone)
        near.drop(gone)
      }
    }
  }
  return merged
}

type MergedIndexes = { readonly survivor: number; readonly absorbed: readonly number[] }

async function mergeGroup(
  run: ConsolidationRun,
  statistics: MemoryStatistics,
  indexes: readonly number[],
): Promise<MergedIndexes | null> {
  const { ports, now, isDryRun } = run
  const ids = indexes.map((index) => statistics.idAt(index))
  const stamp = { change: createChangeId(run), now }
  const decide = async () => {
    const memories = await loadMemories(run, ids)
    const merge = decideMerge(memories, now, await findUndoneMerges(run, memories))
    return { merge, survivor: merge === null ? null : buildSurvivor(merge, stamp) }
  }
  const { merge, survivor } = isDryRun
    ? await decide()
    : await commitWithRetry(ports, async () => {
        const decided = await decide()
        return { changes: buildMergeChanges(run, decided, stamp), result: decided }
      })
  if (merge === null || survivor === null) return null
  const numberOf = ({ id }: Memory) => indexes[ids.indexOf(id)] ?? 0
  statistics.touch(numberOf(survivor), survivor.salience, now)
  run.actions.add({
    kind: 'merge',
    memories: [survivor, ...merge.absorbed].map(({ id }) => id),
    reason: `Memory ${survivor.id} states everything that ${merge.absorbed.length === 1 ? 'another memory states' : `${merge.absorbed.length} other memories state`}.`,
    change: isDryRun ? null : stamp.change,
  })
  return { survivor: numberOf(survivor), absorbed: merge.absorbed.map(numberOf) }
}

function buildMergeChanges(
  { ports }: ConsolidationRun,
  { merge, survivor }: { readonly merge: MergeDecision | null; readonly survivor: Memory | null },
  stamp: Parameters<typeof buildAbsorbed>[2],
) {
  if (merge === null || survivor === null) return []
  return [
    ...merge.absorbed.flatMap((memory) =>
      buildReplacement(ports, memory, buildAbsorbed(memory, survivor.id, stamp)),
    ),
    ...buildReplacement(ports, merge.survivor, survivor),
  ]
}

/** Pairs whose merge was undone before; they are not merged again. */
async function findUndoneMerges({ ports, scope }: ConsolidationRun, memories: readonly Memory[]) {
  const pairs = new Set<string>()
  const changed = memories.filter(({ version }) => version > 1).map(({ id }) => id)
  if (changed.length > 0) {
    const where = { memories: changed }
    for await (const page of pages(ports.store, 'revision', scope, { where })) {
      for (const { memory } of page) pairs.add(`${memory.id} ${memory.supersededBy}`)
    }
  }
  return (a: Memory, b: Memory) => pairs.has(`${a.id} ${b.id}`) || pairs.has(`${b.id} ${a.id}`)
}
