/**
 * Who each user is, told anew where what it is told from has changed. A narrative that a person has touched is left alone;
 * one that was forgotten, or whose making was undone, comes back only when there is something else to tell.
 */
import { parseDraft } from '../../core/draft.ts'
import {
  FACT_IMPORTANCE_MIN,
  isOurs,
  isUpToDate,
  joinedNarrative,
  NARRATIVE_KEY,
  type NarrativeWording,
  narrativeDraft,
  narrativeSources,
  sourcesHash,
  toldFrom,
} from '../../core/identity/narrative.ts'
import type { Scope, UserId } from '../../core/ids.ts'
import { hasEnded, type Memory } from '../../core/memory.ts'
import type { Change } from '../../ports/store.ts'
import { decideAndCommit, replacing } from '../changes.ts'
import type { WordNarrative } from '../models/wording.ts'
import { pages } from '../paging.ts'
import { nextTurn } from '../turns.ts'
import { WriteBatch } from '../writing-many.ts'
import { nextChange, type Run } from './run.ts'

/** The newest of so many important ones are chosen from. */
const FACTS_READ_MAX = 500
const NARRATIVES_MAX = 20

export type NarratingOptions = {
  readonly word?: WordNarrative | undefined
  readonly signal: AbortSignal
}

/** How many narratives were told anew, or taken away because nothing is left to tell. */
export async function tellIdentities(run: Run, options: NarratingOptions): Promise<number> {
  let told = 0
  for (const [user, identity] of await identitiesByUser(run)) {
    run.tell({ step: 'narrate', done: told, total: null })
    const home: Scope = { owner: run.scope.owner, user }
    if (await tellIdentity(run, home, identity, options)) told++
    await nextTurn()
  }
  return told
}

async function identitiesByUser({ ports, scope, now }: Run) {
  const byUser = new Map<UserId | null, Memory[]>()
  const { session: _, ...everywhere } = scope
  const where = { categories: ['identity'], statuses: ['active', 'disabled'] } as const
  for await (const page of pages(ports.store, 'memory', everywhere, { where })) {
    for (const memory of page.filter((each) => !hasEnded(each, now))) {
      byUser.set(memory.place.user, [...(byUser.get(memory.place.user) ?? []), memory])
    }
  }
  return byUser
}

async function tellIdentity(
  run: Run,
  home: Scope,
  identity: readonly Memory[],
  { word, signal }: NarratingOptions,
): Promise<boolean> {
  const sources = narrativeSources(identity, await importantFacts(run, home))
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
  { ports, now, binned }: Run,
  home: Scope,
): Promise<readonly Memory[]> {
  const where = { statuses: ['active'], unendedAt: now } as const
  const query = { order: 'newest', limit: FACTS_READ_MAX } as const
  const [important, pinned] = await Promise.all([
    ports.store.find('memory', home, {
      ...query,
      where: { ...where, importanceMin: FACT_IMPORTANCE_MIN },
    }),
    ports.store.find('memory', home, { ...query, where: { ...where, pinned: true } }),
  ])
  const byId = new Map([...important.rows, ...pinned.rows].map((row) => [row.id, row]))
  return [...byId.values()].filter(({ id }) => !binned.has(id))
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
  return [...removals, ...changes.filter((change) => !isRevision(change))]
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
