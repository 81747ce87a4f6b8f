/**
 * Who each user is, told anew where what it is told from has changed. A narrative that a person has touched is left alone;
 * one that was forgotten, or whose making was undone, comes back only when there is something else to tell.
 */

import { NARRATIVE_KEY } from '../../domain/identity.ts'
import type { MemoryId, UserId } from '../../domain/ids.ts'
import { hasEnded, type Memory } from '../../domain/memory.ts'
import type { Scope } from '../../domain/scope.ts'
import { nextTurn } from '../../lib/event-loop.ts'
import { parseDraft } from '../../memory/draft.ts'
import { replacing } from '../../memory/memory-changes.ts'
import { redaction } from '../../memory/receipt-redaction.ts'
import { WriteBatch } from '../../memory/write-batch.ts'
import { decideAndCommit } from '../../storage/access/optimistic-commit.ts'
import { pages } from '../../storage/access/row-pages.ts'
import type { Change } from '../../storage/store.ts'
import type { WordNarrative } from '../completions/model-tasks.ts'
import { loadAll, nextChange, type Run } from '../consolidation/consolidation-run.ts'
import type { Census } from '../consolidation/statistics.ts'
import {
  isOurs,
  isUpToDate,
  joinedNarrative,
  type NarrativeWording,
  narrativeDraft,
  narrativeSources,
  sourcesHash,
  toldFrom,
} from './narrative.ts'

/** The newest of so many important ones are chosen from. */
const FACTS_READ_MAX = 500
const NARRATIVES_MAX = 20
const ROWS_PER_PAGE = 100

export type NarratingOptions = {
  readonly word?: WordNarrative | undefined
  readonly signal: AbortSignal
}

/** How many narratives were told anew, or taken away because nothing is left to tell. */
export async function tellIdentities(
  run: Run,
  census: Census,
  options: NarratingOptions,
): Promise<number> {
  let told = 0
  for (const [user, identity] of await identitiesByUser(run, census)) {
    run.tell({ step: 'narrate', done: told, total: null })
    const home: Scope = { owner: run.scope.owner, user }
    const facts = await importantFacts(run, census, user)
    if (await tellIdentity(run, home, narrativeSources(identity, facts), options)) told++
    await nextTurn()
  }
  return told
}

/** From the census: to look for them would take as long as to read everything once more. */
async function identitiesByUser(run: Run, census: Census) {
  const byUser = new Map<UserId | null, Memory[]>()
  for (const memory of await loadInPages(run, census.identities.toReversed())) {
    const isOne = memory.category === 'identity' && STANDING.has(memory.status)
    if (!isOne || hasEnded(memory, run.now)) continue
    byUser.set(memory.place.user, [...(byUser.get(memory.place.user) ?? []), memory])
  }
  return byUser
}

const STANDING: ReadonlySet<Memory['status']> = new Set(['active', 'disabled'])

async function loadInPages(run: Run, ids: readonly MemoryId[]): Promise<readonly Memory[]> {
  const found: Memory[] = []
  for (let start = 0; start < ids.length; start += ROWS_PER_PAGE) {
    found.push(...(await loadAll(run, ids.slice(start, start + ROWS_PER_PAGE))))
    await nextTurn()
  }
  return found
}

async function tellIdentity(
  run: Run,
  home: Scope,
  sources: readonly Memory[],
  { word, signal }: NarratingOptions,
): Promise<boolean> {
  const known = await narrativesOf(run, home)
  const holder = known.find(({ status }) => status !== 'forgotten') ?? null
  if (holder !== null && !isOurs(holder)) return false
  if (sources.length === 0) return holder !== null && takeAway(run, home, holder)
  if (
    holder === null ? wasTakenBack(known, sources) : isUpToDate(holder, sources, word !== undefined)
  ) {
    return false
  }
  if (run.isDryRun) return note(run, sources, null)
  const text = await worded(sources, word, signal)
  if (holder?.content === text.content && isUpToDate(holder, sources, false)) return false
  return store(run, home, sources, text)
}

/** Those of a user that matter most, whatever they are about; which of them tell who somebody is, pure code decides. */
async function importantFacts(
  run: Run,
  census: Census,
  user: UserId | null,
): Promise<readonly Memory[]> {
  const facts = await loadInPages(run, census.tellingOf(user, FACTS_READ_MAX))
  return facts.filter(
    (fact) => fact.status === 'active' && !hasEnded(fact, run.now) && !run.binned.has(fact.id),
  )
}

async function narrativesOf({ ports }: Run, home: Scope): Promise<readonly Memory[]> {
  const { rows } = await ports.store.find('memory', home, {
    where: { key: NARRATIVE_KEY, statuses: ['active', 'disabled', 'forgotten'] },
    order: 'newest',
    limit: NARRATIVES_MAX,
  })
  return rows
}

/** Whether somebody has put into the bin what would be told again. */
function wasTakenBack(known: readonly Memory[], sources: readonly Memory[]): boolean {
  return known.some(({ metadata }) => metadata.sources === sourcesHash(sources))
}

async function worded(
  sources: readonly Memory[],
  word: WordNarrative | undefined,
  signal: AbortSignal,
): Promise<{ readonly content: string; readonly wording: NarrativeWording }> {
  const byModel = await word?.(sources, signal).catch(() => '') // rules word it instead
  if (byModel !== undefined && byModel !== '') return { content: byModel, wording: 'model' }
  return { content: joinedNarrative(sources), wording: 'rules' }
}

async function store(
  run: Run,
  home: Scope,
  sources: readonly Memory[],
  { content, wording }: { readonly content: string; readonly wording: NarrativeWording },
): Promise<boolean> {
  const { ports, now } = run
  const mark = { change: nextChange(run), now }
  const isWritten = await decideAndCommit(ports, async () => {
    const known = await narrativesOf(run, home)
    const holder = known.find(({ status }) => status !== 'forgotten')
    // A person was faster.
    if (holder !== undefined && !isOurs(holder)) return { changes: [], result: false }
    const version = (holder?.version ?? 0) + 1
    const draft = parseDraft(narrativeDraft(sources, content, wording, version), now)
    const batch = new WriteBatch(ports, home, mark)
    const decision = await batch.add(draft, { alone: true })
    if (decision.kind === 'refused') return { changes: [], result: false }
    const changes = batch.changes()
    const isErased = holder !== undefined && (await hasLostSource(run, home, holder))
    return {
      changes: isErased ? await withoutHistory(run, home, holder, changes) : changes,
      result: true,
    }
  })
  return isWritten && note(run, sources, mark.change)
}

/** Whether something that it tells was erased for good, so that nobody may read it in its history either. */
async function hasLostSource({ ports }: Run, home: Scope, holder: Memory): Promise<boolean> {
  const ids = toldFrom(holder)
  if (ids.length === 0) return false
  const { rows } = await ports.store.find('memory', home, { where: { ids }, limit: ids.length })
  return rows.length < ids.length
}

async function withoutHistory(
  { ports }: Run,
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
  const redacted = redaction(home.owner, id) // receipts cite earlier versions too
  return [...removals, redacted, ...changes.filter((change) => !isRevision(change))]
}

function isRevision(change: Change): boolean {
  return change.op === 'put' && change.table === 'revision'
}

/** Into the bin, and welcome again when there is something to tell. */
async function takeAway(run: Run, home: Scope, narrative: Memory): Promise<boolean> {
  const { ports, now, isDryRun } = run
  const { id } = narrative
  if (isDryRun) return note(run, [narrative], null)
  const change = nextChange(run)
  const isGone = await decideAndCommit(ports, async () => {
    const holder = await ports.store.get('memory', home, id)
    if (holder === null || holder.status === 'forgotten' || !isOurs(holder)) {
      return { changes: [], result: false }
    }
    const gone: Memory = {
      ...holder,
      status: 'forgotten',
      version: holder.version + 1,
      change,
      updatedAt: now,
    }
    const changes = replacing(ports, holder, gone)
    const isErased = await hasLostSource(run, home, holder)
    return {
      changes: isErased ? await withoutHistory(run, home, holder, changes) : changes,
      result: true,
    }
  })
  return isGone && note(run, [narrative], change)
}

/** Names what is told. The narrative itself is found by the change. */
function note(run: Run, told: readonly Memory[], change: Memory['change'] | null): true {
  run.actions.add({
    kind: 'narrate',
    memories: told.map(({ id }) => id),
    because: 'What is known about who the person is has changed.',
    change,
  })
  return true
}
