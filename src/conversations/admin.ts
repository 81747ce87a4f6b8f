/** What a person may look at and put right of what was kept: conversations, their digests, and who the person is. */

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
import {
  type AddIdentityResult,
  addIdentity,
  getIdentity,
  type IdentityProfile,
  listIdentities,
} from '../learning/identity/identities.ts'
import { type BulkDeleteResult, deleteMatching } from '../memory/bulk-deletion.ts'
import type { DraftInput } from '../memory/draft.ts'
import type { RememberResult } from '../memory/memory-writer.ts'
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
  /** Digests of conversations. They are memories: what changes memories changes them. */
  readonly episodes: {
    list(scope: ScopeInput, query?: EpisodeQuery): Promise<Page<Memory>>
    /** With what was distilled from the same turns. Fails for other memories. */
    get(
      scope: ScopeInput,
      id: string,
    ): Promise<{ readonly episode: Memory; readonly facts: readonly Memory[] }>
  }
  /** Who people are: statements that are always told, and the narrative that is made from them. */
  readonly identity: {
    /** One for each user that has any. */
    list(scope: ScopeInput): Promise<readonly IdentityProfile[]>
    /** Fails for other memories. */
    get(scope: ScopeInput, id: string): Promise<Memory>
    add(
      scope: ScopeInput,
      statement: { readonly content: string; readonly source?: string },
    ): Promise<AddIdentityResult>
  }
  /** What was said. */
  readonly transcript: {
    /** Those with the last word first. */
    sessions(scope: ScopeInput, query?: PageQuery): Promise<Page<SessionReport>>
    turns(scope: ScopeInput, query?: TurnsQuery): Promise<Page<Turn>>
    get(scope: ScopeInput, id: string): Promise<Turn>
    search(scope: ScopeInput, query: TurnSearchQuery): Promise<readonly TurnHit[]>
    /** What it says now is learned from again. */
    edit(scope: ScopeInput, id: string, edit: TurnEdit): Promise<EditedTurn>
    /** Neither found, quoted nor learned from, until it is restored. What was learned from it stays, and is named. */
    disable(scope: ScopeInput, id: string): Promise<TurnStateChange>
    restore(scope: ScopeInput, id: string): Promise<TurnStateChange>
    /** For good. What was learned from it stays, and is named. */
    forget(scope: ScopeInput, id: string): Promise<DeletedTurn>
    /** All that was said in a session, for good; with `memories`, what was learned in it goes into the bin. */
    forgetSession(
      scope: ScopeInput,
      options?: { readonly memories?: boolean },
    ): Promise<DeletedSession & { readonly cleared: BulkDeleteResult | null }>
    /** The turns that a memory was learned from, and which of them are gone. */
    sources(memory: Memory): Promise<MemorySources>
  }
}

type ConversationAdminDependencies = {
  readonly ports: MemoryDependencies
  readonly jobs: Jobs
  readonly settingsOf: (owner: OwnerId) => Promise<Settings>
  readonly remember: (scope: ScopeInput, draft: DraftInput) => Promise<RememberResult>
  /** Whatever else may hold something of what was erased lets it go. */
  readonly letGo: () => Promise<void>
}

export function createConversationAdmin(parts: ConversationAdminDependencies): ConversationAdmin {
  const { ports, remember, letGo } = parts
  return {
    episodes: {
      list: async (scope, query = {}) => listEpisodes(ports, parseScope(scope), query),
      get: async (scope, id) => {
        const episode = await getEpisode(ports, parseScope(scope), parseId('mem', id))
        return { episode, facts: await listEpisodeFacts(ports, episode) }
      },
    },
    identity: {
      list: async (scope) => listIdentities(ports, parseScope(scope)),
      get: async (scope, id) => getIdentity(ports, parseScope(scope), parseId('mem', id)),
      add: async (scope, { content, source = 'library' }) =>
        addIdentity(ports, remember, parseScope(scope), { content, source }),
    },
    transcript: {
      sessions: async (scope, query = {}) => listSessions(ports, parseScope(scope), query),
      turns: async (scope, query = {}) => listTurns(ports, parseScope(scope), query),
      get: async (scope, id) => getTurn(ports, parseScope(scope), parseId('turn', id)),
      search: async (scope, query) => searchTurns(ports, parseScope(scope), query),
      edit: async (scope, id, edit) =>
        editTurn(parts, parseScope(scope), parseId('turn', id), edit),
      disable: async (scope, id) => {
        const disabled = await setTurnDisabled(parts, parseScope(scope), parseId('turn', id), true)
        await letGo()
        return disabled
      },
      restore: async (scope, id) =>
        setTurnDisabled(parts, parseScope(scope), parseId('turn', id), false),
      forget: async (scope, id) => {
        const forgotten = await deleteTurn(ports, parseScope(scope), parseId('turn', id))
        await letGo()
        return forgotten
      },
      forgetSession: async (scope, { memories = false } = {}) => {
        const place = await getSessionByName(ports, parseScope(scope))
        const forgotten = await deleteSession(parts, place)
        const cleared = memories
          ? await deleteMatching(ports, place, { includeExpired: true }, {})
          : null
        await letGo()
        return { ...forgotten, cleared }
      },
      sources: (memory) => getMemorySources(ports, memory),
    },
  }
}
