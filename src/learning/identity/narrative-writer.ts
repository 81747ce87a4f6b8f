/**
 * Regenerates identity narratives whose sources have changed. A narrative that a person edited is left alone; one that
 * was forgotten or undone comes back only with other sources.
 */

import type { MemoryId, UserId } from '../../domain/ids.ts'
import { hasEnded, type Memory, NARRATIVE_KEY } from '../../domain/memory.ts'
import type { Scope } from '../../domain/scope.ts'
import { yieldToEventLoop } from '../../lib/event-loop.ts'
import { buildRedaction } from '../../memory/deletion/receipt-redaction.ts'
import { parseDraft } from '../../memory/draft.ts'
import { buildReplacement, stampMemory } from '../../memory/memory-changes.ts'
import { WriteBatch } from '../../memory/write-batch.ts'
import { commitWithRetry } from '../../storage/access/optimistic-commit.ts'
import { pages } from '../../storage/access/row-pages.ts'
import type { Change } from '../../storage/store.ts'
import type { WriteNarrative } from '../completions/model-tasks.ts'
import {
  type ConsolidationRun,
  createChangeId,
  loadMemories,
} from '../consolidation/consolidation-run.ts'
import type { MemoryStatistics } from '../consolidation/statistics.ts'
import {
  buildNarrativeDraft,
  getNarrativeSources,
  hashSources,
  isGeneratedNarrative,
  isUpToDate,
  joinStatements,
  type NarrativeWording,
  selectNarrativeSources,
} from './narrative.ts'

/** The number of important facts that sources are selected from. */
const FACTS_READ_MAX = 500
const NARRATIVES_MAX = 20
const ROWS_PER_PAGE = 100

export type NarrativeOptions = {
  readonly word?: WriteNarrative | undefined
  readonly signal: AbortSignal
}

/** Resolves to the number of narratives that were rewritten or removed. */
export async function updateNarratives(
  run: ConsolidationRun,
  statistics: MemoryStatistics,
  options: NarrativeOptions,
): Promise<number> {
  let written = 0
  for (const [user, identity] of await groupIdentitiesByUser(run, statistics)) {
    run.reportProgress({ step: 'update-narratives', done: written, total: null })
    const home: Scope = { owner: run.scope.owner, user }
    const facts = await loadImportantFacts(run, statistics, user)
    if (await updateNarrative(run, home, selectNarrativeSources(identity, facts), options))
      written++
    await yieldToEventLoop()
  }
  return written
}

/** Uses the ids from the statistics, because a search would take as long as another full scan. */
async function groupIdentitiesByUser(run: ConsolidationRun, statistics: MemoryStatistics) {
  const byUser = new Map<UserId | null, Memory[]>()
  for (const memory of await loadPages(run, statistics.identities.toReversed())) {
    const isOne = memory.category === 'identity' && STANDING.has(memory.status)
    if (!isOne || hasEnded(memory, run.now)) continue
    byUser.set(memory.place.user, [...(byUser.get(memory.place.user) ?? []), memory])
  }
  return byUser
}

const STANDING: ReadonlySet<Memory['status']> = new Set(['active', 'disabled'])

async function loadPages(
  run: ConsolidationRun,
  ids: readonly MemoryId[],
): Promise<readonly Memory[]> {
  const found: Memory[] = []
  for (let start = 0; start < ids.length; start += ROWS_PER_PAGE) {
    found.push(...(await loadMemories(run, ids.slice(start, start + ROWS_PER_PAGE))))
    await yieldToEventLoop()
  }
  return found
}

async function updateNarrative(
  run: ConsolidationRun,
  home: Scope,
  sources: readonly Memory[],
  { word, signal }: NarrativeOptions,
): Promise<boolean> {
  const known = await findNarratives(run, home)
  const holder = known.find(({ status }) => status !== 'forgotten') ?? null
  if (holder !== null && !isGeneratedNarrative(holder)) return false
  if (sources.length === 0) return holder !== null && trashNarrative(run, home, holder)
  if (
    holder === null
      ? isUndoneByUser(known, sources)
      : isUpToDate(holder, sources, word !== undefined)
  ) {
    return false
  }
  if (run.isDryRun) return logAction(run, sources, null)
  const text = await writeNarrative(sources, word, signal)
  if (holder?.content === text.content && isUpToDate(holder, sources, false)) return false
  return storeNarrative(run, home, sources, text)
}

/** The most important facts of a user; `selectNarrativeSources` decides which ones are used. */
async function loadImportantFacts(
  run: ConsolidationRun,
  statistics: MemoryStatistics,
  user: UserId | null,
): Promise<readonly Memory[]> {
  const facts = await loadPages(run, statistics.significantOf(user, FACTS_READ_MAX))
  return facts.filter(
    (fact) => fact.status === 'active' && !hasEnded(fact, run.now) && !run.trashed.has(fact.id),
  )
}

async function findNarratives(
  { ports }: ConsolidationRun,
  home: Scope,
): Promise<readonly Memory[]> {
  const { rows } = await ports.store.find('memory', home, {
    where: { key: NARRATIVE_KEY, statuses: ['active', 'disabled', 'forgotten'] },
    order: 'newest',
    limit: NARRATIVES_MAX,
  })
  return rows
}

/** Whether a person forgot the narrative of the same sources. */
function isUndoneByUser(known: readonly Memory[], sources: readonly Memory[]): boolean {
  return known.some(({ metadata }) => metadata.sources === hashSources(sources))
}

async function writeNarrative(
  sources: readonly Memory[],
  word: WriteNarrative | undefined,
  signal: AbortSignal,
): Promise<{ readonly content: string; readonly wording: NarrativeWording }> {
  const byModel = await word?.(sources, signal).catch(() => '') // rules are the fallback
  if (byModel !== undefined && byModel !== '') return { content: byModel, wording: 'model' }
  return { content: joinStatements(sources), wording: 'rules' }
}

async function storeNarrative(
  run: ConsolidationRun,
  home: Scope,
  sources: readonly Memory[],
  { content, wording }: { readonly content: string; readonly wording: NarrativeWording },
): Promise<boolean> {
  const { ports, now } = run
  const mark = { change: createChangeId(run), now }
  const isWritten = await commitWithRetry(ports, async () => {
    const known = await findNarratives(run, home)
    const holder = known.find(({ status }) => status !== 'forgotten')
    // A person edited it in the meantime.
    if (holder !== undefined && !isGeneratedNarrative(holder)) return { changes: [], result: false }
    const version = (holder?.version ?? 0) + 1
    const draft = parseDraft(buildNarrativeDraft(sources, content, wording, version), now)
    const batch = new WriteBatch(ports, home, mark)
    const decision = await batch.add(draft, { keyOnly: true })
    if (decision.kind === 'refused') return { changes: [], result: false }
    const changes = batch.changes()
    const isErased = holder !== undefined && (await hasErasedSource(run, home, holder))
    return {
      changes: isErased ? await buildHistoryRemoval(run, home, holder, changes) : changes,
      result: true,
    }
  })
  return isWritten && logAction(run, sources, mark.change)
}

/** Whether a source was erased, so that the revisions of the narrative must go as well. */
async function hasErasedSource(
  { ports }: ConsolidationRun,
  home: Scope,
  holder: Memory,
): Promise<boolean> {
  const ids = getNarrativeSources(holder)
  if (ids.length === 0) return false
  const { rows } = await ports.store.find('memory', home, { where: { ids }, limit: ids.length })
  return rows.length < ids.length
}

async function buildHistoryRemoval(
  { ports }: ConsolidationRun,
  home: Scope,
  { id }: Memory,
  changes: readonly Change[],
): Promise<readonly Change[]> {
  const removals: Change[] = []
  const where = { memories: [id] }
  for await (const page of pages(ports.store, 'revision', home, { where })) {
    for (const revision of page) {
      removals.push({
        op: 'remove',
        table: 'revision',
        scope: home,
        id: revision.id,
        expect: 'any',
      })
    }
  }
  const redacted = buildRedaction(home.owner, id) // receipts cite earlier versions too
  return [...removals, redacted, ...changes.filter((change) => !isRevision(change))]
}

function isRevision(change: Change): boolean {
  return change.op === 'put' && change.table === 'revision'
}

/** Moves the narrative to the trash without a tombstone, so that it can be generated again. */
async function trashNarrative(
  run: ConsolidationRun,
  home: Scope,
  narrative: Memory,
): Promise<boolean> {
  const { ports, now, isDryRun } = run
  const { id } = narrative
  if (isDryRun) return logAction(run, [narrative], null)
  const change = createChangeId(run)
  const isTrashed = await commitWithRetry(ports, async () => {
    const holder = await ports.store.get('memory', home, id)
    if (holder === null || holder.status === 'forgotten' || !isGeneratedNarrative(holder)) {
      return { changes: [], result: false }
    }
    const trashed: Memory = { ...stampMemory(holder, { change, now }), status: 'forgotten' }
    const changes = buildReplacement(ports, holder, trashed)
    const isErased = await hasErasedSource(run, home, holder)
    return {
      changes: isErased ? await buildHistoryRemoval(run, home, holder, changes) : changes,
      result: true,
    }
  })
  return isTrashed && logAction(run, [narrative], change)
}

/** Logs the sources; the change id leads to the narrative. */
function logAction(
  run: ConsolidationRun,
  sources: readonly Memory[],
  change: Memory['change'] | null,
): true {
  run.actions.add({
    kind: 'update-narrative',
    memories: sources.map(({ id }) => id),
    reason: 'The identity statements or important facts of the person have changed.',
    change,
  })
  return true
}
