/**
 * Adjudication: a model decides on pairs of memories that rules left undecided. Writes by callers never wait for a model,
 * so their doubtful pairs are decided here in the background. Each verdict is a change of its own.
 */

import type { MemoryId } from '../../../domain/ids.ts'
import { DISTILLATION_EXTRACTOR, type Memory } from '../../../domain/memory.ts'
import type { Scope } from '../../../domain/scope.ts'
import type { Verdict } from '../../../domain/verdict.ts'
import { yieldToEventLoop } from '../../../lib/event-loop.ts'
import type { Instant } from '../../../lib/time.ts'
import { withTimeout } from '../../../lib/timeout.ts'
import { buildReplacement } from '../../../memory/memory-changes.ts'
import { findSimilarMemories, isPlainStatement } from '../../../memory/similar-memories.ts'
import { isAdjudicable } from '../../../memory/write-decision.ts'
import { commitWithRetry } from '../../../storage/access/optimistic-commit.ts'
import { pages } from '../../../storage/access/row-pages.ts'
import { limitAdjudications } from '../../completions/model-tasks.ts'
import { type ConsolidationRun, createChangeId, loadMemories } from '../consolidation-run.ts'
import {
  applyVerdict,
  canAdjudicate,
  getStatedAt,
  type VerdictSettlement,
} from './verdict-settlement.ts'

/** The newest memories examined per run. */
const MEMORIES_MAX = 200
const QUESTIONS_MAX = 20
const VERDICT_MS = 15_000

export type AdjudicationOptions = {
  /** Memories from before this instant were examined by an earlier run; null when none were. */
  readonly since: Instant | null
  readonly signal: AbortSignal
}

/** Resolves to the number of settled pairs. A dry run does not call the model and reports the pairs it would submit. */
export async function adjudicateDoubtful(
  run: ConsolidationRun,
  { since, signal }: AdjudicationOptions,
): Promise<number> {
  const { adjudicate } = run.ports
  if (adjudicate === undefined) return 0
  const ask = limitAdjudications(adjudicate, QUESTIONS_MAX, signal)
  let settled = 0
  let submitted = 0
  for (const { id } of await loadWrittenSince(run, since)) {
    run.reportProgress({ step: 'adjudicate', done: submitted, total: null })
    if (submitted === QUESTIONS_MAX) break
    const pair = await findDoubtfulPair(run, id)
    if (pair !== null) {
      submitted++
      const { older, newer } = pair
      if (run.isDryRun) {
        const memories = [newer.id, older.id]
        run.actions.add({ kind: 'adjudicate', memories, reason: WOULD_ASK, change: null })
        continue
      }
      const verdict = await withTimeout(VERDICT_MS, (late) =>
        ask(older.content, newer.content, late),
      )
      // After a failure, the remaining pairs wait for the next run.
      if (verdict.kind === 'failed') break
      if (await adjudicatePair(run, older, newer, verdict.result)) settled++
    }
    await yieldToEventLoop()
  }
  return run.isDryRun ? submitted : settled
}

const WOULD_ASK = 'Rules cannot decide how they relate; a model would be asked.'

/** Distilled memories were adjudicated when they were stored. */
async function loadWrittenSince(
  { ports, scope, now }: ConsolidationRun,
  since: Instant | null,
): Promise<readonly Memory[]> {
  const { rows } = await ports.store.find('memory', scope, {
    where: {
      statuses: ['active'],
      pinned: false,
      ...(since === null ? {} : { createdFrom: since }),
    },
    order: 'newest',
    limit: MEMORIES_MAX,
  })
  return rows.filter(
    (memory) =>
      canAdjudicate(memory, now) && memory.provenance.extractor !== DISTILLATION_EXTRACTOR,
  )
}

/** The memory and an earlier one of the same user that rules cannot relate. */
async function findDoubtfulPair(
  run: ConsolidationRun,
  id: MemoryId,
): Promise<{ readonly older: Memory; readonly newer: Memory } | null> {
  const { ports, now, settings } = run
  const [newer] = await loadMemories(run, [id])
  if (newer === undefined || !canAdjudicate(newer, now) || newer.conflictsWith !== null) return null
  const found = await findSimilarMemories(
    ports,
    newer.place,
    newer,
    settings['memory.similarMemoriesMax'],
  )
  const olders = found.memories.filter(
    (memory) =>
      memory.id !== id &&
      isPlainStatement(memory) &&
      canAdjudicate(memory, now) &&
      isOlder(memory, newer),
  )
  const nearest = [...found.close].flatMap(
    (each) => olders.find((memory) => memory.id === each) ?? [],
  )
  const older = [...nearest, ...olders].find((memory) =>
    isAdjudicable(newer.content, memory.content, found.close.has(memory.id)),
  )
  if (older === undefined || (await isAlreadySettled(run, older, newer))) return null
  return { older, newer }
}

function isOlder(a: Memory, b: Memory): boolean {
  return (
    getStatedAt(a) - getStatedAt(b) < 0 ||
    (getStatedAt(a) === getStatedAt(b) && a.createdAt < b.createdAt)
  )
}

/** Whether an earlier version of one referred to the other: an undone verdict is not repeated. */
async function isAlreadySettled(
  { ports }: ConsolidationRun,
  a: Memory,
  b: Memory,
): Promise<boolean> {
  const home: Scope = { owner: a.place.owner, user: a.place.user }
  const where = { memories: [a.id, b.id] }
  for await (const page of pages(ports.store, 'revision', home, { where })) {
    for (const { memory } of page) {
      const other = memory.id === a.id ? b.id : a.id
      if (memory.supersededBy === other || memory.conflictsWith === other) return true
    }
  }
  return false
}

/** Applies a verdict unless one of the statements changed since. */
async function adjudicatePair(
  run: ConsolidationRun,
  older: Memory,
  newer: Memory,
  verdict: Verdict,
): Promise<boolean> {
  const { ports, now, actions } = run
  const stamp = { change: createChangeId(run), now }
  const settlement = await commitWithRetry(ports, async () => {
    const [old, young] = await loadMemories(run, [older.id, newer.id])
    const isSame = old?.content === older.content && young?.content === newer.content
    const result =
      isSame && old !== undefined && young !== undefined
        ? applyVerdict(old, young, verdict, stamp)
        : null
    const changes = (result?.replaced ?? []).flatMap(({ before, after }) =>
      buildReplacement(ports, before, after),
    )
    return { changes, result }
  })
  if (settlement === null) return false
  actions.add({
    kind: 'adjudicate',
    memories: [newer.id, older.id],
    reason: REASONS[settlement.kind],
    change: stamp.change,
  })
  return true
}

const REASONS: Readonly<Record<VerdictSettlement['kind'], string>> = {
  duplicate: 'A model found both equal.',
  update: 'A model found that the newer one replaces the older one.',
  conflict: 'A model found that both cannot be true.',
}
