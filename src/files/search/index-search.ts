/** A question to the index of files. */
import { AppError } from '../../domain/errors.ts'
import type { OwnerId } from '../../domain/ids.ts'
import { RECALL_MEMORIES_MAX } from '../../domain/limits.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Clock } from '../../lib/clock.ts'
import { diversify } from '../../recall/ranking/diversity.ts'
import type { Recollection } from '../../recall/recall-result.ts'
import { unfound } from '../../recall/retrievers.ts'
import type { Store } from '../../storage/store.ts'
import { snippetOf } from '../../text/query-snippet.ts'
import { queryTerms } from '../../text/search/terms.ts'
import { isReadable, OTHER_WRITING_SHARE, writingOf } from '../../text/writing-system.ts'
import { FILE_SOURCES, type FileSource } from '../file.ts'
import { agesFrom, decayed } from '../file-dates.ts'
import type { FileSettings } from '../file-options.ts'
import type { FileAnswer, FileHit, FileQuery } from '../file-search.ts'
import { readGenerations } from '../indexing/generations.ts'
import { TYPE_OF } from '../indexing/index-rows.ts'
import { type NamedRoot, pathOutside, type Roots } from '../roots.ts'
import { joined, type Passage, passagesOf } from './passages.ts'

export type SearchParts = {
  readonly inner: Engine
  readonly store: Store
  readonly roots: Roots
  readonly clock: Clock
  readonly settings: FileSettings
}

const RESULTS_MAX = 100

export async function searchIn(
  parts: SearchParts,
  owner: OwnerId,
  query: FileQuery,
): Promise<Omit<FileAnswer, 'backend'>> {
  const asked = parseQuery(query, parts.settings)
  const found = asked.text.trim() === '' ? null : await recalled(parts, owner, asked)
  const embedder = parts.inner.parts().embedder
  const isByMeaning = found?.legs.meaning.state === 'searched'
  const roots = new Map((await parts.roots.list(owner)).map((root) => [root.id, root]))
  return {
    hits: found === null ? [] : hitsOf(parts, found, asked, roots),
    provider: embedder?.source ?? null,
    model: embedder?.model ?? null,
    fallback:
      found === null || isByMeaning || embedder === null
        ? null
        : `Found by words alone: ${found.legs.meaning.because ?? 'there are no vectors'}`,
    mode: isByMeaning || (found === null && embedder !== null) ? 'hybrid' : 'keyword',
  }
}

type Asked = {
  readonly text: string
  readonly maxResults: number
  readonly minScore: number
  readonly sources: readonly FileSource[]
}

function parseQuery(query: FileQuery, settings: FileSettings): Asked {
  const { text, maxResults = settings.maxResults, minScore = settings.minScore } = query
  const { sources = FILE_SOURCES } = query
  if (typeof text !== 'string') throw invalid('text', 'What is looked for is text.')
  if (!Number.isInteger(maxResults) || maxResults < 1 || maxResults > RESULTS_MAX) {
    throw invalid('maxResults', `maxResults is a whole number from 1 to ${RESULTS_MAX}.`)
  }
  if (!(minScore >= 0 && minScore <= 1)) throw invalid('minScore', 'minScore is between 0 and 1.')
  if (!sources.every((source) => FILE_SOURCES.includes(source))) {
    throw invalid('sources', `sources are ${FILE_SOURCES.join(' and ')}.`)
  }
  return { text, maxResults, minScore, sources }
}

/** Always as much as there can be: what is best must not depend on how much is asked for. */
async function recalled(
  { inner, store, settings }: SearchParts,
  owner: OwnerId,
  { text, sources }: Asked,
): Promise<Recollection | null> {
  for (;;) {
    const generations = await readGenerations({ store }, owner)
    if (generations === null) return null
    const { name } = generations.live
    const found = await inner.recall(
      { owner, user: name },
      {
        text,
        limit: RECALL_MEMORIES_MAX,
        fusion: fusionFor(settings, inner, sources),
        types: sources.map((source) => TYPE_OF[source]),
        reach: 'owner',
      },
    )
    // One that was given up meanwhile may have been half removed.
    if ((await readGenerations({ store }, owner))?.live.name === name) return found
  }
}

/**
 * What stands around a hit speaks for it in conversations. In documents it does so only beside what a model finds: by words
 * alone, the pieces that have the words themselves answer more questions.
 */
function fusionFor(
  { fusion }: FileSettings,
  inner: Engine,
  sources: readonly FileSource[],
): FileSettings['fusion'] {
  const isByWords = inner.parts().embedder === null && sources.includes('memory')
  return fusion === 'adaptive' && isByWords ? 'weighted' : fusion
}

function hitsOf(
  { clock, settings }: SearchParts,
  found: Recollection,
  { text, maxResults, minScore }: Asked,
  roots: ReadonlyMap<string, NamedRoot>,
): readonly FileHit[] {
  const terms = queryTerms(text)
  const writing = writingOf(text)
  const fitting = passagesOf(found, text).flatMap((passage) => {
    const root = roots.get(passage.root)
    if (root === undefined) return [] // its root was removed, and it will be
    const path = pathOutside(root, passage.path)
    const from = agesFrom(path, passage.memory.updatedAt)
    const isRead = isReadable(writing, writingOf(passage.memory.content))
    const fit = passage.score * (isRead ? 1 : OTHER_WRITING_SHARE)
    const score = from === null ? fit : decayed(fit, clock.now() - from, settings.halfLifeDays)
    return [{ ...passage, score, told: path }]
  })
  const ranked = varied([...fitting].sort(byScore), settings.mmrLambda)
  return joined(ranked)
    .filter(({ score, isExact }) => isExact || score >= minScore)
    .slice(0, maxResults)
    .map(({ told, lineFirst, lineLast, score, source, headings, memory }) => ({
      path: told,
      startLine: lineFirst,
      endLine: lineLast,
      score: Math.round(score * 1e4) / 1e4,
      snippet: snippetOf(memory.content, terms),
      source,
      headings,
    }))
}

/** Recall's own order stands where scores are equal. */
function byScore(a: Passage, b: Passage): number {
  return b.score - a.score
}

/** Repetitions move down, if that is wanted. */
function varied<P extends Passage>(passages: readonly P[], lambda: number): readonly P[] {
  if (lambda >= 1) return passages
  const byId = new Map(passages.map((passage) => [passage.memory.id, passage]))
  const candidates = passages.map(({ memory, score }) => ({ ...unfound(memory.id), memory, score }))
  return diversify(candidates, lambda).flatMap(({ id }) => byId.get(id) ?? [])
}

function invalid(field: string, message: string): AppError {
  return new AppError('invalid_input', message, { field })
}
