/**
 * FileSearch by the program `qmd`, which keeps an index of its own. Its hits are looked up in the files themselves before
 * they are told: what is not there any more, or would not be told by the built-in search, is left out.
 */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseInteger, parseNumber, parseText } from '../../domain/field-parsers.ts'
import type { OwnerId } from '../../domain/ids.ts'
import { raceAbort } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { sha256 } from '../../lib/hash.ts'
import { resolvesWithin, runWithTimeout } from '../../lib/timeout.ts'
import { indexLines, sliceLines } from '../../text/lines.ts'
import { parseMarkdownStructure } from '../../text/markdown/markdown-structure.ts'
import { extractFileSnippet } from '../../text/query-snippet.ts'
import { extractQueryTerms, extractTerms } from '../../text/search/terms.ts'
import { FILE_SOURCES, type FileSource } from '../file.ts'
import type {
  FileHit,
  FileQuery,
  FileSearch,
  FileSearchResult,
  FileStatus,
  ProbeResult,
} from '../file-search.ts'
import type { FileTree } from '../file-tree.ts'
import { type QmdCollection, type QmdRoot, resolveCollectionFile } from './qmd-collections.ts'
import { findFilesByDocumentId } from './qmd-document-ids.ts'
import { isNoResultsOutput, isUnknownOptionError, parseHits, type QmdHit } from './qmd-output.ts'
import { QMD_TIMEOUTS, QmdOwnerIndex, type QmdTimeouts, toQmdError } from './qmd-owner-index.ts'
import { buildSearchArguments, type QmdMode, toPlainQuery } from './qmd-query.ts'

export type QmdSearchDependencies = {
  readonly clock: Clock
  readonly tree: Pick<FileTree, 'scan'>
  readonly listRoots: (owner: OwnerId) => Promise<readonly QmdRoot[]>
  /** What holds where a question says nothing else. */
  readonly loadDefaults: (owner: OwnerId) => Promise<QmdDefaults>
  /** How a file of a root is called in results. */
  readonly toExternalPath: (root: QmdRoot, path: string) => string
  /** Reading needs no index: the fences are the same whoever searches. */
  readonly readFile: FileSearch['readFile']
  readonly scheduleEvery: (ms: number, work: () => void) => () => void
}

export type QmdDefaults = { readonly maxResults: number; readonly minScore: number }

export type QmdOptions = {
  /** Everything that is kept for owners; not for encrypted data, as `qmd` keeps the texts as they are. */
  readonly stateFolder: string
  /** The program, and arguments that come before all others. Default: `qmd`. */
  readonly command?: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Default: `search`, which needs no models. */
  readonly mode?: QmdMode
  readonly modelFolder?: string
  readonly times?: Partial<QmdTimeouts>
}

const BACKEND = 'qmd'
const RESULTS_MAX = 100

/** Some hits turn out to be none; more are asked for than told. */
const ASKED_FACTOR = 3
const MARKDOWN = /\.(?:md|markdown|mdx)$/i

type ParsedFileQuery = {
  readonly text: string
  readonly maxResults: number
  readonly minScore: number
  readonly sources: readonly FileSource[]
  readonly signal: AbortSignal | undefined
}

export type QmdFileSearch = FileSearch & {
  /** Notes that something was written to an owner's files: the next question has them looked at first. */
  touch(owner: OwnerId): void
  /** Removes all that is kept of an owner's files. */
  forget(owner: OwnerId): Promise<void>
}

export function openQmdFileSearch(
  parts: QmdSearchDependencies,
  options: QmdOptions,
): QmdFileSearch {
  const times = { ...QMD_TIMEOUTS, ...options.times }
  const mode = options.mode ?? 'search'
  const indexes = new Map<OwnerId, { readonly index: QmdOwnerIndex; readonly stop: () => void }>()
  /** Set once the program turns out not to know how it was asked. */
  let modeKnown: QmdMode = mode

  function homeOf(owner: OwnerId): string {
    return join(options.stateFolder, homeName(owner))
  }

  function indexOf(owner: OwnerId): QmdOwnerIndex {
    const known = indexes.get(owner)
    if (known !== undefined) return known.index
    const index = new QmdOwnerIndex({
      clock: parts.clock,
      program: { command: options.command ?? ['qmd'], environment: options.environment },
      timeouts: times,
      home: homeOf(owner),
      modelFolder: mode === 'search' ? null : (options.modelFolder ?? null),
      isEmbeddingEnabled: mode !== 'search',
      roots: () => parts.listRoots(owner),
      scan: (root) => parts.tree.scan(root),
      read: async (root, path) => {
        const { text, reason } = await parts.readFile(owner, parts.toExternalPath(root, path))
        return reason === null ? text : null
      },
    })
    const stop = parts.scheduleEvery(times.updateEveryMs, () =>
      index.updateIfOlderThan(times.updateGapMs),
    )
    indexes.set(owner, { index, stop })
    return index
  }

  async function ask(
    index: QmdOwnerIndex,
    query: string,
    limit: number,
    collections: readonly QmdCollection[],
    signal: AbortSignal | undefined,
  ): Promise<readonly QmdHit[]> {
    const args = buildSearchArguments(modeKnown, query, limit, collections)
    const ended = await index.call(args, times.searchMs, signal)
    if (ended.exitCode === 0) return parseHits(ended.stdout)
    const said = `${ended.stdout}\n${ended.stderr}`
    if (isNoResultsOutput(said)) return []
    if (modeKnown === 'query' || !isUnknownOptionError(said)) throw toQmdError(ended)
    modeKnown = 'query'
    return ask(index, query, limit, collections, signal)
  }

  async function search(owner: OwnerId, given: FileQuery): Promise<FileSearchResult> {
    const asked = parseQuery(given, await parts.loadDefaults(owner))
    const query = toPlainQuery(asked.text, modeKnown)
    if (query === '') return answer([])
    const index = indexOf(owner)
    const collections = await raceAbort(
      withBusyTimeout(times.searchMs, index.prepare()),
      asked.signal,
    )
    const searched = collections.filter(({ source }) => asked.sources.includes(source))
    if (searched.length === 0) return answer([])
    index.updateIfOlderThan(times.updateEveryMs)
    if (index.updating) await resolvesWithin(times.waitMs, index.updating).catch(() => {})
    const limit = Math.min(RESULTS_MAX, asked.maxResults * ASKED_FACTOR)
    const printed = await ask(index, query, limit, searched, asked.signal)
    return answer(await told(owner, index, searched, printed, asked))
  }

  async function told(
    owner: OwnerId,
    index: QmdOwnerIndex,
    collections: readonly QmdCollection[],
    printed: readonly QmdHit[],
    { text, maxResults, minScore }: ParsedFileQuery,
  ): Promise<readonly FileHit[]> {
    const docids = printed.flatMap(({ file, documentId: docid }) =>
      file === null && docid ? [docid] : [],
    )
    const named = await findFilesByDocumentId(index.home, docids)
    const terms = extractQueryTerms(text)
    const hits = new Map<string, FileHit>()
    for (const one of [...printed].sort((a, b) => b.score - a.score)) {
      if (hits.size === maxResults) break
      const file = one.file ?? named.get(one.documentId ?? '')
      const found = file === undefined ? null : resolveCollectionFile(collections, file)
      if (found === null || !index.isIndexedFile(found.collection.root.id, found.path)) continue
      const path = parts.toExternalPath(found.collection.root, found.path)
      const whole = await parts.readFile(owner, path)
      if (hits.has(path) || whole.reason !== null) continue
      const { lineFirst, lineLast } = clamp(one, indexLines(whole.text).count)
      const lines = sliceLines(whole.text, lineFirst, lineLast - lineFirst + 1)
      // By words, it finds only what holds all of them.
      const isExact = modeKnown === 'search' || hasAllTerms(lines, terms)
      if (!isExact && one.score < minScore) continue
      hits.set(path, {
        path,
        startLine: lineFirst,
        endLine: lineLast,
        score: one.score,
        snippet: extractFileSnippet(lines, terms),
        source: found.collection.source,
        headings: headingsAt(path, whole.text, lineFirst),
      })
    }
    return [...hits.values()]
  }

  function answer(hits: readonly FileHit[]): FileSearchResult {
    const isByWords = modeKnown === 'search'
    return {
      hits,
      backend: BACKEND,
      provider: isByWords ? null : BACKEND,
      model: null,
      fallbackReason: null,
      mode: isByWords ? 'keyword' : 'hybrid',
    }
  }

  async function status(owner: OwnerId): Promise<FileStatus> {
    const index = indexOf(owner)
    const roots = await parts.listRoots(owner)
    const filesOf = (isSessions: boolean) =>
      roots
        .filter(({ kind }) => (kind === 'sessions') === isSessions)
        .reduce((sum, { id }) => sum + index.countFiles(id), 0)
    const isStale =
      index.updatedAt === null || parts.clock.now() - index.updatedAt >= times.updateEveryMs
    return {
      backend: BACKEND,
      roots: roots.map((root) => {
        const files = index.countFiles(root.id)
        return {
          ...{ id: root.id, kind: root.kind, path: root.path },
          ...{ files, chunks: files, isDirty: isStale, lastSyncAt: index.updatedAt },
          problems: index.listTroubles(root.id),
        }
      }),
      bySource: {
        memory: { files: filesOf(false), chunks: filesOf(false) },
        sessions: { files: filesOf(true), chunks: filesOf(true) },
      },
      watching: {
        mode: 'polling',
        reason: `qmd looks at all files every ${times.updateEveryMs / 1_000} seconds.`,
      },
      provider: mode === 'search' ? null : BACKEND,
      model: null,
      withoutVector: 0,
      withoutVectorReason: null,
      rebuilding: null,
      facts: {
        qmdMode: modeKnown,
        ...(index.failure === null ? {} : { qmdFailure: index.failure }),
      },
    }
  }

  function probed(): ProbeResult {
    if (mode === 'search') return { ok: false, error: 'qmd is asked for words alone.' }
    const all = [...indexes.values()].map(({ index }) => index)
    if (all.some(({ hasVectors }) => hasVectors)) return { ok: true, error: null }
    const because = all.find(({ failure }) => failure !== null)?.failure
    return { ok: false, error: because ?? 'qmd has made no vectors yet.' }
  }

  return {
    search,
    status,
    readFile: (owner, path, range) => parts.readFile(owner, path, range),
    sync: async (owner, { signal, onProgress } = {}) => {
      const index = indexOf(owner)
      const report = await raceAbort(index.update(), signal)
      for (const { id: root, path } of await parts.listRoots(owner)) {
        const files = index.countFiles(root)
        onProgress?.({ root, path, filesDone: files, filesTotal: files })
      }
      return report
    },
    touch: (owner) => indexes.get(owner)?.index.markStale(),
    forget: async (owner) => {
      const known = indexes.get(owner)
      indexes.delete(owner)
      known?.stop()
      await known?.index.close()
      await rm(homeOf(owner), { recursive: true, force: true })
    },
    probeEmbeddingAvailability: async () => probed(),
    probeVectorAvailability: async () => probed(),
    close: async () => {
      for (const { stop } of indexes.values()) stop()
      await Promise.all([...indexes.values()].map(({ index }) => index.close()))
    },
  }
}

/** Owners may have any name. */
function homeName(owner: OwnerId): string {
  return sha256(owner).slice(0, 32)
}

function parseQuery(given: FileQuery, settings: QmdDefaults): ParsedFileQuery {
  const { text, maxResults = settings.maxResults, minScore = settings.minScore } = given
  const { sources = FILE_SOURCES, signal } = given
  parseText('text', text)
  parseInteger('maxResults', maxResults, 1, RESULTS_MAX)
  parseNumber('minScore', minScore, 0, 1)
  if (!sources.every((source) => FILE_SOURCES.includes(source))) {
    throw invalid('sources', `sources are ${FILE_SOURCES.join(' and ')}.`)
  }
  return { text, maxResults, minScore, sources, signal }
}

/** The file may have become shorter since. */
function clamp({ firstLine: lineFirst, lastLine: lineLast }: QmdHit, count: number) {
  const last = Math.max(1, Math.min(lineLast, count))
  return { lineFirst: Math.min(lineFirst, last), lineLast: last }
}

function hasAllTerms(text: string, terms: readonly string[]): boolean {
  const held = new Set(extractTerms(text))
  return terms.length > 0 && terms.every((term) => held.has(term))
}

function headingsAt(path: string, text: string, line: number): readonly string[] {
  if (!MARKDOWN.test(path)) return []
  const { sectionOf, sections } = parseMarkdownStructure(indexLines(text))
  const headings: string[] = []
  let section = sections[sectionOf[line - 1] ?? -1]
  while (section !== undefined) {
    if (section.title !== '') headings.unshift(section.title)
    section = sections[section.parent]
  }
  return headings
}

/** A first index of many files takes longer than anybody waits; it goes on meanwhile, and others are answered by it. */
function withBusyTimeout<Result>(ms: number, work: Promise<Result>): Promise<Result> {
  const onTimeout = () => new AppError('busy', 'qmd is still making its index.')
  return runWithTimeout(ms, () => work, { onTimeout })
}

function invalid(field: string, message: string): AppError {
  return new AppError('invalid_input', message, { field })
}
