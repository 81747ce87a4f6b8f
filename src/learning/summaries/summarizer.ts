/**
 * Summarizing: old memories of a user, or those that no longer fit, become lines of one memory and give way to it.
 * Nothing is lost: they are superseded, not removed, and the change can be undone. A model may word the summary; rules
 * do where there is none, or where it fails.
 */

import type { UserId } from '../../domain/ids.ts'
import { CONTENT_CHARACTERS_MAX } from '../../domain/limits.ts'
import type { Memory } from '../../domain/memory.ts'
import type { Scope } from '../../domain/scope.ts'
import { AppError } from '../../lib/errors.ts'
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

/** Puts what memories of one user say into words. It may fail. */
export type WriteSummary = (request: {
  readonly memories: readonly Memory[]
  /** What rules made of them. */
  readonly condensed: string
  readonly tokensMax: number
  readonly signal?: AbortSignal
}) => Promise<string>

export type SummarizeOptions = {
  /** 1 to 365; default 30, unless `maxTokens` is given. */
  readonly olderThanDays?: number
  /** 1 to 1,000,000: of each user, the newest that fit into so many tokens are kept as they are. */
  readonly maxTokens?: number
  readonly dryRun?: boolean
  readonly writeSummary?: WriteSummary
}

export type SummarizeResult = {
  readonly candidates: readonly Memory[]
  readonly totalTokens: number
  /** How many tokens fewer the summaries take. In a dry run, as rules would word them. */
  readonly tokensSaved: number
  readonly superseded: number
  readonly summaries: readonly Memory[]
  /** Who worded them, `both` where a model failed on some; null where there are none. */
  readonly wording: SummaryDraft['wording'] | 'both' | null
}

const DAYS_DEFAULT = 30
const DAYS_MAX = 365
const TOKENS_DEFAULT = 4_000
const TOKENS_MAX = 1_000_000

/** Of one call, the oldest; another call takes the next ones. */
const MEMORIES_MAX = 500

type SummaryWrite = Pick<SummaryDraft, 'wording'> & {
  readonly group: readonly Memory[]
  readonly summary: Memory
}

/** Keeps of each user, or of one session, the newest memories that fit, and summarizes the rest. */
export function summarizeMemories(
  ports: MemoryDependencies,
  scope: Scope,
  { maxTokens = TOKENS_DEFAULT, ...options }: Omit<SummarizeOptions, 'olderThanDays'> = {},
): Promise<SummarizeResult> {
  return summarize(ports, scope, { ...options, maxTokens })
}

/** Summarizes what is older than some days, does not fit into some tokens, or both where both are given. */
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
  // What a model makes of them is not known before it is asked.
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
    if (count(worded.content) >= contentsOf(group)) continue // nothing would be won
    const id = ports.ids.next('mem', mark.now)
    const summary = buildSummaryMemory(
      group,
      { id, place: getSummaryPlace(group, scope), ...worded },
      mark,
    )
    // Somebody changed one of them meanwhile: these wait for the next call.
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
  if (days !== null) checkRange('olderThanDays', days, DAYS_MAX)
  if (maxTokens !== undefined) checkRange('maxTokens', maxTokens, TOKENS_MAX)
  return { ...rest, olderThanDays: days, maxTokens: maxTokens ?? 0 }
}

function checkRange(field: string, value: number, max: number): void {
  if (Number.isInteger(value) && value >= 1 && value <= max) return
  throw new AppError('invalid_input', `${field} is a whole number from 1 to ${max}.`, { field })
}

type CandidateSearch = {
  readonly before: Instant | null
  /** 0: none has to fit. */
  readonly maxTokens: number
  readonly now: Instant
  readonly count: CountTokens
  /** Whether a summary of it could be shorter. The others take their room, and stay as they are. */
  readonly isWorth: (memory: Memory) => boolean
}

/** Oldest first, and no more than the oldest of one call. */
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

/** Of a session when only that was asked about, so that whoever asks there finds it. */
function getSummaryPlace(
  group: readonly Memory[],
  { owner, session }: Scope,
): SummaryDraft['place'] {
  return { owner, user: group[0]?.place.user ?? null, session: session ?? null }
}

/** A model's words, if it has any that are shorter than what they are about; else those of rules. */
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
      .catch(() => '') // rules word it instead
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
