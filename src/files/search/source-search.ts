/**
 * A question to several sources at once. Memories, episodes and turns of conversations are one retrieval; files rank
 * their own. What both found becomes one list by how well it fits, from 0 to 1, measured in the same way.
 */

import { AppError, toAppError } from '../../domain/errors.ts'
import { RECALL_MEMORIES_MAX } from '../../domain/limits.ts'
import { MEMORY_CATEGORIES } from '../../domain/memory.ts'
import { parseScope, type ScopeInput } from '../../domain/scope.ts'
import { isTurnDocument } from '../../domain/search-document.ts'
import type { Settings } from '../../domain/settings/settings.ts'
import type { RecallQuery } from '../../recall/recall-query.ts'
import type { Recalled, Recollection } from '../../recall/recall-result.ts'
import type { Reach } from '../../recall/scope-merge.ts'
import type { CountTokens } from '../../text/tokens.ts'
import type { FileSource } from '../file.ts'
import type { FileAnswer, FileHit } from '../file-search.ts'
import type { Files } from '../files.ts'
import { fitsOf } from './passages.ts'

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
  | { readonly source: 'memories' | 'episodes' | 'transcript'; readonly recalled: Recalled }
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
  readonly files: Files | null
  readonly settings: Settings
  readonly countTokens: CountTokens
}

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
  const recalled = RECALLED_SOURCES.filter(wants)
  const [recollection, files] = await Promise.all([
    answered(recalled.length > 0, () => parts.recall(scope, { ...asked, ...narrowed(query) })),
    answered(wants('files'), () => inFiles(parts, scope, query, { limit, minScore })),
  ])
  const unanswered = [
    ...recalled.slice(0, 1).flatMap((source) => failures(recollection, source)),
    ...failures(files, 'files'),
  ]
  // Where nobody answered, that is the answer.
  if (unanswered.length > 0 && [recollection, files].every(({ value }) => value === null)) {
    throw [recollection, files].find(({ error }) => error !== null)?.error
  }
  const items = [
    ...itemsOfRecall(recollection.value, query.text).filter(
      ({ source, score }) =>
        wants(source) && (source !== 'transcript' || score >= (query.minScore ?? 0)),
    ),
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
  if (asOf === undefined || !sources.includes('files')) return
  const message = '`asOf` must not be given with files: only their present state is indexed.'
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

/** What one recall answers, in the order in which it is blamed. */
const RECALLED_SOURCES = ['memories', 'episodes', 'transcript'] as const satisfies readonly Source[]

/** Facts, episodes, turns, or several of them, within what was asked for. */
function narrowed({
  sources,
  categories,
}: SourcesQuery): Pick<RecallQuery, 'categories' | 'include'> {
  const [facts, episodes, said] = RECALLED_SOURCES.map((source) => sources.includes(source))
  if (!facts && !episodes) return { include: 'conversations' }
  const include = said ? 'both' : 'facts'
  // Episodes and turns without facts are chosen from all of them.
  if ((facts && episodes) || (episodes && said)) {
    return categories === undefined ? { include } : { include, categories }
  }
  const wanted = facts ? FACTS : (['episode'] as const)
  return { include, categories: wanted.filter((each) => categories?.includes(each) ?? true) }
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

function itemsOfRecall(found: Recollection | null, text: string): readonly FoundItem[] {
  if (found === null) return []
  const fits = fitsOf(found, text)
  return found.memories.map((recalled, index) => ({
    source: sourceOf(recalled),
    score: fits[index] ?? 0,
    tokens: recalled.tokens,
    recalled,
  }))
}

function sourceOf({ memory }: Recalled): 'memories' | 'episodes' | 'transcript' {
  if (isTurnDocument(memory)) return 'transcript'
  return memory.category === 'episode' ? 'episodes' : 'memories'
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
