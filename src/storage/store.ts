import type { Entry, EntryKind } from '../domain/entries/entry.ts'
import type {
  ChangeId,
  EntryId,
  JobId,
  MemoryId,
  OwnerId,
  RevisionId,
  SessionId,
  SignalId,
  TombstoneId,
  TurnId,
} from '../domain/ids.ts'
import type { Job, JobStatus } from '../domain/job-row.ts'
import type {
  Memory,
  MemoryCategory,
  MemoryStatus,
  MemoryType,
  Revision,
  Tombstone,
  Trust,
} from '../domain/memory.ts'
import type { Place, Scope } from '../domain/scope.ts'
import type { DocumentType, SearchDocument } from '../domain/search-document.ts'
import type { Signal, SignalStatus } from '../domain/signal.ts'
import type { Turn, TurnRole } from '../domain/turn.ts'
import type { Instant } from '../lib/time.ts'

/** Filters on memories. An omitted filter matches everything; an empty list matches nothing. */
export type MemoryFilter = {
  readonly ids?: readonly MemoryId[]
  readonly key?: string
  /** The fingerprint of the content, see `text/fingerprint.ts`. */
  readonly fingerprint?: string
  readonly statuses?: readonly MemoryStatus[]
  readonly types?: readonly MemoryType[]
  readonly categories?: readonly MemoryCategory[]
  readonly trusts?: readonly Trust[]
  /** Matches `provenance.source`. */
  readonly sources?: readonly string[]
  /** Whether `conflictsWith` names another memory. */
  readonly hasConflict?: boolean
  readonly pinned?: boolean
  readonly change?: ChangeId
  /** Neither expired nor past `validUntil` at this instant. */
  readonly validAt?: Instant
  readonly expiredBy?: Instant
  readonly createdFrom?: Instant
  readonly createdBefore?: Instant
  readonly importanceMin?: number
  /** A substring of the content or the key, ignoring case. No character is a wildcard. See `text/substring.ts`. */
  readonly contains?: string
}

/**
 * Filters on search documents: memories, and turns as `toTurnDocument` renders them. Without `types`, all memories match
 * and no turns; turns match where `types` includes `turn`.
 */
export type DocumentFilter = Omit<MemoryFilter, 'types'> & {
  readonly types?: readonly DocumentType[]
}

export type RevisionFilter = {
  readonly memories?: readonly MemoryId[]
  /** The change that created this version, or that replaced it. */
  readonly madeBy?: ChangeId
  readonly replacedBy?: ChangeId
  /** The version that was current at this instant. */
  readonly inForceAt?: Instant
}

export type TombstoneFilter = { readonly ids?: readonly TombstoneId[] }

export type EntryFilter = {
  readonly ids?: readonly EntryId[]
  readonly kinds?: readonly EntryKind[]
  /** Null for entries about nobody in particular. */
  readonly about?: OwnerId | null
  readonly atFrom?: Instant
  readonly atBefore?: Instant
  readonly expiredBy?: Instant
}

export type TurnFilter = {
  readonly ids?: readonly TurnId[]
  readonly saidFrom?: Instant
  readonly saidBefore?: Instant
  readonly roles?: readonly TurnRole[]
  readonly disabled?: boolean
}

export type JobFilter = {
  readonly ids?: readonly JobId[]
  readonly kinds?: readonly string[]
  /** The owner that the job works for; null for jobs that work for nobody in particular. */
  readonly owner?: OwnerId | null
  readonly statuses?: readonly JobStatus[]
  /** A job that is never due matches neither. */
  readonly dueFrom?: Instant
  readonly dueBefore?: Instant
  readonly expiredBy?: Instant
}

export type SignalFilter = {
  readonly ids?: readonly SignalId[]
  readonly statuses?: readonly SignalStatus[]
  readonly expiredBy?: Instant
}

/** By id, which is by creation. */
type IdOrder = 'oldest' | 'newest'

/**
 * Orders by a mutable field, highest first; ties by id, newest first. `lastUsed` puts memories that were never used last;
 * `leastUsed` is the reverse of `mostUsed`.
 */
export const MEMORY_RANKINGS = [
  'updated',
  'importance',
  'salience',
  'lastUsed',
  'mostUsed',
  'leastUsed',
] as const

/** Every order of a list of memories. */
export const MEMORY_ORDERS = ['newest', 'oldest', ...MEMORY_RANKINGS] as const

export type MemoryOrder = (typeof MEMORY_ORDERS)[number]

export type Tables = {
  memory: {
    row: Memory
    id: MemoryId
    where: MemoryFilter
    order: MemoryOrder
  }
  revision: { row: Revision; id: RevisionId; where: RevisionFilter; order: IdOrder }
  tombstone: { row: Tombstone; id: TombstoneId; where: TombstoneFilter; order: IdOrder }
  entry: { row: Entry; id: EntryId; where: EntryFilter; order: IdOrder }
  turn: {
    row: Turn
    id: TurnId
    where: TurnFilter
    /** `said`: conversation order, by `saidAt`, then position, then id. `lastSaid`: the reverse. */
    order: IdOrder | 'said' | 'lastSaid'
  }
  job: { row: Job; id: JobId; where: JobFilter; order: IdOrder }
  signal: { row: Signal; id: SignalId; where: SignalFilter; order: IdOrder }
}

export type Table = keyof Tables

/** All tables. The order is part of the cursor of a store migration and must not change. */
export const TABLES: readonly Table[] = [
  'memory',
  'revision',
  'tombstone',
  'entry',
  'turn',
  'job',
  'signal',
]

/** Builds a record with one value per table. */
export function mapTables<Value>(make: (table: Table) => Value): Record<Table, Value> {
  return Object.fromEntries(TABLES.map((table) => [table, make(table)])) as Record<Table, Value> // one entry per table
}

export type Row<T extends Table> = Tables[T]['row']

/** What must hold for a row before a change applies. `any` still rejects a row of another owner or user. */
export type Expectation = 'absent' | 'any' | { readonly version: number }

export type Change =
  | {
      [T in Table]:
        | {
            readonly op: 'put'
            readonly table: T
            readonly row: Row<T>
            readonly expect: Expectation
          }
        | {
            readonly op: 'remove'
            readonly table: T
            readonly scope: Scope
            readonly id: Tables[T]['id']
            readonly expect: Exclude<Expectation, 'absent'>
          }
        /** Writes nothing, but rejects the whole commit unless the expectation holds. */
        | {
            readonly op: 'check'
            readonly table: T
            readonly scope: Scope
            readonly id: Tables[T]['id']
            readonly expect: Exclude<Expectation, 'any'>
          }
    }[Table]
  /**
   * Counts uses without a new version, so that recall never conflicts with an edit. Ignores a missing row. A put over an
   * existing row never lowers its counters.
   */
  | {
      readonly op: 'count'
      readonly scope: Scope
      readonly id: MemoryId
      readonly uses: number
      readonly usedAt: Instant
    }

export type CommitOutcome =
  | { readonly kind: 'committed' }
  | {
      readonly kind: 'conflict'
      readonly table: Table
      readonly id: string
      /** `version`: missing or of another version; `exists`: the id is taken; `key`: another memory holds the key. */
      readonly reason: 'version' | 'exists' | 'key'
    }

export type Page<R> = {
  readonly rows: readonly R[]
  /** Pass it as `after`, with the same order, to get the next page; null after the last page. */
  readonly next: string | null
}

export type FindQuery<T extends Table> = {
  readonly where: Tables[T]['where']
  readonly limit: number
  /** Default: `newest`. */
  readonly order?: Tables[T]['order']
  /**
   * In orders by id, any id; in other orders, `next` of the page before. A row whose rank changes between two pages may
   * appear twice or not at all; every other row appears once.
   */
  readonly after?: string
  /** Rows to skip, counted from `after` where both are given. */
  readonly offset?: number
}

/** Counts of memories. Types and categories without memories count 0. */
export type MemoryCounts = {
  readonly total: number
  readonly byType: Readonly<Record<MemoryType, number>>
  readonly byCategory: Readonly<Record<MemoryCategory, number>>
  /** Code points of all contents: the sum of `[...content].length`. */
  readonly characters: number
}

export type DocumentQuery = {
  readonly where: DocumentFilter
  readonly limit: number
  /** Default: `newest`. */
  readonly order?: IdOrder
  readonly after?: string
}

export type TextQuery = {
  readonly text: string
  readonly limit: number
  readonly where: DocumentFilter
  readonly neighborRequest?: NeighborRequest
  /** See `VectorQuery.memoriesMin`. */
  readonly memoriesMin?: number
}

/**
 * Asks for the neighbors and speakers of the first hits along with the hits, which saves a round trip to a server. A
 * store may ignore the request; callers then use `findNeighbors` and `find`.
 */
export type NeighborRequest = {
  readonly reach: number
  readonly hits: number
}

export type TextHit = {
  readonly id: MemoryId
  /** BM25 score, above zero. Scores of one result can be compared. */
  readonly score: number
  /** 0 … 1: the share of the query terms that the document contains, weighted by IDF. */
  readonly coverage: number
  /** Occurrences of each term of `TextMatch.terms`, in the same order. */
  readonly counts: readonly number[]
  /** The length of the document in terms. */
  readonly length: number
  readonly session: SessionId | null
  /** As `findNeighbors` returns them; null when there are none. Missing when not requested or not supported. */
  readonly neighbors?: SessionNeighbors | null
  /** `provenance.speaker`. Missing likewise. */
  readonly speaker?: string | null
}

/** Hits with the parts of their scores, so that scores of neighboring documents can be combined. Empty without hits. */
export type TextMatch = {
  /** The query terms with their IDF. */
  readonly terms: readonly { readonly text: string; readonly rarity: number }[]
  /** The average length in terms of all documents of the owner, memories and turns. */
  readonly averageLength: number
  /** Best first; ties by id, newest first. */
  readonly hits: readonly TextHit[]
}

/** A conversation without its turns. */
export type SessionSummary = {
  readonly place: Place & { readonly session: SessionId }
  readonly turns: number
  readonly firstSaidAt: Instant
  readonly lastSaidAt: Instant
}

export type SessionQuery = {
  readonly limit: number
  /** `next` of the page before. */
  readonly after?: string
}

export const EMPTY_TEXT_MATCH: TextMatch = { terms: [], averageLength: 0, hits: [] }

/** The neighbors of a document in its session. */
export type SessionNeighbors = {
  readonly session: SessionId
  /**
   * Nearest first, of any status. Memories have memories as neighbors, in the order of ids; turns have turns, in the
   * order of position, then id.
   */
  readonly before: readonly MemoryId[]
  readonly after: readonly MemoryId[]
}

/** The report of a store for `status` and `doctor`. */
export type StoreReport = {
  readonly kind: string
  readonly location: string
  readonly schemaVersion: number
  readonly sizeBytes: number | null
  readonly rows: Readonly<Record<Table, number>>
  readonly facts: Readonly<Record<string, string | number | boolean>>
}

/** An integrity problem, described for a person. */
export type IntegrityProblem = {
  readonly description: string
  readonly count: number
  readonly repairable: boolean
}

/** What other processes on the same data have changed. `any`: unknown, so possibly everything. */
export type RemoteChange = {
  /** Owners of changed memories. */
  readonly owners: readonly OwnerId[] | 'any'
  readonly kinds: readonly EntryKind[] | 'any'
  /** Memories whose replicated vectors may be stale, as reported by `notifyRemote`. */
  readonly memories: readonly OwnerMemories[] | 'any'
}

export type OwnerMemories = { readonly owner: OwnerId; readonly ids: readonly MemoryId[] }

/** Returns the function that unsubscribes. The listener must not throw. */
export type SubscribeRemoteChanges = (listener: (change: RemoteChange) => void) => () => void

/** Tokens taken from a bucket, and those left in it. */
export type TokenGrant = { readonly granted: number; readonly left: number }

/**
 * A token bucket that all processes on the same data share. It refills steadily and holds at most the tokens of one
 * minute. Takes `wanted` tokens, or as many as there are; none when there are fewer than `least`.
 */
export type TakeTokens = (
  name: string,
  amounts: { readonly perMinute: number; readonly wanted: number; readonly least: number },
) => Promise<TokenGrant>

/**
 * The canonical store of everything the engine knows.
 *
 * `commit` is the only way to write. It applies all changes in order, or none. There is no transaction callback on
 * purpose: callers decide first and commit second, so no backend holds a lock across an `await`. A conflict is an
 * ordinary outcome: read again, decide again.
 *
 * Every call takes a scope, so no query can omit whose data it means. Strings come back exactly as they were written,
 * and text to match is never parsed as query syntax.
 *
 * Every implementation must pass `test/conformance/store/store.suite.ts`.
 */
export interface Store {
  get<T extends Table>(table: T, scope: Scope, id: Tables[T]['id']): Promise<Row<T> | null>
  find<T extends Table>(table: T, scope: Scope, query: FindQuery<T>): Promise<Page<Row<T>>>
  /** Counts the memories that match. */
  countMemories(scope: Scope, where: MemoryFilter): Promise<MemoryCounts>
  /**
   * Reads documents: memories, and turns where `types` includes them. The rows may be shared with caches of the store, so
   * callers must not modify them or pass them on.
   */
  findDocuments(scope: Scope, query: DocumentQuery): Promise<Page<SearchDocument>>
  /**
   * Lexical search (BM25). A document can be found as soon as its commit returns. Corpus statistics cover all documents of
   * the owner.
   */
  searchText(scope: Scope, query: TextQuery): Promise<TextMatch>
  /** Sessions with turns, by their last turn, latest first; ties by the highest turn id. */
  listSessions(scope: Scope, query: SessionQuery): Promise<Page<SessionSummary>>
  /** The neighbors of documents, up to `reach` on each side. Omits documents outside the scope or without a session. */
  findNeighbors(
    scope: Scope,
    ids: readonly MemoryId[],
    reach: number,
  ): Promise<ReadonlyMap<MemoryId, SessionNeighbors>>
  commit(changes: readonly Change[]): Promise<CommitOutcome>
  /**
   * Every place that holds a row of any table, by owner and user in UTF-16 order, with its counts of memories and turns.
   * Without an owner this crosses owners: for operators only.
   */
  listPlaces(owner?: OwnerId): Promise<
    readonly {
      readonly owner: string
      readonly user: string | null
      readonly memories: number
      readonly turns: number
    }[]
  >
  getReport(): Promise<StoreReport>
  /** Compares canonical rows with what is derived from them, and repairs derived data on request. */
  checkIntegrity(options: { readonly repair: boolean }): Promise<readonly IntegrityProblem[]>
  /** Where other processes may share the data and their changes can be observed. Polling finds those changes, too. */
  readonly onRemoteChange?: SubscribeRemoteChanges
  /** Tells other processes about memories whose vectors, or fields that vectors are filtered by, have changed. Never fails. */
  readonly notifyRemote?: (changed: OwnerMemories) => void
  /** Where several processes share rate limits. */
  readonly takeTokens?: TakeTokens
  close(): Promise<void>
}

export type TableRow = {
  [T in Table]: { readonly table: T; readonly row: Row<T> }
}[Table]
