/**
 * FileSearch with the external program `qmd`, which maintains its own index. Hits are verified against the files: those
 * that are gone, or that the built-in search would not return, are dropped.
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
import {
  buildSearchArguments,
  findFilesByDocumentId,
  isNoResultsOutput,
  isUnknownOptionError,
  parseHits,
  type QmdHit,
  type QmdMode,
  toPlainQuery,
} from './qmd-output.ts'
import { QMD_TIMEOUTS, QmdOwnerIndex, type QmdTimeouts, toQmdError } from './qmd-owner-index.ts'

export type QmdSearchDependencies = {
  readonly clock: Clock
  readonly tree: Pick<FileTree, 'scan'>
  readonly listRoots: (owner: OwnerId) => Promise<readonly QmdRoot[]>
  /** Defaults of a query. */
  readonly loadDefaults: (owner: OwnerId) => Promise<QmdDefaults>
  /** The path of a file in results. */
  readonly toExternalPath: (root: QmdRoot, path: string) => string
  /** Reading needs no index and has the same access rules for every backend. */
  readonly readFile: FileSearch['readFile']
  readonly scheduleEvery: (ms: number, work: () => void) => () => void
}

export type QmdDefaults = { readonly maxResults: number; readonly minScore: number }

export type QmdOptions = {
  /** The folder of all owners' indexes. Not for encrypted data, because `qmd` stores plain text. */
  readonly stateFolder: string
  /** The executable and its leading arguments. Default: `qmd`. */
  readonly command?: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Default: `search`, which needs no models. */
  readonly mode?: QmdMode
  readonly modelFolder?: string
  readonly times?: Partial<QmdTimeouts>
}

const BACKEND = 'qmd'
const RESULTS_MAX = 100

/** Requests more hits than needed, because verification drops some. */
const OVERFETCH_FACTOR = 3
const MARKDOWN = /\.(?:md|markdown|mdx)$/i

type ParsedFileQuery = {
  readonly text: string
  readonly maxResults: number
  readonly minScore: number
  readonly sources: readonly FileSource[]
  readonly signal: AbortSignal | undefined
}

export type QmdFileSearch = FileSearch & {
  /** Marks an owner's files as changed, so that the next query updates the index first. */
  touch(owner: OwnerId): void
  /** Erases the index of an owner. */
  forget(owner: OwnerId): Promise<void>
}

export function openQmdFileSearch(
  parts: QmdSearchDependencies,
  options: QmdOptions,
): QmdFileSearch {
  const times = { ...QMD_TIMEOUTS, ...options.times }
  const mode = options.mode ?? 'search'
  const indexes = new Map<OwnerId, { readonly index: QmdOwnerIndex; readonly stop: () => void }>()
  /** Set once `qmd` rejects the configured arguments. */
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
    const output = `${ended.stdout}\n${ended.stderr}`
    if (isNoResultsOutput(output)) return []
    if (modeKnown === 'query' || !isUnknownOptionError(output)) throw toQmdError(ended)
    modeKnown = 'query'
    return ask(index, query, limit, collections, signal)
  }

  async function search(owner: OwnerId, given: FileQuery): Promise<FileSearchResult> {
    const parsed = parseQuery(given, await parts.loadDefaults(owner))
    const query = toPlainQuery(parsed.text, modeKnown)
    if (query === '') return answer([])
    const index = indexOf(owner)
    const collections = await raceAbort(
      withBusyTimeout(times.searchMs, index.prepare()),
      parsed.signal,
    )
    const searched = collections.filter(({ source }) => parsed.sources.includes(source))
    if (searched.length === 0) return answer([])
    index.updateIfOlderThan(times.updateEveryMs)
    if (index.updating) await resolvesWithin(times.waitMs, index.updating).catch(() => {})
    const limit = Math.min(RESULTS_MAX, parsed.maxResults * OVERFETCH_FACTOR)
    const printed = await ask(index, query, limit, searched, parsed.signal)
    return answer(await verifyHits(owner, index, searched, printed, parsed))
  }

  async function verifyHits(
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
      // Lexical `qmd` searches require all terms.
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
    if (mode === 'search') return { ok: false, error: 'qmd runs in the lexical mode `search`.' }
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

/** Hashed, because owners may have any name. */
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

/** The file may be shorter by now. */
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

/** The first index of many files exceeds every timeout. It continues in the background while the failover answers. */
function withBusyTimeout<Result>(ms: number, work: Promise<Result>): Promise<Result> {
  const onTimeout = () => new AppError('busy', 'qmd is still making its index.')
  return runWithTimeout(ms, () => work, { onTimeout })
}

function invalid(field: string, message: string): AppError {
  return new AppError('invalid_input', message, { field })
}
