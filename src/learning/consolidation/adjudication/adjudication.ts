/**
 * Memories that rules kept beside each other because they could not tell, and that somebody can be asked about: one who
 * writes by hand doesn't wait for a model, so what was left open then is looked at here. Each verdict is a change of its own.
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

/** Of one run, the newest. */
const MEMORIES_MAX = 200
const QUESTIONS_MAX = 20
const VERDICT_MS = 15_000

export type AdjudicationOptions = {
  /** What was there at this instant has been looked at; null when nothing has. */
  readonly since: Instant | null
  readonly signal: AbortSignal
}

/**
 * How many pairs were settled. A dry run asks nobody, because what a model would say can't be told without asking it: it tells
 * which pairs it would be asked about.
 */
export async function adjudicateDoubtful(
  run: ConsolidationRun,
  { since, signal }: AdjudicationOptions,
): Promise<number> {
  const { adjudicate } = run.ports
  if (adjudicate === undefined) return 0
  const ask = limitAdjudications(adjudicate, QUESTIONS_MAX, signal)
  let settled = 0
  let asked = 0
  for (const { id } of await loadWrittenSince(run, since)) {
    run.reportProgress({ step: 'adjudicate', done: asked, total: null })
    if (asked === QUESTIONS_MAX) break
    const pair = await findDoubtfulPair(run, id)
    if (pair !== null) {
      asked++
      const { older, newer } = pair
      if (run.isDryRun) {
        const memories = [newer.id, older.id]
        run.actions.add({ kind: 'adjudicate', memories, reason: WOULD_ASK, change: null })
        continue
      }
      const said = await withTimeout(VERDICT_MS, (late) => ask(older.content, newer.content, late))
      // Who fails once is not asked again today: what is open stays as it is.
      if (said.kind === 'failed') break
      if (await adjudicatePair(run, older, newer, said.result)) settled++
    }
    await yieldToEventLoop()
  }
  return run.isDryRun ? asked : settled
}

const WOULD_ASK = 'Rules can’t tell what they are to each other, so a model would be asked.'

/** What was distilled has been asked about when it was stored. */
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

/** The memory and one that was there before it, of the same user, if rules can't tell what they are to each other. */
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
  const older = olders.find((memory) =>
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

/** Whether one was made to say something about the other before: whoever took that back doesn't want it done again. */
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

/** Only while both say what was asked about. */
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
  duplicate: 'A model says that both say the same.',
  update: 'A model says that the newer one holds in the place of the older one.',
  conflict: 'A model says that both can’t be true.',
}
