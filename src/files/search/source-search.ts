/**
 * Searches several sources at once. Memories, episodes and turns share one retrieval; files have their own ranking.
 * Both are merged by a relevance from 0 to 1 that is measured in the same way.
 */

import { RECALL_MEMORIES_MAX } from '../../domain/limits.ts'
import { MEMORY_CATEGORIES } from '../../domain/memory.ts'
import { parseScope, type ScopeInput } from '../../domain/scope.ts'
import { isTurnDocument } from '../../domain/search-document.ts'
import type { Settings } from '../../domain/settings/settings.ts'
import { AppError, toAppError } from '../../lib/errors.ts'
import type { RecallQuery } from '../../recall/recall-query.ts'
import type { RecalledMemory, RecallResult } from '../../recall/recall-result.ts'
import type { RecallScope } from '../../recall/recall-scope.ts'
import type { CountTokens } from '../../text/tokens.ts'
import type { FileSource } from '../file.ts'
import type { FileHit, FileSearchResult } from '../file-search.ts'
import type { Files } from '../files.ts'
import { scoreFits } from './passages.ts'

export const SEARCH_SOURCES = ['memories', 'episodes', 'transcript', 'files'] as const

export type SearchSource = (typeof SEARCH_SOURCES)[number]

export type SourceSearchQuery = RecallQuery & {
  readonly reach?: RecallScope
  readonly sources: readonly SearchSource[]
  /** File sources: notes, transcripts, or both (default). */
  readonly fileSources?: readonly FileSource[]
  /** The session that asks, see `FileQuery`. */
  readonly fileSession?: string
  /**
   * The minimum relevance of files and turns, 0 … 1; default: the setting `files.minScore`. Memories use the thresholds
   * of recall.
   */
  readonly minScore?: number
  readonly signal?: AbortSignal
}

export type SourceHit = {
  /** Relevance, 0 … 1. */
  readonly score: number
  readonly tokens: number
} & (
  | { readonly source: 'memories' | 'episodes' | 'transcript'; readonly recalled: RecalledMemory }
  | { readonly source: 'files'; readonly hit: FileHit }
)

export type SourceSearchResult = {
  /** Best first; empty when nothing is relevant. */
  readonly items: readonly SourceHit[]
  /** The recall result, where memories or episodes were searched. */
  readonly recall: RecallResult | null
  /** The file search result, where files were searched. */
  readonly files: FileSearchResult | null
  /** Sources that failed, with the reason. */
  readonly failedSources: readonly { readonly source: SearchSource; readonly reason: string }[]
}

export type SourceSearchDependencies = {
  readonly recall: (
    scope: ScopeInput,
    query: RecallQuery & { readonly reach?: RecallScope },
  ) => Promise<RecallResult>
  readonly files: Files | null
  readonly settings: Settings
  readonly countTokens: CountTokens
}

const FACTS = MEMORY_CATEGORIES.filter((category) => category !== 'episode')

export async function searchSources(
  parts: SourceSearchDependencies,
  scope: ScopeInput,
  query: SourceSearchQuery,
): Promise<SourceSearchResult> {
  const { sources, fileSources, fileSession, signal, ...options } = query
  const { minScore = parts.settings['files.minScore'] } = query
  const limit = query.limit ?? parts.settings['recall.limit']
  const wants = (source: SearchSource) => sources.includes(source)
  assertSearchableSources(query)
  const recalled = RECALLED_SOURCES.filter(wants)
  const [recollection, files] = await Promise.all([
    collectAnswers(recalled.length > 0, () =>
      parts.recall(scope, { ...options, ...limitItems(query) }),
    ),
    collectAnswers(wants('files'), () => searchFiles(parts, scope, query, { limit, minScore })),
  ])
  const unanswered = [
    ...recalled.slice(0, 1).flatMap((source) => listFailures(recollection, source)),
    ...listFailures(files, 'files'),
  ]
  // All sources failed.
  if (unanswered.length > 0 && [recollection, files].every(({ value }) => value === null)) {
    throw [recollection, files].find(({ error }) => error !== null)?.error
  }
  const items = [
    ...toRecallItems(recollection.value, query.text).filter(
      ({ source, score }) =>
        wants(source) && (source !== 'transcript' || score >= (query.minScore ?? 0)),
    ),
    ...toFileItems(parts, files.value),
  ].sort((a, b) => b.score - a.score)
  return {
    items: takeWithinTokens(items.slice(0, limit), query.tokensMax ?? Number.POSITIVE_INFINITY),
    recall: recollection.value,
    files: files.value,
    failedSources: unanswered,
  }
}

function assertSearchableSources({ sources, asOf }: SourceSearchQuery): void {
  if (sources.length === 0) {
    throw new AppError('invalid_input', '`sources` must contain at least one source.', {
      field: 'sources',
    })
  }
  if (asOf === undefined || !sources.includes('files')) return
  const message = '`asOf` must not be given with files: only their present state is indexed.'
  throw new AppError('invalid_input', message, { field: 'asOf' })
}

type SourceAnswers<Value> = { readonly value: Value | null; readonly error: AppError | null }

/** A failing source is omitted, as a failing retriever is. An invalid query fails the search. */
async function collectAnswers<Value>(
  isWanted: boolean,
  ask: () => Promise<Value>,
): Promise<SourceAnswers<Value>> {
  if (!isWanted) return { value: null, error: null }
  try {
    return { value: await ask(), error: null }
  } catch (thrown) {
    const error = toAppError(thrown)
    if (error.code === 'invalid_input' || error.code === 'cancelled') throw error
    return { value: null, error }
  }
}

function listFailures({ error }: SourceAnswers<unknown>, source: SearchSource) {
  return error === null ? [] : [{ source, reason: error.message }]
}

/** The sources of one recall in order of precedence. */
const RECALLED_SOURCES = [
  'memories',
  'episodes',
  'transcript',
] as const satisfies readonly SearchSource[]

/** Facts, episodes and turns within the limits of the query. */
function limitItems({
  sources,
  categories,
}: SourceSearchQuery): Pick<RecallQuery, 'categories' | 'include'> {
  const [facts, episodes, turns] = RECALLED_SOURCES.map((source) => sources.includes(source))
  if (!facts && !episodes) return { include: 'conversations' }
  const include = turns ? 'both' : 'facts'
  // Episodes and turns without facts are selected from a result of all kinds.
  if ((facts && episodes) || (episodes && turns)) {
    return categories === undefined ? { include } : { include, categories }
  }
  const wanted = facts ? FACTS : (['episode'] as const)
  return { include, categories: wanted.filter((each) => categories?.includes(each) ?? true) }
}

async function searchFiles(
  { files }: SourceSearchDependencies,
  scope: ScopeInput,
  { text, signal, fileSources, fileSession }: SourceSearchQuery,
  { limit, minScore }: { readonly limit: number; readonly minScore: number },
): Promise<FileSearchResult> {
  if (files === null) {
    throw new AppError(
      'missing_part',
      'Memory in files is disabled: no index location is configured.',
    )
  }
  return files.search(parseScope(scope).owner, {
    ...{ text, minScore, maxResults: Math.min(limit, RECALL_MEMORIES_MAX) },
    ...(signal === undefined ? {} : { signal }),
    ...(fileSources === undefined ? {} : { sources: fileSources }),
    ...(fileSession === undefined ? {} : { session: fileSession }),
  })
}

function toRecallItems(found: RecallResult | null, text: string): readonly SourceHit[] {
  if (found === null) return []
  const fits = scoreFits(found, text)
  return found.memories.map((recalled, index) => ({
    source: getSource(recalled),
    score: fits[index] ?? 0,
    tokens: recalled.tokens,
    recalled,
  }))
}

function getSource({ memory }: RecalledMemory): 'memories' | 'episodes' | 'transcript' {
  if (isTurnDocument(memory)) return 'transcript'
  return memory.category === 'episode' ? 'episodes' : 'memories'
}

function toFileItems(
  { countTokens }: SourceSearchDependencies,
  answer: FileSearchResult | null,
): readonly SourceHit[] {
  return (answer?.hits ?? []).map((hit) => ({
    ...{ source: 'files' as const, score: hit.score, tokens: countTokens(hit.snippet) },
    hit,
  }))
}

/** Fills the token budget, with at least the best result. */
function takeWithinTokens(items: readonly SourceHit[], tokensMax: number): readonly SourceHit[] {
  let left = tokensMax
  return items.filter(({ tokens }, place) => {
    const fits = place === 0 || tokens <= left
    if (fits) left -= tokens
    return fits
  })
}
