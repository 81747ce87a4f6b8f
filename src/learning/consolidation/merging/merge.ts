/** Memories that say the same become one: the others are superseded by it, each merge in a change of its own. */

import type { Memory } from '../../../domain/memory.ts'
import { nextTurn, Pace } from '../../../lib/event-loop.ts'
import { truthRules, warmRules } from '../../../memory/contradiction/pattern-warmup.ts'
import { replacing } from '../../../memory/memory-changes.ts'
import { decideAndCommit } from '../../../storage/access/optimistic-commit.ts'
import { pages } from '../../../storage/access/row-pages.ts'
import { loadAll, nextChange, type Run } from '../consolidation-run.ts'
import type { Census } from '../statistics.ts'
import { absorbedBy, decideMerge, type Merge, survivorOf } from './merge-decision.ts'
import { NearDuplicates } from './near-duplicates.ts'

const MEMORIES_PER_REPORT = 100

/** Compared with one memory at a time. */
const OTHERS_PER_COMMIT = 8

/** How many became part of another one. */
export async function mergeDuplicates(run: Run, census: Census): Promise<number> {
  await warmRules(truthRules())
  const near = new NearDuplicates(census.words, (a, b) => census.isApart(a, b))
  const pace = new Pace()
  let merged = 0
  for (let index = 0; index < census.count; index++) {
    if (index % MEMORIES_PER_REPORT === 0) {
      run.tell({ step: 'merge', done: index, total: census.count })
    }
    if (pace.isDue) await pace.rest()
    const others = near.take(index)
    let leader = index
    for (let start = 0; start < others.length; start += OTHERS_PER_COMMIT) {
      const meant = [leader, ...others.slice(start, start + OTHERS_PER_COMMIT)]
      const merge = await mergeSome(run, census, meant)
      await nextTurn()
      // The likest come first: where none of them is the same, those after them aren't either.
      if (merge === null) break
      leader = merge.survivor
      merged += merge.absorbed.length
      for (const gone of merge.absorbed) {
        census.leave(gone)
        near.drop(gone)
      }
    }
  }
  return merged
}

type Numbered = { readonly survivor: number; readonly absorbed: readonly number[] }

async function mergeSome(
  run: Run,
  census: Census,
  indexes: readonly number[],
): Promise<Numbered | null> {
  const { ports, now, isDryRun } = run
  const ids = indexes.map((index) => census.idAt(index))
  const stamp = { change: nextChange(run), now }
  const decide = async () => {
    const memories = await loadAll(run, ids)
    const merge = decideMerge(memories, now, await takenBackAmong(run, memories))
    return { merge, survivor: merge === null ? null : survivorOf(merge, stamp) }
  }
  const { merge, survivor } = isDryRun
    ? await decide()
    : await decideAndCommit(ports, async () => {
        const decided = await decide()
        return { changes: changesOf(run, decided, stamp), result: decided }
      })
  if (merge === null || survivor === null) return null
  const numberOf = ({ id }: Memory) => indexes[ids.indexOf(id)] ?? 0
  census.touch(numberOf(survivor), survivor.salience, now)
  run.actions.add({
    kind: 'merge',
    memories: [survivor, ...merge.absorbed].map(({ id }) => id),
    because: `${merge.absorbed.length === 1 ? 'Another one says' : `${merge.absorbed.length} others say`} nothing that ${survivor.id} doesn't say.`,
    change: isDryRun ? null : stamp.change,
  })
  return { survivor: numberOf(survivor), absorbed: merge.absorbed.map(numberOf) }
}

function changesOf(
  { ports }: Run,
  { merge, survivor }: { readonly merge: Merge | null; readonly survivor: Memory | null },
  stamp: Parameters<typeof absorbedBy>[2],
) {
  if (merge === null || survivor === null) return []
  return [
    ...merge.absorbed.flatMap((memory) =>
      replacing(ports, memory, absorbedBy(memory, survivor.id, stamp)),
    ),
    ...replacing(ports, merge.survivor, survivor),
  ]
}

/** Of these, which were one before: whoever took that back doesn't want it done again. */
async function takenBackAmong({ ports, scope }: Run, memories: readonly Memory[]) {
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
