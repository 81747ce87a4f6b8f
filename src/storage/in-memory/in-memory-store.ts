/**
 * The store in memory: the executable specification of `Store`, written to be obviously right rather than fast. A commit
 * changes a copy of the tables and swaps it in, so that a rejected commit leaves nothing behind.
 */
import type { MemoryId } from '../../domain/ids.ts'
import { COMMIT_CHANGES_MAX, TEXT_HITS_MAX } from '../../domain/limits.ts'
import { isKeyHolder, type Memory } from '../../domain/memory.ts'
import { comparePlaces, isWithinScope, type Place, type Scope } from '../../domain/scope.ts'
import {
  getTurnPosition,
  type SearchDocument,
  toTurnDocument,
} from '../../domain/search-document.ts'
import { listSearchTerms } from '../../domain/searchable-text.ts'
import type { Turn } from '../../domain/turn.ts'
import { compareText } from '../../lib/compare.ts'
import type { Instant } from '../../lib/time.ts'
import { type CorpusStatistics, computeIdf, scoreDocument } from '../../text/search/bm25.ts'
import { extractQueryTerms } from '../../text/search/terms.ts'
import { isIncluded, isMatchingDocument } from '../document-filter.ts'
import {
  buildSessionPage,
  encodeCursor,
  getOrderPoint,
  type OrderPoint,
  parseOrdering,
  parseSessionCursor,
  type SessionListPosition,
  toPageRange,
} from '../page-cursor.ts'
import { checkExpectation } from '../row-expectation.ts'
import {
  type Change,
  type CommitOutcome,
  type DocumentQuery,
  EMPTY_TEXT_MATCH,
  type EntryFilter,
  type FindQuery,
  type JobFilter,
  type MemoryFilter,
  mapTables,
  type Page,
  type RevisionFilter,
  type Row,
  type SessionNeighbors,
  type SessionQuery,
  type SessionSummary,
  type SignalFilter,
  type Store,
  TABLES,
  type Table,
  type Tables,
  type TextMatch,
  type TextQuery,
  type TombstoneFilter,
  type TurnFilter,
} from '../store.ts'
import { sumCounts } from '../tally.ts'

type Rows = { readonly [T in Table]: Map<string, Row<T>> }

type AnyRow = Row<Table>
type Conflict = Extract<CommitOutcome, { kind: 'conflict' }>

export function createInMemoryStore(): Store {
  let rows = mapTables(() => new Map()) as Rows // one map per table

  return {
    async get<T extends Table>(table: T, scope: Scope, id: Tables[T]['id']) {
      const row = rows[table].get(id)
      return row !== undefined && isWithinScope(scope, getPlace(row)) ? structuredClone(row) : null
    },

    async find<T extends Table>(table: T, scope: Scope, query: FindQuery<T>) {
      const { limit, offset } = toPageRange(query)
      const { fields, isForward, after } = parseOrdering(query)
      const compare = (a: OrderPoint, b: OrderPoint) =>
        isForward ? comparePoints(a, b) : comparePoints(b, a)
      const matches = [...rows[table].values()]
        .filter((row) => isWithinScope(scope, getPlace(row)) && MATCHERS[table](row, query.where))
        .map((row) => ({ row, point: getOrderPoint(fields, row) }))
        .filter(({ point }) => after === null || compare(point, after) > 0)
        .sort((a, b) => compare(a.point, b.point))
        .slice(offset)
        .map(({ row }) => row)
      const page = matches.slice(0, limit)
      const hasMore = matches.length > limit
      return {
        rows: structuredClone(page),
        next: hasMore ? encodeCursor(query.order, page.at(-1)) : null,
      }
    },

    async countMemories(scope: Scope, where: MemoryFilter) {
      return sumCounts(
        [...rows.memory.values()]
          .filter(
            (memory) => isWithinScope(scope, memory.place) && isMatchingDocument(memory, where),
          )
          .map(({ type, category, content }) => {
            return { type, category, count: 1, characters: [...content].length }
          }),
      )
    },

    async findDocuments(scope: Scope, query: DocumentQuery) {
      return findDocuments(listDocuments(rows), scope, query)
    },

    async searchText(scope: Scope, query: TextQuery) {
      return searchText(listDocuments(rows), scope, query)
    },

    async listSessions(scope: Scope, query: SessionQuery) {
      return listSessions([...rows.turn.values()], scope, query)
    },

    async findNeighbors(scope: Scope, ids: readonly MemoryId[], reach: number) {
      return findNeighbors(listDocuments(rows), scope, ids, reach)
    },

    async commit(changes: readonly Change[]) {
      if (changes.length > COMMIT_CHANGES_MAX) {
        throw new RangeError(`A commit holds at most ${COMMIT_CHANGES_MAX} changes.`)
      }
      const draft = mapTables((table) => new Map<string, AnyRow>(rows[table])) as Rows // one map per table
      for (const change of changes) {
        const conflict = applyChange(draft, structuredClone(change))
        if (conflict !== null) return conflict
      }
      rows = draft
      return { kind: 'committed' }
    },

    async listPlaces(only) {
      type PlaceCounts = { owner: string; user: string | null; memories: number; turns: number }
      const places = new Map<string, PlaceCounts>()
      for (const table of TABLES) {
        for (const { owner, user } of [...rows[table].values()].map(getPlace)) {
          if (only !== undefined && owner !== only) continue
          const name = JSON.stringify([owner, user])
          const counts = places.get(name) ?? { owner, user, memories: 0, turns: 0 }
          places.set(name, {
            ...counts,
            memories: counts.memories + (table === 'memory' ? 1 : 0),
            turns: counts.turns + (table === 'turn' ? 1 : 0),
          })
        }
      }
      return [...places.values()].sort(comparePlaces)
    },

    async getReport() {
      return {
        kind: 'reference',
        location: 'memory',
        schemaVersion: 0,
        sizeBytes: null,
        rows: mapTables((table) => rows[table].size),
        facts: {},
      }
    },

    async checkIntegrity() {
      return []
    },

    async close() {},
  }
}

/** Compares two points of one order. */
function comparePoints(a: OrderPoint, b: OrderPoint): number {
  for (const [at, value] of a.entries()) {
    const other = b[at]
    const difference =
      typeof value === 'number' && typeof other === 'number'
        ? value - other
        : compareText(String(value), String(other))
    if (difference !== 0) return difference
  }
  return 0
}

function applyChange(rows: Rows, change: Change): Conflict | null {
  if (change.op === 'count') {
    const memory = rows.memory.get(change.id)
    if (memory !== undefined && isWithinScope(change.scope, memory.place)) {
      rows.memory.set(memory.id, {
        ...memory,
        useCount: memory.useCount + change.uses,
        lastUsedAt:
          memory.lastUsedAt === null || memory.lastUsedAt < change.usedAt
            ? change.usedAt
            : memory.lastUsedAt,
      })
    }
    return null
  }
  const id = change.op === 'put' ? change.row.id : change.id
  const scope: Scope = change.op === 'put' ? toUserScope(getPlace(change.row)) : change.scope
  // A change pairs its table with the type of its row; looking up both separately loses that.
  const table = rows[change.table] as Map<string, AnyRow>
  const existing = table.get(id)
  const isCovered = existing !== undefined && isWithinScope(scope, getPlace(existing))
  const reason = checkExpectation(
    change.expect,
    existing === undefined ? null : { version: getVersion(existing), isCovered },
  )
  if (reason !== null) return { kind: 'conflict', table: change.table, id, reason }
  if (change.op === 'remove') table.delete(id)
  if (change.op === 'put') {
    if (change.table === 'memory' && isKeyTaken(rows.memory, change.row)) {
      return { kind: 'conflict', table: 'memory', id, reason: 'key' }
    }
    table.set(id, mergeUsage(change.row, existing))
  }
  return null
}

/** Uses may have been counted since the row was read: writing it back must not lower them. */
function mergeUsage(row: AnyRow, existing: AnyRow | undefined): AnyRow {
  if (existing === undefined || !('useCount' in row) || !('useCount' in existing)) return row
  const useCount = Math.max(row.useCount, existing.useCount)
  const [a, b] = [row.lastUsedAt, existing.lastUsedAt]
  return { ...row, useCount, lastUsedAt: a === null || (b !== null && b > a) ? b : a }
}

function isKeyTaken(memories: ReadonlyMap<string, Memory>, row: Memory): boolean {
  if (!isKeyHolder(row)) return false
  for (const other of memories.values()) {
    const isSameUser = other.place.owner === row.place.owner && other.place.user === row.place.user
    if (other.id !== row.id && isSameUser && other.key === row.key && isKeyHolder(other))
      return true
  }
  return false
}

/** A row never changes its owner and user; its session is only where it was learned. */
function toUserScope(place: Place): Scope {
  return { owner: place.owner, user: place.user }
}

function getPlace(row: AnyRow): Place {
  return 'memory' in row ? row.memory.place : row.place
}

function getVersion(row: AnyRow): number {
  return 'version' in row ? row.version : 1
}

const MATCHERS: { readonly [T in Table]: (row: AnyRow, where: Tables[Table]['where']) => boolean } =
  {
    // A matcher gets only the rows and filters of its table.
    memory: (row, where) => isMatchingDocument(row as Memory, where as MemoryFilter),
    revision: (row, where) => matchesRevision(row as Row<'revision'>, where as RevisionFilter),
    tombstone: (row, where) => isIncluded((where as TombstoneFilter).ids, row.id),
    entry: (row, where) => matchesEntry(row as Row<'entry'>, where as EntryFilter),
    turn: (row, where) => matchesTurn(row as Row<'turn'>, where as TurnFilter),
    job: (row, where) => matchesJob(row as Row<'job'>, where as JobFilter),
    signal: (row, where) => matchesSignal(row as Row<'signal'>, where as SignalFilter),
  }

function matchesRevision(revision: Row<'revision'>, where: RevisionFilter): boolean {
  return (
    isIncluded(where.memories, revision.memory.id) &&
    (where.madeBy === undefined || where.madeBy === revision.memory.change) &&
    (where.replacedBy === undefined || where.replacedBy === revision.replacedBy) &&
    (where.inForceAt === undefined ||
      (revision.memory.updatedAt <= where.inForceAt && where.inForceAt < revision.replacedAt))
  )
}

function matchesEntry(entry: Row<'entry'>, where: EntryFilter): boolean {
  return (
    isIncluded(where.ids, entry.id) &&
    isIncluded(where.kinds, entry.kind) &&
    (where.about === undefined || where.about === entry.about) &&
    (where.atFrom === undefined || entry.at >= where.atFrom) &&
    (where.atBefore === undefined || entry.at < where.atBefore) &&
    hasExpired(entry, where)
  )
}

function matchesTurn(turn: Row<'turn'>, where: TurnFilter): boolean {
  return (
    isIncluded(where.ids, turn.id) &&
    isIncluded(where.roles, turn.role) &&
    (where.disabled === undefined || turn.disabled === where.disabled) &&
    (where.saidFrom === undefined || turn.saidAt >= where.saidFrom) &&
    (where.saidBefore === undefined || turn.saidAt < where.saidBefore)
  )
}

function matchesJob(job: Row<'job'>, where: JobFilter): boolean {
  return (
    isIncluded(where.ids, job.id) &&
    isIncluded(where.kinds, job.kind) &&
    (where.owner === undefined || where.owner === job.owner) &&
    isIncluded(where.statuses, job.status) &&
    (where.dueFrom === undefined || (job.dueAt !== null && job.dueAt >= where.dueFrom)) &&
    (where.dueBefore === undefined || (job.dueAt !== null && job.dueAt < where.dueBefore)) &&
    hasExpired(job, where)
  )
}

function matchesSignal(signal: Row<'signal'>, where: SignalFilter): boolean {
  return (
    isIncluded(where.ids, signal.id) &&
    isIncluded(where.statuses, signal.status) &&
    hasExpired(signal, where)
  )
}

function hasExpired(
  { expiresAt }: { readonly expiresAt: Instant | null },
  { expiredBy }: { readonly expiredBy?: Instant },
): boolean {
  return expiredBy === undefined || (expiresAt !== null && expiresAt <= expiredBy)
}

/** Rows are immutable, so the document of a turn never changes. */
const documentByTurn = new WeakMap<Turn, SearchDocument>()

function listDocuments(rows: Rows): readonly SearchDocument[] {
  const turnDocuments = [...rows.turn.values()].map((turn) => {
    const document = documentByTurn.get(turn) ?? toTurnDocument(turn)
    documentByTurn.set(turn, document)
    return document
  })
  return [...rows.memory.values(), ...turnDocuments]
}

function findDocuments(
  documents: readonly SearchDocument[],
  scope: Scope,
  { where, limit, order = 'newest', after }: DocumentQuery,
): Page<SearchDocument> {
  const compare = (a: string, b: string) =>
    order === 'oldest' ? compareText(a, b) : compareText(b, a)
  const matches = documents
    .filter(
      (document) => isWithinScope(scope, document.place) && isMatchingDocument(document, where),
    )
    .filter(({ id }) => after === undefined || compare(id, after) > 0)
    .sort((a, b) => compare(a.id, b.id))
  const page = matches.slice(0, limit)
  return {
    rows: structuredClone(page),
    next: matches.length > limit ? (page.at(-1)?.id ?? null) : null,
  }
}

function searchText(
  documents: readonly SearchDocument[],
  scope: Scope,
  query: TextQuery,
): TextMatch {
  const queryTerms = extractQueryTerms(query.text)
  const owned = documents.filter(({ place }) => place.owner === scope.owner)
  const corpus = countTerms(owned.map(getTerms))
  const hits = owned
    .filter(
      (document) =>
        isWithinScope(scope, document.place) && isMatchingDocument(document, query.where),
    )
    .map((document) => {
      const terms = getTerms(document)
      return {
        id: document.id,
        ...scoreDocument(queryTerms, terms, corpus),
        counts: queryTerms.map((term) => terms.filter((each) => each === term).length),
        length: terms.length,
        session: document.place.session,
      }
    })
    .filter((hit) => hit.score > 0)
    .sort((a, b) => b.score - a.score || compareText(b.id, a.id))
    .slice(0, Math.max(0, Math.min(query.limit, TEXT_HITS_MAX)))
  if (hits.length === 0) return EMPTY_TEXT_MATCH
  return {
    terms: queryTerms.map((text) => ({
      text,
      rarity: computeIdf(corpus.countDocumentsWith(text), corpus.documents),
    })),
    averageLength: corpus.averageLength,
    hits,
  }
}

function listSessions(
  turns: readonly Turn[],
  scope: Scope,
  query: SessionQuery,
): Page<SessionSummary> {
  const sessions = new Map<string, SessionListPosition>()
  for (const { id, place, saidAt } of turns) {
    const { session } = place
    if (session === null || !isWithinScope(scope, place)) continue
    const name = JSON.stringify([place.user, session])
    const known = sessions.get(name)
    sessions.set(name, {
      place: { ...place, session },
      turns: (known?.turns ?? 0) + 1,
      firstSaidAt: known !== undefined && known.firstSaidAt < saidAt ? known.firstSaidAt : saidAt,
      lastSaidAt: known !== undefined && known.lastSaidAt > saidAt ? known.lastSaidAt : saidAt,
      lastId: known !== undefined && compareText(known.lastId, id) > 0 ? known.lastId : id,
    })
  }
  const after = parseSessionCursor(query)
  const points = [...sessions.values()].sort(compareSessions)
  return buildSessionPage(
    points.filter((point) => after === null || compareSessions(point, after) > 0),
    query,
  )
}

type SessionOrder = Pick<SessionListPosition, 'lastSaidAt' | 'lastId'>

function compareSessions(a: SessionOrder, b: SessionOrder): number {
  return b.lastSaidAt - a.lastSaidAt || compareText(b.lastId, a.lastId)
}

/** Memories are ordered by id, which is by creation; turns by their positions. */
function findNeighbors(
  documents: readonly SearchDocument[],
  scope: Scope,
  ids: readonly MemoryId[],
  reach: number,
): ReadonlyMap<MemoryId, SessionNeighbors> {
  const neighbors = new Map<MemoryId, SessionNeighbors>()
  for (const document of documents) {
    const { session } = document.place
    if (session === null || !ids.includes(document.id) || !isWithinScope(scope, document.place))
      continue
    const isTurn = document.type === 'turn'
    const sequence = documents
      .filter(
        ({ place, type }) => isWithinScope(document.place, place) && (type === 'turn') === isTurn,
      )
      .sort(compareByPosition)
      .map(({ id }) => id)
    const position = sequence.indexOf(document.id)
    neighbors.set(document.id, {
      session,
      before: sequence.slice(Math.max(0, position - reach), position).reverse(),
      after: sequence.slice(position + 1, position + 1 + reach),
    })
  }
  return neighbors
}

function compareByPosition(a: SearchDocument, b: SearchDocument): number {
  const [first, second] = [getTurnPosition(a) ?? 0, getTurnPosition(b) ?? 0]
  return first - second || compareText(a.id, b.id)
}

/** Documents are immutable, so their terms never change. */
const termsByDocument = new WeakMap<SearchDocument, readonly string[]>()

function getTerms(document: SearchDocument): readonly string[] {
  const terms = termsByDocument.get(document) ?? listSearchTerms(document)
  termsByDocument.set(document, terms)
  return terms
}

function countTerms(documents: readonly (readonly string[])[]): CorpusStatistics {
  const frequencies = new Map<string, number>()
  let length = 0
  for (const document of documents) {
    length += document.length
    for (const term of new Set(document)) frequencies.set(term, (frequencies.get(term) ?? 0) + 1)
  }
  return {
    documents: documents.length,
    averageLength: documents.length === 0 ? 0 : length / documents.length,
    countDocumentsWith: (term) => frequencies.get(term) ?? 0,
  }
}
