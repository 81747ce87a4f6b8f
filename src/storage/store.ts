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
import type { Job, JobStatus } from '../domain/job.ts'
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

/** The only filters a caller may use on memories. Those left out do not narrow; an empty list matches nothing. */
export type MemoryFilter = {
  readonly ids?: readonly MemoryId[]
  readonly key?: string
  /** As computed by `core/fingerprint.ts` from the content. */
  readonly fingerprint?: string
  readonly statuses?: readonly MemoryStatus[]
  readonly types?: readonly MemoryType[]
  readonly categories?: readonly MemoryCategory[]
  readonly trusts?: readonly Trust[]
  /** What wrote it: `provenance.source`. */
  readonly sources?: readonly string[]
  /** Whether it says that another one says otherwise. */
  readonly hasConflict?: boolean
  readonly pinned?: boolean
  readonly change?: ChangeId
  /** Neither expired nor past its validity at this instant. */
  readonly validAt?: Instant
  readonly expiredBy?: Instant
  readonly createdFrom?: Instant
  readonly createdBefore?: Instant
  /** At least this important. */
  readonly importanceMin?: number
  /** Stands in the content or the key, in capitals or not: see `core/containing.ts`. No character means anything else. */
  readonly contains?: string
}

/**
 * The same for search documents, that is memories and turns; a turn passes as `core/search-document.ts` renders it.
 * Without `types`, every memory passes and no turn does; turns pass where `types` names `turn`.
 */
export type DocumentFilter = Omit<MemoryFilter, 'types'> & {
  readonly types?: readonly DocumentType[]
}

export type RevisionFilter = {
  readonly memories?: readonly MemoryId[]
  /** The change that made this version, or that ended it. */
  readonly madeBy?: ChangeId
  readonly replacedBy?: ChangeId
  /** The version that was in force at this instant. */
  readonly inForceAt?: Instant
}

export type TombstoneFilter = { readonly ids?: readonly TombstoneId[] }

export type EntryFilter = {
  readonly ids?: readonly EntryId[]
  readonly kinds?: readonly EntryKind[]
  /** Null for those about nobody in particular. */
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
  /** The owner that the job works for; null for jobs of nobody in particular. */
  readonly owner?: OwnerId | null
  readonly statuses?: readonly JobStatus[]
  /** Jobs that are not due at any time pass neither. */
  readonly dueFrom?: Instant
  readonly dueBefore?: Instant
  readonly expiredBy?: Instant
}

export type SignalFilter = {
  readonly ids?: readonly SignalId[]
  readonly statuses?: readonly SignalStatus[]
  readonly expiredBy?: Instant
}

/** By id, that is by creation. */
type IdOrder = 'oldest' | 'newest'

/**
 * By what changes with a memory or its use, highest first, and of equal ones the newest. `lastUsed` has those that were
 * never used at its end; `leastUsed` is `mostUsed` backwards.
 */
export const MEMORY_RANKINGS = [
  'updated',
  'importance',
  'salience',
  'lastUsed',
  'mostUsed',
  'leastUsed',
] as const

export type MemoryRanking = (typeof MEMORY_RANKINGS)[number]

/** What people may have a list of memories in. */
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
    /** `said`: in the course of the conversation, by `saidAt`, then position, then id; `lastSaid`: the same backwards. */
    order: IdOrder | 'said' | 'lastSaid'
  }
  job: { row: Job; id: JobId; where: JobFilter; order: IdOrder }
  signal: { row: Signal; id: SignalId; where: SignalFilter; order: IdOrder }
}

export type Table = keyof Tables

/** All of them, in an order that never changes. */
export const TABLES: readonly Table[] = [
  'memory',
  'revision',
  'tombstone',
  'entry',
  'turn',
  'job',
  'signal',
]

/** Something for each table. */
export function mapTables<Value>(make: (table: Table) => Value): Record<Table, Value> {
  return Object.fromEntries(TABLES.map((table) => [table, make(table)])) as Record<Table, Value> // all of them
}

export type Row<T extends Table> = Tables[T]['row']

/** What must be true of a row for a change to apply. `any` still refuses a row of another owner or user. */
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
        /** Writes nothing; the whole commit is refused unless the expectation holds. */
        | {
            readonly op: 'check'
            readonly table: T
            readonly scope: Scope
            readonly id: Tables[T]['id']
            readonly expect: Exclude<Expectation, 'any'>
          }
    }[Table]
  /**
   * Counts uses without a new version: recall must never conflict with an edit. A missing row is passed over, and a
   * put over an existing row never lowers its counters.
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
      /** `version`: not the expected one, or not there; `exists`: the id is taken; `key`: another memory holds the key. */
      readonly because: 'version' | 'exists' | 'key'
    }

export type Page<R> = {
  readonly rows: readonly R[]
  /** Give it as `after` to go on, in the same order; null when there is no more. */
  readonly next: string | null
}

export type FindQuery<T extends Table> = {
  readonly where: Tables[T]['where']
  readonly limit: number
  /** Newest first, unless told. */
  readonly order?: Tables[T]['order']
  /**
   * In the orders by id, an id; in all others only what `next` gave. A row that moves in its order between two pages may be
   * shown twice or not at all; all others are shown once.
   */
  readonly after?: string
  /** How many rows to pass over, counted from `after` when that is given. */
  readonly offset?: number
}

/** How much there is, without reading it. Kinds that don't occur are counted as 0. */
export type MemoryCounts = {
  readonly total: number
  readonly byType: Readonly<Record<MemoryType, number>>
  readonly byCategory: Readonly<Record<MemoryCategory, number>>
  /** Of all contents, in Unicode code points: what `[...content].length` says. */
  readonly characters: number
}

export type DocumentQuery = {
  readonly where: DocumentFilter
  readonly limit: number
  /** By id; newest first, unless told. */
  readonly order?: IdOrder
  readonly after?: string
}

export type TextQuery = {
  readonly text: string
  readonly limit: number
  readonly where: DocumentFilter
  readonly neighborRequest?: NeighborRequest
  /** See `VectorQuery`. */
  readonly memoriesMin?: number
}

/**
 * A wish of whoever is going to ask for what stands around the first hits, and who said them: it may be told with them,
 * where that saves a trip to a server. Hits that it wasn't told with are asked about by `around` and `find`.
 */
export type NeighborRequest = {
  readonly reach: number
  readonly hits: number
}

export type TextHit = {
  readonly id: MemoryId
  /** BM25: above zero, higher is better, comparable within one answer. */
  readonly score: number
  /** 0 … 1: how much of the query the memory holds, rare words counting more. */
  readonly coverage: number
  /** How often each term of the answer occurs, in the order of its `terms`. */
  readonly counts: readonly number[]
  /** Of the memory, in terms. */
  readonly length: number
  readonly session: SessionId | null
  /** What `around` says of it, null when that is nothing. Missing where it wasn't wished for, or is to be asked. */
  readonly neighbors?: SessionNeighbors | null
  /** Who said it, as its provenance has it. Missing likewise. */
  readonly speaker?: string | null
}

/** The hits and what their scores were made of, so that those of neighbouring memories can be joined. Without hits, nothing. */
export type TextMatch = {
  /** What was looked for, and how much finding it tells. */
  readonly terms: readonly { readonly text: string; readonly rarity: number }[]
  /** Of the owner's documents, memories and turns alike, in terms. */
  readonly averageLength: number
  /** Best first; equal scores are ordered by id, newest first. */
  readonly hits: readonly TextHit[]
}

/** How much there is of a conversation, without reading it. */
export type SessionSummary = {
  readonly place: Place & { readonly session: SessionId }
  readonly turns: number
  readonly firstSaidAt: Instant
  readonly lastSaidAt: Instant
}

export type SessionQuery = {
  readonly limit: number
  /** Only what `next` of an earlier page gave. */
  readonly after?: string
}

export const EMPTY_TEXT_MATCH: TextMatch = { terms: [], averageLength: 0, hits: [] }

/** Where a document stands in its session. */
export type SessionNeighbors = {
  readonly session: SessionId
  /**
   * Its neighbours on each side, nearest first, whatever their status: of a memory, memories in the order of ids; of a
   * turn, turns in the order of position, then id.
   */
  readonly before: readonly MemoryId[]
  readonly after: readonly MemoryId[]
}

/** What a store says about itself, for `status` and `doctor`. */
export type StoreReport = {
  readonly kind: string
  readonly location: string
  readonly schemaVersion: number
  readonly sizeBytes: number | null
  readonly rows: Readonly<Record<Table, number>>
  readonly facts: Readonly<Record<string, string | number | boolean>>
}

/** Something wrong inside a store, in words for a person. */
export type IntegrityProblem = {
  readonly description: string
  readonly count: number
  readonly repairable: boolean
}

/** What other processes on the same data have changed. `any` where it isn't known what. */
export type RemoteChange = {
  /** Whose memories. */
  readonly owners: readonly OwnerId[] | 'any'
  readonly kinds: readonly EntryKind[] | 'any'
  /** Of which memories a copy of their vectors may be out of date, as `tellElsewhere` was told. */
  readonly memories: readonly OwnerMemories[] | 'any'
}

export type OwnerMemories = { readonly owner: OwnerId; readonly ids: readonly MemoryId[] }

/** Answers with the function that ends it. The listener must not fail. */
export type SubscribeRemoteChanges = (listener: (news: RemoteChange) => void) => () => void

/** How much of an allowance was got, and how much is left of it for others. */
export type TokenGrant = { readonly granted: number; readonly left: number }

/**
 * An allowance that fills steadily, up to what a minute brings, and that all processes on the same data take from. Takes
 * `wanted`, or what there is of it; nothing when there is less than `least`.
 */
export type TakeTokens = (
  name: string,
  amounts: { readonly perMinute: number; readonly wanted: number; readonly least: number },
) => Promise<TokenGrant>

/**
 * Store: the canonical record of everything the engine knows.
 *
 * Writes go through one door, `commit`, which applies all changes in the given order, or none. There is no
 * transaction callback on purpose: callers decide first and commit second, so no backend ever holds a lock
 * across an `await`. A conflict is an ordinary outcome: read again, decide again.
 *
 * The scope is a parameter of every call, so there is no way to ask without saying whose data is meant.
 * Any string is stored and returned exactly as it was given, and no string given as text to match is ever
 * read as query syntax.
 *
 * Every implementation must pass `test/conformance/store/store.suite.ts`.
 */
export interface Store {
  get<T extends Table>(table: T, scope: Scope, id: Tables[T]['id']): Promise<Row<T> | null>
  find<T extends Table>(table: T, scope: Scope, query: FindQuery<T>): Promise<Page<Row<T>>>
  /** Counts the memories that pass. */
  countMemories(scope: Scope, where: MemoryFilter): Promise<MemoryCounts>
  /** Reads documents: memories, and turns where `types` names them. */
  findDocuments(scope: Scope, query: DocumentQuery): Promise<Page<SearchDocument>>
  /** Finds documents by their words, from the commit on that wrote them. Statistics are those of all the owner's documents. */
  searchText(scope: Scope, query: TextQuery): Promise<TextMatch>
  /**
   * The conversations that there are turns of, those with the last word first; of several said at the same instant, the
   * one with the highest id of a turn. Turns that belong to no session are left out.
   */
  listSessions(scope: Scope, query: SessionQuery): Promise<Page<SessionSummary>>
  /** The neighbours of these documents, up to `reach` on each side. Those outside of the scope or of any session are left out. */
  findNeighbors(
    scope: Scope,
    ids: readonly MemoryId[],
    reach: number,
  ): Promise<ReadonlyMap<MemoryId, SessionNeighbors>>
  commit(changes: readonly Change[]): Promise<CommitOutcome>
  /**
   * Every place that holds a row of any table, in the order of owner and user (by UTF-16 units), with its numbers of
   * memories and turns. Across owners, for operators only, and as slow as there is much; of one owner it costs what that one has.
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
  /** Compares what is canonical with what is derived from it, and mends the latter when asked to. */
  checkIntegrity(options: { readonly repair: boolean }): Promise<readonly IntegrityProblem[]>
  /** Only where there may be other processes that can be heard. What they change is also found by looking again. */
  readonly onRemoteChange?: SubscribeRemoteChanges
  /** Tells them of memories whose vectors have changed, or what those are filtered by. Neither waits nor fails. */
  readonly notifyRemote?: (changed: OwnerMemories) => void
  /** Only where several processes share their limits. */
  readonly takeTokens?: TakeTokens
  close(): Promise<void>
}

export type TableRow = {
  [T in Table]: { readonly table: T; readonly row: Row<T> }
}[Table]
