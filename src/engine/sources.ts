/**
 * A question to several sources at once: memories, episodes, what was said, files. Each ranks its own; what they found
 * becomes one list by how well it fits, from 0 to 1, which is measured in the same way everywhere.
 */
import { parseScope, type ScopeInput } from '../core/draft.ts'
import { AppError, toAppError } from '../core/errors.ts'
import type { FileSource } from '../core/files/file.ts'
import { fitOfCoverage, writingOf } from '../core/files/writing.ts'
import { RECALL_MEMORIES_MAX } from '../core/limits.ts'
import { MEMORY_CATEGORIES } from '../core/memory.ts'
import type { Settings } from '../core/settings.ts'
import { indexTerms, queryTerms } from '../core/terms.ts'
import type { CountTokens } from '../core/tokens.ts'
import type { Turn } from '../core/transcript.ts'
import type { FileAnswer, FileHit } from '../ports/file-search.ts'
import { fitsOf } from './files/answering.ts'
import type { Files } from './files/files.ts'
import type { SearchTurns } from './life/transcript.ts'
import type { Recalled, RecallQuery, Recollection } from './recall.ts'
import type { FoundTurn } from './said.ts'
import type { Reach } from './shared.ts'

export const SOURCES = ['memories', 'episodes', 'transcript', 'files'] as const
export type Source = (typeof SOURCES)[number]

export type SourcesQuery = RecallQuery & {
  readonly reach?: Reach
  readonly sources: readonly Source[]
  /** Of files: notes, transcripts, or both, which is the default. */
  readonly fileSources?: readonly FileSource[]
  /** What files and what was said must reach, 0 … 1; default: the setting `fileMinScore`. Memories have floors of their own. */
  readonly minScore?: number
  readonly signal?: AbortSignal
}

export type FoundItem = {
  /** 0 … 1: how well it fits. */
  readonly score: number
  readonly tokens: number
} & (
  | { readonly source: 'memories' | 'episodes'; readonly recalled: Recalled }
  | { readonly source: 'transcript'; readonly turn: Turn }
  | { readonly source: 'files'; readonly hit: FileHit }
)

export type Together = {
  /** Best first; none when nothing fits. */
  readonly items: readonly FoundItem[]
  /** What recall said, where memories or episodes were asked for and answered. */
  readonly recollection: Recollection | null
  /** What the search in files said, where they were asked for and answered. */
  readonly files: FileAnswer | null
  /** Sources that could not answer, and why. */
  readonly unanswered: readonly { readonly source: Source; readonly because: string }[]
}

export type SourcesParts = {
  readonly recall: (
    scope: ScopeInput,
    query: RecallQuery & { readonly reach?: Reach },
  ) => Promise<Recollection>
  readonly searchTurns: (scope: ScopeInput, query: SearchTurns) => Promise<readonly FoundTurn[]>
  readonly files: Files | null
  readonly settings: Settings
  readonly countTokens: CountTokens
}

const DAYS_MAX = 36_500
const FACTS = MEMORY_CATEGORIES.filter((category) => category !== 'episode')

export async function searchSources(
  parts: SourcesParts,
  scope: ScopeInput,
  query: SourcesQuery,
): Promise<Together> {
  const { sources, fileSources, signal, ...asked } = query
  const { minScore = parts.settings.fileMinScore } = query
  const limit = query.limit ?? parts.settings.recallLimit
  const wants = (source: Source) => sources.includes(source)
  refuseImpossible(query)
  const fromMemory = wants('memories') || wants('episodes')
  const [recollection, said, files] = await Promise.all([
    answered(fromMemory, () => parts.recall(scope, { ...asked, ...categoriesOf(query) })),
    answered(wants('transcript'), () =>
      parts.searchTurns(scope, { text: query.text, limit, days: DAYS_MAX }),
    ),
    answered(wants('files'), () => inFiles(parts, scope, query, { limit, minScore })),
  ])
  const unanswered = [
    ...failures(recollection, wants('memories') ? 'memories' : 'episodes'),
    ...failures(said, 'transcript'),
    ...failures(files, 'files'),
  ]
  // Where nobody answered, that is the answer.
  if (unanswered.length > 0 && [recollection, said, files].every(({ value }) => value === null)) {
    throw [recollection, said, files].find(({ error }) => error !== null)?.error
  }
  const items = [
    ...itemsOfMemory(recollection.value, query.text),
    ...itemsOfTurns(parts, query.text, said.value ?? [], minScore),
    ...itemsOfFiles(parts, files.value),
  ].sort((a, b) => b.score - a.score)
  return {
    items: withinTokens(items.slice(0, limit), query.tokensMax ?? Number.POSITIVE_INFINITY),
    recollection: recollection.value,
    files: files.value,
    unanswered,
  }
}

function refuseImpossible({ sources, asOf }: SourcesQuery): void {
  if (sources.length === 0) {
    throw new AppError('invalid_input', 'Which sources? Name at least one.', { field: 'sources' })
  }
  const isOfToday = sources.includes('files') || sources.includes('transcript')
  if (asOf === undefined || !isOfToday) return
  const message = 'Only memories and episodes are known as they were at an earlier time.'
  throw new AppError('invalid_input', message, { field: 'asOf' })
}

type Answered<Value> = { readonly value: Value | null; readonly error: AppError | null }

/** A source that fails is missing, as a leg of recall is. A question that is wrong is wrong for all. */
async function answered<Value>(
  isWanted: boolean,
  ask: () => Promise<Value>,
): Promise<Answered<Value>> {
  if (!isWanted) return { value: null, error: null }
  try {
    return { value: await ask(), error: null }
  } catch (thrown) {
    const error = toAppError(thrown)
    if (error.code === 'invalid_input' || error.code === 'cancelled') throw error
    return { value: null, error }
  }
}

function failures({ error }: Answered<unknown>, source: Source) {
  return error === null ? [] : [{ source, because: error.message }]
}

/** Facts, episodes, or both, within what was asked for. */
function categoriesOf({ sources, categories }: SourcesQuery): Pick<RecallQuery, 'categories'> {
  const [facts, episodes] = [sources.includes('memories'), sources.includes('episodes')]
  if (facts && episodes) return categories === undefined ? {} : { categories }
  const wanted = facts ? FACTS : (['episode'] as const)
  return { categories: wanted.filter((each) => categories?.includes(each) ?? true) }
}

async function inFiles(
  { files }: SourcesParts,
  scope: ScopeInput,
  { text, signal, fileSources }: SourcesQuery,
  { limit, minScore }: { readonly limit: number; readonly minScore: number },
): Promise<FileAnswer> {
  if (files === null) {
    throw new AppError('missing_part', 'There is no place here for an index of files.')
  }
  return files.search(parseScope(scope).owner, {
    ...{ text, minScore, maxResults: Math.min(limit, RECALL_MEMORIES_MAX) },
    ...(signal === undefined ? {} : { signal }),
    ...(fileSources === undefined ? {} : { sources: fileSources }),
  })
}

function itemsOfMemory(found: Recollection | null, text: string): readonly FoundItem[] {
  if (found === null) return []
  const fits = fitsOf(found, text)
  return found.memories.map((recalled, index) => ({
    source: recalled.memory.category === 'episode' ? 'episodes' : 'memories',
    score: fits[index] ?? 0,
    tokens: recalled.tokens,
    recalled,
  }))
}

/** They are found by words alone: how many of the question's words the best has says how well all fit. */
function itemsOfTurns(
  { countTokens }: SourcesParts,
  text: string,
  said: readonly FoundTurn[],
  minScore: number,
): readonly FoundItem[] {
  const terms = queryTerms(text)
  const covers = said.map(({ turn }) => coverage(terms, turn.content))
  const best = Math.max(0, ...said.map(({ score }) => score))
  const fit = fitOfCoverage(Math.max(0, ...covers), writingOf(text))
  return said.flatMap(({ turn, score: strength }, index) => {
    const score = best > 0 ? fit * (strength / best) : 0
    if (score < minScore && covers[index] !== 1) return []
    return [{ source: 'transcript' as const, score, tokens: countTokens(turn.content), turn }]
  })
}

function coverage(terms: readonly string[], content: string): number {
  if (terms.length === 0) return 0
  const held = new Set(indexTerms(content))
  return terms.filter((term) => held.has(term)).length / terms.length
}

function itemsOfFiles(
  { countTokens }: SourcesParts,
  answer: FileAnswer | null,
): readonly FoundItem[] {
  return (answer?.hits ?? []).map((hit) => ({
    ...{ source: 'files' as const, score: hit.score, tokens: countTokens(hit.snippet) },
    hit,
  }))
}

/** As many as there is room for, and at least the best. */
function withinTokens(items: readonly FoundItem[], tokensMax: number): readonly FoundItem[] {
  let left = tokensMax
  return items.filter(({ tokens }, place) => {
    const fits = place === 0 || tokens <= left
    if (fits) left -= tokens
    return fits
  })
}
