/**
 * Summarization: old memories of a user, or those beyond a token budget, are superseded by one summary. The change can be
 * undone. A model writes the summary; rules are the fallback.
 */

import { parseInteger } from '../../domain/field-parsers.ts'
import type { UserId } from '../../domain/ids.ts'
import { CONTENT_CHARACTERS_MAX } from '../../domain/limits.ts'
import type { Memory } from '../../domain/memory.ts'
import type { Scope } from '../../domain/scope.ts'
import { yieldToEventLoop } from '../../lib/event-loop.ts'
import { addMs, DAY_MS, type Instant } from '../../lib/time.ts'

import { buildReplacement } from '../../memory/memory-changes.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import { createChangeStamp } from '../../storage/access/optimistic-commit.ts'
import { pages } from '../../storage/access/row-pages.ts'
import type { Change } from '../../storage/store.ts'
import { type CountTokens, estimateTokens } from '../../text/tokens.ts'
import { buildAbsorbed } from '../consolidation/merging/merge-decision.ts'
import {
  buildSummaryMemory,
  condenseMemories,
  groupForSummary,
  isSummarizable,
  type SummaryDraft,
} from './summary.ts'

/** Summarizes memories of one user. May fail. */
export type WriteSummary = (request: {
  readonly memories: readonly Memory[]
  /** The rule-based summary. */
  readonly condensed: string
  readonly tokensMax: number
  readonly signal?: AbortSignal
}) => Promise<string>

export type SummarizeOptions = {
  /** 1 to 365; default 30, unless `maxTokens` is given. */
  readonly olderThanDays?: number
  /** 1 to 1,000,000: the newest memories of each user that fit into this budget stay as they are. */
  readonly maxTokens?: number
  readonly dryRun?: boolean
  readonly writeSummary?: WriteSummary
}

export type SummarizeResult = {
  readonly candidates: readonly Memory[]
  readonly totalTokens: number
  /** The saved tokens; in a dry run, with rule-based summaries. */
  readonly tokensSaved: number
  readonly superseded: number
  readonly summaries: readonly Memory[]
  /** The author of the summaries, `both` when a model failed on some; null without summaries. */
  readonly wording: SummaryDraft['wording'] | 'both' | null
}

const DAYS_DEFAULT = 30
const DAYS_MAX = 365
const TOKENS_DEFAULT = 4_000
const TOKENS_MAX = 1_000_000

/** The number of memories per call, oldest first. */
const MEMORIES_MAX = 500

type SummaryWrite = Pick<SummaryDraft, 'wording'> & {
  readonly group: readonly Memory[]
  readonly summary: Memory
}

/** Keeps the newest memories that fit into the budget and summarizes the rest. */
export function summarizeMemories(
  ports: MemoryDependencies,
  scope: Scope,
  { maxTokens = TOKENS_DEFAULT, ...options }: Omit<SummarizeOptions, 'olderThanDays'> = {},
): Promise<SummarizeResult> {
  return summarize(ports, scope, { ...options, maxTokens })
}

/** Summarizes memories by age, by budget, or by both. */
export async function summarize(
  ports: MemoryDependencies,
  scope: Scope,
  options: SummarizeOptions,
): Promise<SummarizeResult> {
  const { olderThanDays, maxTokens, dryRun = false, writeSummary: word } = validateOptions(options)
  const mark = createChangeStamp(ports)
  const count = ports.countTokens ?? estimateTokens
  const before = olderThanDays === null ? null : addMs(mark.now, -olderThanDays * DAY_MS)
  const tokensOf = (contents: readonly string[]) =>
    contents.reduce((sum, content) => sum + count(content), 0)
  const contentsOf = (group: readonly Memory[]) => tokensOf(group.map(({ content }) => content))
  // The length of a model's summary is unknown in advance.
  const mayShrink = (group: readonly Memory[]) =>
    word !== undefined || count(condenseMemories(group)) < contentsOf(group)
  const found = await findCandidates(ports, scope, {
    ...{ before, maxTokens, now: mark.now, count },
    isWorth: (memory) => isSummarizable(memory) && mayShrink([memory]),
  })
  const groups = groupForSummary(found).filter(mayShrink)
  const candidates = groups.flat()
  const totalTokens = contentsOf(candidates)
  const done: SummaryWrite[] = []
  for (const group of dryRun ? [] : groups) {
    const worded = await writeWording(group, word, count)
    if (count(worded.content) >= contentsOf(group)) continue // not shorter
    const id = ports.ids.next('mem', mark.now)
    const summary = buildSummaryMemory(
      group,
      { id, place: getSummaryPlace(group, scope), ...worded },
      mark,
    )
    // A group that changed in the meantime waits for the next call.
    if (await supersedeAll(ports, group, summary)) done.push({ group, summary, ...worded })
    await yieldToEventLoop()
  }
  const contents = dryRun
    ? groups.map(condenseMemories)
    : done.map(({ summary }) => summary.content)
  const replaced = dryRun ? candidates : done.flatMap(({ group }) => group)
  return {
    candidates,
    totalTokens,
    tokensSaved: Math.max(0, contentsOf(replaced) - tokensOf(contents)),
    superseded: dryRun ? 0 : replaced.length,
    summaries: done.map(({ summary }) => summary),
    wording: combineWording(done.map(({ wording }) => wording)),
  }
}

function combineWording(wordings: readonly SummaryDraft['wording'][]): SummarizeResult['wording'] {
  const [first = null, ...others] = new Set(wordings)
  return others.length === 0 ? first : 'both'
}

function validateOptions({ olderThanDays, maxTokens, ...rest }: SummarizeOptions) {
  const days = olderThanDays ?? (maxTokens === undefined ? DAYS_DEFAULT : null)
  if (days !== null) parseInteger('olderThanDays', days, 1, DAYS_MAX)
  if (maxTokens !== undefined) parseInteger('maxTokens', maxTokens, 1, TOKENS_MAX)
  return { ...rest, olderThanDays: days, maxTokens: maxTokens ?? 0 }
}

type CandidateSearch = {
  readonly before: Instant | null
  /** 0: no budget. */
  readonly maxTokens: number
  readonly now: Instant
  readonly count: CountTokens
  /** Whether a summary could be shorter. Other memories count against the budget and stay. */
  readonly isWorth: (memory: Memory) => boolean
}

/** Oldest first, limited to one call. */
async function findCandidates(
  { store }: MemoryDependencies,
  scope: Scope,
  { before, maxTokens, now, count, isWorth }: CandidateSearch,
): Promise<readonly Memory[]> {
  const found: Memory[] = []
  const taken = new Map<UserId | null, number>()
  const doesFit = ({ place: { user }, content }: Memory) => {
    const tokens = (taken.get(user) ?? 0) + count(content)
    taken.set(user, tokens)
    return tokens <= maxTokens
  }
  const where = { statuses: ['active'], pinned: false, validAt: now } as const
  if (maxTokens === 0) {
    const old = { ...where, ...(before === null ? {} : { createdBefore: before }) }
    for await (const page of pages(store, 'memory', scope, { where: old, order: 'oldest' })) {
      found.push(...page.filter(isWorth))
      if (found.length >= MEMORIES_MAX) break
    }
    return found.slice(0, MEMORIES_MAX)
  }
  for await (const page of pages(store, 'memory', scope, { where, order: 'newest' })) {
    const surplus = page.filter((memory) => isSummarizable(memory) && !doesFit(memory))
    const old = surplus.filter(({ createdAt }) => before === null || createdAt < before)
    found.push(...old.filter(isWorth))
    found.splice(0, Math.max(0, found.length - MEMORIES_MAX))
  }
  return found.reverse()
}

/** Keeps the session of the scope, so that a search there finds the summary. */
function getSummaryPlace(
  group: readonly Memory[],
  { owner, session }: Scope,
): SummaryDraft['place'] {
  return { owner, user: group[0]?.place.user ?? null, session: session ?? null }
}

/** Uses the model's summary if it is shorter than its sources, else the rule-based one. */
async function writeWording(
  group: readonly Memory[],
  word: WriteSummary | undefined,
  count: CountTokens,
): Promise<Pick<SummaryDraft, 'content' | 'wording'>> {
  const byRules = condenseMemories(group)
  if (word !== undefined) {
    const tokensMax = group.reduce((sum, { content }) => sum + count(content), 0)
    const text = await word({ memories: group, condensed: byRules, tokensMax })
      .then((answer) => answer.trim())
      .catch(() => '') // rules are the fallback
    if (text !== '' && text.length <= CONTENT_CHARACTERS_MAX && count(text) < tokensMax) {
      return { content: text, wording: 'model' }
    }
  }
  return { content: byRules, wording: 'rules' }
}

async function supersedeAll(
  ports: MemoryDependencies,
  group: readonly Memory[],
  summary: Memory,
): Promise<boolean> {
  const mark = { change: summary.change, now: summary.updatedAt }
  const changes = [
    { op: 'put', table: 'memory', row: summary, expect: 'absent' } satisfies Change,
    ...group.flatMap((memory) =>
      buildReplacement(ports, memory, buildAbsorbed(memory, summary.id, mark)),
    ),
  ]
  return (await ports.store.commit(changes)).kind === 'committed'
}
