/**
 * The engine: everything one can do with memories, behind one object. Scopes and ids come in as plain text and
 * are checked here, so that nothing unchecked reaches the code behind it.
 */
import { type DraftInput, type EditInput, parseScope, type ScopeInput } from '../core/draft.ts'
import { AppError } from '../core/errors.ts'
import { type Instant, parseId } from '../core/ids.ts'
import type { Memory } from '../core/memory.ts'
import type { EmbedderReport } from '../ports/embedder.ts'
import type { Change, Page, Store, StoreFault, StoreReport } from '../ports/store.ts'
import * as correct from './correct.ts'
import { Indexer, type IndexProgress, type IndexStatus } from './indexing.ts'
import { exportLines, type Imported, importLines } from './portability.ts'
import type { EnginePorts } from './ports.ts'
import * as read from './read.ts'
import { type RecallQuery, type Recollection, recall } from './recall.ts'
import { type Learned, learn, type Remembered, remember } from './remember.ts'
import { type Undone, undo } from './undo.ts'
import { UseCounter } from './uses.ts'

export type EngineStatus = StoreReport & {
  /** How memories are found by meaning; null when they are found by their words alone. */
  readonly index: (IndexStatus & { readonly embedder: EmbedderReport }) | null
}

export interface Engine {
  /** Stores a statement, or updates, reinforces or supersedes what it is about. */
  remember(scope: ScopeInput, draft: DraftInput): Promise<Remembered>
  /** Finds what a person says about themselves in a text, without a model, and remembers it. */
  learn(
    scope: ScopeInput,
    text: string,
    options?: { readonly observedAt?: number; readonly source?: string },
  ): Promise<Learned>
  /** The memories that answer a question, best first, each with its reasons; none when nothing fits. */
  recall(scope: ScopeInput, query: RecallQuery): Promise<Recollection>
  get(scope: ScopeInput, id: string): Promise<Memory | null>
  list(scope: ScopeInput, query?: read.ListQuery): Promise<Page<Memory>>
  /** What was known and held at an earlier time. */
  asOf(
    scope: ScopeInput,
    at: Date | number,
    query?: { readonly limit?: number; readonly after?: string },
  ): Promise<Page<Memory>>
  history(scope: ScopeInput, id: string): Promise<readonly read.HistoryEntry[]>
  edit(
    scope: ScopeInput,
    id: string,
    edit: EditInput,
    options?: { readonly version?: number },
  ): Promise<Memory>
  disable(scope: ScopeInput, id: string): Promise<Memory>
  forget(scope: ScopeInput, id: string): Promise<Memory>
  restore(scope: ScopeInput, id: string, options?: { readonly version?: number }): Promise<Memory>
  /** Removes a memory with its history for good, and says how much that was. */
  erase(scope: ScopeInput, id: string): Promise<correct.Erased>
  /** Erases what has been forgotten for longer than the setting `binDays`, or than `days`. */
  emptyBin(scope: ScopeInput, options?: { readonly days?: number }): Promise<correct.Erased>
  undo(scope: ScopeInput, change: string): Promise<Undone>
  /** Counts that these memories were of use. */
  noteUse(scope: ScopeInput, ids: readonly string[]): Promise<void>
  export(scope: ScopeInput | null): AsyncIterable<string>
  import(
    lines: AsyncIterable<string>,
    options?: { readonly owner?: string; readonly onProgress?: (lines: number) => void },
  ): Promise<Imported>
  /** Who has memories here, and how many. */
  places(): Promise<
    readonly { readonly owner: string; readonly user: string | null; readonly memories: number }[]
  >
  status(): Promise<EngineStatus>
  /**
   * Loads the embedding model, so that the first question need not wait for it, and begins to give memories that lack
   * one their vector. Fails when the model can't be loaded.
   */
  warmUp(): Promise<void>
  /** Gives every memory its vector, to the end; `force` makes all of them anew. Can be stopped and called again. */
  reindex(options?: {
    readonly force?: boolean
    readonly signal?: AbortSignal
    readonly onProgress?: (progress: IndexProgress) => void
  }): Promise<IndexStatus>
  doctor(options?: { readonly repair?: boolean }): Promise<readonly StoreFault[]>
  close(): Promise<void>
}

export function createEngineOn(given: EnginePorts): Engine {
  const { embedder, vectors } = given
  const indexer =
    embedder === undefined || vectors === undefined
      ? null
      : new Indexer({ ...given, embedder, vectors })
  const store = indexer === null ? given.store : watched(given.store, indexer)
  const ports = { ...given, store }
  const uses = new UseCounter(store, ports.clock)
  const inTurn = createQueue()
  return {
    remember: async (scope, draft) =>
      inTurn(scope, () => remember(ports, parseScope(scope), draft)),
    learn: async (scope, text, options) =>
      inTurn(scope, () => learn(ports, parseScope(scope), text, options)),
    recall: async (scope, query) => {
      const parsed = parseScope(scope)
      const found = await recall(ports, indexer, parsed, query)
      if (query.purpose === 'prompt') {
        uses.note(
          parsed,
          found.memories.map(({ memory }) => memory.id),
        )
      }
      return found
    },
    get: async (scope, id) => store.get('memory', parseScope(scope), parseId('mem', id)),
    list: async (scope, query = {}) => read.list(ports, parseScope(scope), query),
    asOf: async (scope, at, query = {}) =>
      read.asOf(ports, parseScope(scope), toInstant(at), query),
    history: async (scope, id) => read.history(ports, parseScope(scope), parseId('mem', id)),
    edit: async (scope, id, edit, options) =>
      correct.edit(ports, parseScope(scope), parseId('mem', id), edit, options?.version),
    disable: async (scope, id) => correct.disable(ports, parseScope(scope), parseId('mem', id)),
    forget: async (scope, id) => correct.forget(ports, parseScope(scope), parseId('mem', id)),
    restore: async (scope, id, options) =>
      correct.restore(ports, parseScope(scope), parseId('mem', id), options?.version),
    erase: async (scope, id) =>
      letGo(ports, await correct.erase(ports, parseScope(scope), parseId('mem', id))),
    emptyBin: async (scope, options) =>
      letGo(ports, await correct.emptyBin(ports, parseScope(scope), options?.days)),
    undo: async (scope, change) => undo(ports, parseScope(scope), parseId('chg', change)),
    noteUse: async (scope, ids) => {
      uses.note(
        parseScope(scope),
        ids.map((id) => parseId('mem', id)),
      )
      await uses.flush()
    },
    export: (scope) => exportLines(ports, scope === null ? null : parseScope(scope)),
    import: async (lines, options = {}) => {
      const { owner, onProgress } = options
      return importLines(ports, lines, {
        ...(owner === undefined ? {} : { owner: parseScope({ owner }).owner }),
        ...(onProgress === undefined ? {} : { onProgress }),
      })
    },
    places: () => store.places(),
    status: async () => ({
      ...(await store.report()),
      index:
        indexer === null || embedder === undefined
          ? null
          : { ...(await indexer.status()), embedder: embedder.report() },
    }),
    warmUp: async () => {
      await indexer?.catchUp()
    },
    reindex: async (options = {}) => {
      if (indexer === null) {
        throw new AppError('missing_part', 'There is no embedding model to make vectors with.')
      }
      return indexer.reindex(options)
    },
    doctor: (options) => store.inspect({ repair: options?.repair ?? false }),
    close: async () => {
      await uses.flush().catch(() => {}) // counting is not worth failing for
      await indexer?.close()
      try {
        await Promise.all([embedder?.close(), given.reranker?.close()])
      } finally {
        await vectors?.close()
        await store.close()
      }
    },
  }
}

/**
 * Lets the writes of one owner and user take turns. Two that are decided at once would not see each other's
 * statements, and say the same thing twice; racing for a key, most of them would only get in each other's way.
 */
function createQueue() {
  const last = new Map<string, Promise<unknown>>()
  return async <Result>(scope: ScopeInput, work: () => Promise<Result>): Promise<Result> => {
    const name = JSON.stringify([scope?.owner, scope?.user ?? null])
    const turn = (last.get(name) ?? Promise.resolve()).then(work, work)
    last.set(name, turn)
    try {
      return await turn
    } finally {
      if (last.get(name) === turn) last.delete(name)
    }
  }
}

async function letGo(ports: EnginePorts, erased: correct.Erased): Promise<correct.Erased> {
  if (erased.memories > 0) await ports.onErased?.()
  return erased
}

/** The same store, with an ear at the one door that all writes go through. */
function watched(store: Store, indexer: Indexer): Store {
  return {
    ...store,
    commit: async (changes: readonly Change[]) => {
      const outcome = await store.commit(changes)
      if (outcome.kind === 'committed') {
        const memories = changes.flatMap((change) =>
          change.op === 'put' && change.table === 'memory' ? [change.row] : [],
        )
        indexer.changed(memories)
      }
      return outcome
    },
  }
}

function toInstant(at: Date | number): Instant {
  const ms = Number(at)
  if (!Number.isInteger(ms)) throw new AppError('invalid_input', 'That is not a time.')
  return ms as Instant // a whole number of milliseconds
}
