/** Recorded conversations: sessions, their turns, and the episodes distilled from them. */

import { type OwnerId, parseId } from '../domain/ids.ts'
import type { Memory } from '../domain/memory.ts'
import { parseScope, type ScopeInput } from '../domain/scope.ts'
import type { Settings } from '../domain/settings/settings.ts'
import type { Turn } from '../domain/turn.ts'
import type { Jobs } from '../jobs/jobs.ts'
import {
  type EpisodeQuery,
  getEpisode,
  listEpisodeFacts,
  listEpisodes,
} from '../learning/episodes.ts'
import { type BulkDeleteResult, deleteMatching } from '../memory/bulk/bulk-deletion.ts'
import type { MemoryDependencies } from '../memory/types.ts'
import type { TurnHit } from '../recall/turn-retriever.ts'
import { getSessionByName } from '../storage/access/session-lookup.ts'
import type { Page } from '../storage/store.ts'
import {
  type DeletedSession,
  type DeletedTurn,
  deleteSession,
  deleteTurn,
  type EditedTurn,
  editTurn,
  getMemorySources,
  getTurn,
  listSessions,
  listTurns,
  type MemorySources,
  type PageQuery,
  type SessionReport,
  searchTurns,
  setTurnDisabled,
  type TurnEdit,
  type TurnSearchQuery,
  type TurnStateChange,
  type TurnsQuery,
} from './transcript-admin.ts'

export type { EpisodeQuery } from '../learning/episodes.ts'

export interface ConversationAdmin {
  readonly sessions: Sessions
  readonly turns: Turns
  /** Summaries of sessions. They are memories too: edit and delete them as memories. */
  readonly episodes: Episodes
}

export interface Sessions {
  /**
   * Sessions of a scope, the most recently used first.
   *
   * @example
   * const page = await engine.conversations.sessions.list({ owner: 'ada' }, { limit: 20 })
   */
  list(scope: ScopeInput, query?: PageQuery): Promise<Page<SessionReport>>
  /**
   * Deletes all turns of a session permanently; with `memories`, moves what was learned from it to the trash.
   *
   * @example
   * const { turns } = await engine.conversations.sessions.delete({ owner: 'ada', session: 'trip to Oslo' })
   */
  delete(
    scope: ScopeInput,
    options?: { readonly memories?: boolean },
  ): Promise<DeletedSession & { readonly cleared: BulkDeleteResult | null }>
}

export interface Turns {
  /**
   * @example
   * const page = await engine.conversations.turns.list({ owner: 'ada', session: 'trip to Oslo' })
   */
  list(scope: ScopeInput, query?: TurnsQuery): Promise<Page<Turn>>
  /**
   * Fails with `not_found` when there is no such turn.
   *
   * @example
   * const turn = await engine.conversations.turns.get({ owner: 'ada' }, 'turn_01jf8t3z9k')
   */
  get(scope: ScopeInput, id: string): Promise<Turn>
  /**
   * @example
   * const hits = await engine.conversations.turns.search({ owner: 'ada' }, { text: 'Oslo', limit: 5, days: 30 })
   */
  search(scope: ScopeInput, query: TurnSearchQuery): Promise<readonly TurnHit[]>
  /**
   * Replaces the text of a turn and retracts what the old text taught. The new text is learned from again.
   *
   * @example
   * await engine.conversations.turns.edit({ owner: 'ada' }, 'turn_01jf8t3z9k', { content: 'I live in Oslo.' })
   */
  edit(scope: ScopeInput, id: string, edit: TurnEdit): Promise<EditedTurn>
  /**
   * Excludes a turn from search, quotation and learning until it is restored. Memories learned from it stay; their ids
   * are in the result.
   *
   * @example
   * const { learned } = await engine.conversations.turns.disable({ owner: 'ada' }, 'turn_01jf8t3z9k')
   */
  disable(scope: ScopeInput, id: string): Promise<TurnStateChange>
  /**
   * Enables a disabled turn.
   *
   * @example
   * await engine.conversations.turns.restore({ owner: 'ada' }, 'turn_01jf8t3z9k')
   */
  restore(scope: ScopeInput, id: string): Promise<TurnStateChange>
  /**
   * Deletes a turn permanently. Memories learned from it stay; their ids are in the result.
   *
   * @example
   * await engine.conversations.turns.delete({ owner: 'ada' }, 'turn_01jf8t3z9k')
   */
  delete(scope: ScopeInput, id: string): Promise<DeletedTurn>
  /**
   * The turns that a memory was learned from, and the ids of those that were deleted.
   *
   * @example
   * const memory = await engine.get({ owner: 'ada' }, 'mem_01jf8t3z9k')
   * if (memory !== null) console.log(await engine.conversations.turns.getSources(memory))
   */
  getSources(memory: Memory): Promise<MemorySources>
}

export interface Episodes {
  /**
   * @example
   * const page = await engine.conversations.episodes.list({ owner: 'ada' }, { limit: 10 })
   */
  list(scope: ScopeInput, query?: EpisodeQuery): Promise<Page<Memory>>
  /**
   * An episode with the facts distilled from the same turns. Fails with `not_found` for other memories.
   *
   * @example
   * const { episode, facts } = await engine.conversations.episodes.get({ owner: 'ada' }, 'mem_01jf8t3z9k')
   */
  get(
    scope: ScopeInput,
    id: string,
  ): Promise<{ readonly episode: Memory; readonly facts: readonly Memory[] }>
}

export type ConversationAdminDependencies = {
  readonly ports: MemoryDependencies
  readonly jobs: Jobs
  readonly settings: { resolve(owner: OwnerId): Promise<Settings> }
  /** Purges caches that may hold erased text. */
  readonly purgeCaches: () => Promise<void>
}

export function createConversationAdmin({
  ports,
  jobs,
  settings,
  purgeCaches,
}: ConversationAdminDependencies): ConversationAdmin {
  const editing = { ports, jobs, settingsOf: (owner: OwnerId) => settings.resolve(owner) }
  return {
    sessions: {
      list: async (scope, query = {}) => listSessions(ports, parseScope(scope), query),
      delete: async (scope, { memories = false } = {}) => {
        const place = await getSessionByName(ports, parseScope(scope))
        const deleted = await deleteSession(editing, place)
        const cleared = memories
          ? await deleteMatching(ports, place, { includeExpired: true }, {})
          : null
        await purgeCaches()
        return { ...deleted, cleared }
      },
    },
    turns: {
      list: async (scope, query = {}) => listTurns(ports, parseScope(scope), query),
      get: async (scope, id) => getTurn(ports, parseScope(scope), parseId('turn', id)),
      search: async (scope, query) => searchTurns(ports, parseScope(scope), query),
      edit: async (scope, id, edit) =>
        editTurn(editing, parseScope(scope), parseId('turn', id), edit),
      disable: async (scope, id) => {
        const turn = await setTurnDisabled(editing, parseScope(scope), parseId('turn', id), true)
        await purgeCaches()
        return turn
      },
      restore: async (scope, id) =>
        setTurnDisabled(editing, parseScope(scope), parseId('turn', id), false),
      delete: async (scope, id) => {
        const deleted = await deleteTurn(ports, parseScope(scope), parseId('turn', id))
        await purgeCaches()
        return deleted
      },
      getSources: (memory) => getMemorySources(ports, memory),
    },
    episodes: {
      list: async (scope, query = {}) => listEpisodes(ports, parseScope(scope), query),
      get: async (scope, id) => {
        const episode = await getEpisode(ports, parseScope(scope), parseId('mem', id))
        return { episode, facts: await listEpisodeFacts(ports, episode) }
      },
    },
  }
}
