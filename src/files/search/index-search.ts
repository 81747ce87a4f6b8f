/** Searches the file index. */

import { parseInteger, parseNumber, parseText } from '../../domain/field-parsers.ts'
import type { OwnerId } from '../../domain/ids.ts'
import { RECALL_MEMORIES_MAX } from '../../domain/limits.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { createEmptyCandidate } from '../../recall/ranking/candidate.ts'
import { diversifyCandidates } from '../../recall/ranking/diversity.ts'
import type { RecallResult } from '../../recall/recall-result.ts'
import type { Store } from '../../storage/store.ts'
import { extractFileSnippet } from '../../text/query-snippet.ts'
import { extractQueryTerms } from '../../text/search/terms.ts'
import {
  detectWritingSystem,
  isReadableFrom,
  OTHER_SCRIPT_WEIGHT,
} from '../../text/writing-system.ts'
import { FILE_SOURCES, type FileSource } from '../file.ts'
import type { FileOptions } from '../file-options.ts'
import type { FileHit, FileQuery, FileSearchResult } from '../file-search.ts'
import { readGenerations } from '../indexing/generations.ts'
import type { IndexEngine } from '../indexing/index-engine.ts'
import { MEMORY_TYPE_BY_SOURCE } from '../indexing/index-rows.ts'
import { type NamedRoot, type Roots, toDisplayPath } from '../roots.ts'
import { decayScore, getAgeReference } from './file-dates.ts'
import { mergeAdjacentPassages, type Passage, toPassages } from './passages.ts'

export type IndexSearchDependencies = {
  readonly inner: IndexEngine
  readonly store: Store
  readonly roots: Roots
  readonly clock: Clock
  readonly settings: FileOptions
}

const RESULTS_MAX = 100
const CANDIDATES_MAX = 200

export async function searchIndex(
  parts: IndexSearchDependencies,
  owner: OwnerId,
  query: FileQuery,
): Promise<Omit<FileSearchResult, 'backend'>> {
  const parsed = parseQuery(query, parts.settings)
  const found = parsed.text.trim() === '' ? null : await recallChunks(parts, owner, parsed)
  const embedder = parts.inner.getEmbedder()
  const isByMeaning = found?.retrievers.vector.state === 'searched'
  const roots = new Map((await parts.roots.list(owner)).map((root) => [root.id, root]))
  return {
    hits: found === null ? [] : toHits(parts, found, parsed, roots),
    provider: embedder?.source ?? null,
    model: embedder?.model ?? null,
    fallbackReason:
      found === null || isByMeaning || embedder === null
        ? null
        : `Lexical search only: ${found.retrievers.vector.reason ?? 'there are no vectors'}`,
    mode: isByMeaning || (found === null && embedder !== null) ? 'hybrid' : 'keyword',
  }
}

type ParsedFileQuery = {
  readonly text: string
  readonly maxResults: number
  readonly minScore: number
  readonly sources: readonly FileSource[]
}

function parseQuery(query: FileQuery, settings: FileOptions): ParsedFileQuery {
  const { text, maxResults = settings.maxResults, minScore = settings.minScore } = query
  const { sources = FILE_SOURCES } = query
  parseText('text', text)
  parseInteger('maxResults', maxResults, 1, RESULTS_MAX)
  parseNumber('minScore', minScore, 0, 1)
  if (!sources.every((source) => FILE_SOURCES.includes(source))) {
    throw invalid('sources', `sources are ${FILE_SOURCES.join(' and ')}.`)
  }
  return { text, maxResults, minScore, sources }
}

/** Independent of the limit by default, because the ranking must not depend on it. */
async function recallChunks(
  { inner, store, settings }: IndexSearchDependencies,
  owner: OwnerId,
  { text, sources, maxResults }: ParsedFileQuery,
): Promise<RecallResult | null> {
  const { candidateMultiplier } = settings
  const wanted = Math.max(1, Math.floor(maxResults * candidateMultiplier))
  const limit = candidateMultiplier === 0 ? RECALL_MEMORIES_MAX : Math.min(CANDIDATES_MAX, wanted)
  for (;;) {
    const generations = await readGenerations({ store }, owner)
    if (generations === null) return null
    const { name } = generations.live
    const found = await inner.recall(
      { owner, user: name },
      {
        text,
        limit: Math.min(limit, RECALL_MEMORIES_MAX),
        fusion: selectFusion(settings, inner, sources),
        types: sources.map((source) => MEMORY_TYPE_BY_SOURCE[source]),
      },
    )
    // An abandoned generation may be partially removed.
    if ((await readGenerations({ store }, owner))?.live.name === name) return found
  }
}

/**
 * Neighbors support a hit in conversations. In documents they help only vector search: in lexical search, the chunks
 * that contain the terms answer more questions.
 */
function selectFusion(
  { fusion }: FileOptions,
  inner: IndexEngine,
  sources: readonly FileSource[],
): FileOptions['fusion'] {
  const isByWords = inner.getEmbedder() === null && sources.includes('memory')
  return fusion === 'adaptive' && isByWords ? 'weighted' : fusion
}

function toHits(
  { clock, settings }: IndexSearchDependencies,
  found: RecallResult,
  { text, maxResults, minScore }: ParsedFileQuery,
  roots: ReadonlyMap<string, NamedRoot>,
): readonly FileHit[] {
  const terms = extractQueryTerms(text)
  const writing = detectWritingSystem(text)
  const fitting = toPassages(found, text).flatMap((passage) => {
    const root = roots.get(passage.root)
    if (root === undefined) return [] // its root was removed; its chunks will be
    const path = toDisplayPath(root, passage.path)
    const from = getAgeReference(path, passage.memory.updatedAt)
    const isRead = isReadableFrom(writing, detectWritingSystem(passage.memory.content))
    const fit = passage.score * (isRead ? 1 : OTHER_SCRIPT_WEIGHT)
    const score = from === null ? fit : decayScore(fit, clock.now() - from, settings.halfLifeDays)
    return [{ ...passage, score, resultPath: path }]
  })
  const ranked = diversifyHits([...fitting].sort(compareByScore), settings.mmrLambda)
  return mergeAdjacentPassages(ranked)
    .filter(({ score, isExact }) => isExact || score >= minScore)
    .slice(0, maxResults)
    .map(({ resultPath, lineFirst, lineLast, score, source, headings, memory }) => ({
      path: resultPath,
      startLine: lineFirst,
      endLine: lineLast,
      score: Math.round(score * 1e4) / 1e4,
      snippet: extractFileSnippet(memory.content, terms),
      source,
      headings,
    }))
}

/** Recall's order breaks ties. */
function compareByScore(a: Passage, b: Passage): number {
  return b.score - a.score
}

/** Moves near duplicates down, if configured. */
function diversifyHits<P extends Passage>(passages: readonly P[], lambda: number): readonly P[] {
  if (lambda >= 1) return passages
  const byId = new Map(passages.map((passage) => [passage.memory.id, passage]))
  const candidates = passages.map(({ memory, score }) => ({
    ...createEmptyCandidate(memory.id),
    memory,
    score,
  }))
  return diversifyCandidates(candidates, lambda).flatMap(({ id }) => byId.get(id) ?? [])
}

function invalid(field: string, message: string): AppError {
  return new AppError('invalid_input', message, { field })
}
