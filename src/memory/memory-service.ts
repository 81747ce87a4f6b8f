/** Memories of a scope: writing, reading, correcting and deleting them. */

import { parseInstant } from '../domain/field-parsers.ts'
import { type MemoryId, parseId } from '../domain/ids.ts'
import type { Memory } from '../domain/memory.ts'
import { parseScope, type Scope, type ScopeInput } from '../domain/scope.ts'
import type { Settings } from '../domain/settings/settings.ts'
import type { CountCache } from '../storage/access/count-cache.ts'
import type { MemoryCounts, Page } from '../storage/store.ts'
import {
  type BulkDeleteOptions,
  type BulkDeleteResult,
  deleteMatching,
} from './bulk/bulk-deletion.ts'
import {
  type BulkAction,
  type BulkEditOptions,
  type BulkEditResult,
  editMatching,
} from './bulk/bulk-edit.ts'
import type { DraftInput, EditInput } from './draft.ts'
import * as editor from './memory-editor.ts'
import * as reader from './memory-reader.ts'
import type { Serialize } from './memory-writer.ts'
import { type RememberResult, remember } from './memory-writer.ts'
import type { MemoryDependencies } from './types.ts'
import { type UndoResult, undoChange } from './undo.ts'
import type { UsageCounter } from './usage-counter.ts'

export interface MemoryService {
  /**
   * Stores a statement, or updates, reinforces or supersedes the memory that it is about.
   *
   * @example
   * const { outcome, memory } = await engine.remember(
   *   { owner: 'ada' },
   *   { content: 'I prefer tea over coffee.', category: 'preference' },
   * )
   */
  remember(scope: ScopeInput, draft: DraftInput): Promise<RememberResult>
  /**
   * A memory by its id; null when there is none in the scope.
   *
   * @example
   * const memory = await engine.get({ owner: 'ada' }, 'mem_01jf8t3z9k')
   */
  get(scope: ScopeInput, id: string): Promise<Memory | null>
  /**
   * A page of memories, active ones unless `statuses` says otherwise.
   *
   * @example
   * const page = await engine.list({ owner: 'ada' }, { categories: ['preference'], limit: 20 })
   * const rest = page.next === null ? null : await engine.list({ owner: 'ada' }, { after: page.next })
   */
  list(scope: ScopeInput, query?: reader.ListQuery): Promise<Page<Memory>>
  /**
   * How many memories match, in total and by status, type and category.
   *
   * @example
   * const { total } = await engine.memories.count({ owner: 'ada' }, { pinned: true })
   */
  count(scope: ScopeInput, query?: reader.ReadFilter): Promise<MemoryCounts>
  /**
   * The memories that were active at an earlier time, as they read then.
   *
   * @example
   * const page = await engine.memories.asOf({ owner: 'ada' }, new Date('2026-01-01'))
   */
  asOf(
    scope: ScopeInput,
    at: Date | number,
    query?: { readonly limit?: number; readonly after?: string },
  ): Promise<Page<Memory>>
  /**
   * All versions of a memory, the present one first.
   *
   * @example
   * const versions = await engine.memories.history({ owner: 'ada' }, 'mem_01jf8t3z9k')
   */
  history(scope: ScopeInput, id: string): Promise<readonly reader.HistoryEntry[]>
  /**
   * A memory with what it replaced and what replaced it, oldest first.
   *
   * @example
   * const memories = await engine.memories.chain({ owner: 'ada' }, 'mem_01jf8t3z9k')
   */
  chain(scope: ScopeInput, id: string): Promise<readonly Memory[]>
  /**
   * Changes the named fields. With `version`, fails with `conflict` when the memory has changed since that version.
   *
   * @example
   * await engine.edit({ owner: 'ada' }, 'mem_01jf8t3z9k', { importance: 8 }, { version: 3 })
   */
  edit(
    scope: ScopeInput,
    id: string,
    edit: EditInput,
    options?: editor.EditOptions,
  ): Promise<Memory>
  /**
   * Stores another wording of a memory beside it, as a conflict that a person decides: for authors who are less trusted
   * than the one of the memory.
   *
   * @example
   * const { memory } = await engine.memories.proposeEdit({ owner: 'ada' }, 'mem_01jf8t3z9k', {
   *   content: 'I moved to Porto.',
   *   trust: 'assistant',
   * })
   */
  proposeEdit(
    scope: ScopeInput,
    id: string,
    proposal: Omit<DraftInput, 'key' | 'pinned'>,
    options?: editor.EditOptions,
  ): Promise<RememberResult>
  /**
   * Excludes a memory from recall until it is restored.
   *
   * @example
   * await engine.memories.disable({ owner: 'ada' }, 'mem_01jf8t3z9k')
   */
  disable(scope: ScopeInput, id: string): Promise<Memory>
  /**
   * Moves a memory to the trash and disables the conversation turns that state it. Restorable.
   *
   * @example
   * const { turnsDisabled } = await engine.forget({ owner: 'ada' }, 'mem_01jf8t3z9k')
   */
  forget(scope: ScopeInput, id: string): Promise<editor.Forgotten>
  /**
   * Restores a forgotten or disabled memory; with `version`, the text of an earlier version.
   *
   * @example
   * await engine.restore({ owner: 'ada' }, 'mem_01jf8t3z9k')
   */
  restore(
    scope: ScopeInput,
    id: string,
    options?: { readonly version?: number },
  ): Promise<editor.Restored>
  /**
   * Erases a memory with its history and disables the turns that state it. Permanent.
   *
   * @example
   * const erased = await engine.memories.erase({ owner: 'ada' }, 'mem_01jf8t3z9k')
   */
  erase(scope: ScopeInput, id: string): Promise<editor.ErasureCounts>
  /**
   * Erases what has been in the trash for longer than `days`. Default: the setting `retention.trashDays`.
   *
   * @example
   * const { memories } = await engine.memories.emptyTrash({ owner: 'ada' }, { days: 7 })
   */
  emptyTrash(scope: ScopeInput, options?: { readonly days?: number }): Promise<editor.ErasureCounts>
  /**
   * Forgets every memory that matches as one change, which `undo` reverts; with `erase`, permanently.
   *
   * @example
   * const { matched } = await engine.memories.clear({ owner: 'ada' }, { sources: ['import'] }, { dryRun: true })
   */
  clear(
    scope: ScopeInput,
    query: reader.ReadFilter,
    options?: BulkDeleteOptions,
  ): Promise<BulkDeleteResult>
  /**
   * Edits, disables or restores every memory that matches as one change, which `undo` reverts.
   *
   * @example
   * const { changed } = await engine.memories.editMatching(
   *   { owner: 'ada' },
   *   { categories: ['general'] },
   *   { kind: 'edit', edit: { category: 'fact' } },
   * )
   */
  editMatching(
    scope: ScopeInput,
    query: reader.ReadFilter,
    action: BulkAction,
    options?: BulkEditOptions,
  ): Promise<BulkEditResult>
  /**
   * Reverts a change, field by field; fields that changed again since then stay.
   *
   * @example
   * const { memory } = await engine.remember({ owner: 'ada' }, { content: 'I moved to Lisbon.' })
   * await engine.undo({ owner: 'ada' }, memory.change)
   */
  undo(scope: ScopeInput, change: string): Promise<UndoResult>
  /**
   * Counts a use of these memories, which recall weighs.
   *
   * @example
   * await engine.memories.recordUse({ owner: 'ada' }, ['mem_01jf8t3z9k'])
   */
  recordUse(scope: ScopeInput, ids: readonly string[]): Promise<void>
}

export type MemoryServiceDependencies = {
  readonly ports: MemoryDependencies
  readonly settings: { resolve(owner: Scope['owner']): Promise<Settings> }
  readonly serialize: Serialize
  readonly counts: CountCache
  readonly usage: UsageCounter
  /** Purges caches that may hold erased text. */
  readonly purgeCaches: () => Promise<void>
}

export function createMemoryService({
  ports,
  settings,
  serialize,
  counts,
  usage,
  purgeCaches,
}: MemoryServiceDependencies): MemoryService {
  const withOwnerSettings = async (scope: Scope): Promise<MemoryDependencies> => ({
    ...ports,
    settings: await settings.resolve(scope.owner),
  })
  const parseMemoryId = (id: string): MemoryId => parseId('mem', id)
  return {
    remember: async (input, draft) =>
      serialize(input, async () => {
        const scope = parseScope(input)
        return remember(await withOwnerSettings(scope), scope, draft)
      }),
    get: async (scope, id) => ports.store.get('memory', parseScope(scope), parseMemoryId(id)),
    list: async (scope, query = {}) => reader.listMemories(ports, parseScope(scope), query),
    count: async (scope, query = {}) =>
      counts.count(parseScope(scope), reader.toMemoryFilter(query, ports.clock.now())),
    asOf: async (scope, at, query = {}) =>
      reader.listMemoriesAsOf(ports, parseScope(scope), parseInstant('at', Number(at)), query),
    history: async (scope, id) => reader.listVersions(ports, parseScope(scope), parseMemoryId(id)),
    chain: async (scope, id) => reader.listChain(ports, parseScope(scope), parseMemoryId(id)),
    edit: async (scope, id, edit, options) =>
      editor.edit(ports, parseScope(scope), parseMemoryId(id), edit, options),
    proposeEdit: async (input, id, proposal, options) => {
      const memory = await editor.loadForEdit(ports, parseScope(input), parseMemoryId(id), options)
      const { place, type, category, importance } = memory
      const isGraded = category === 'identity' // a conflicting statement is no part of the identity
      const draft = {
        ...{ type, importance, ...(isGraded ? {} : { category }) },
        ...proposal,
      }
      return serialize(place, async () =>
        remember(await withOwnerSettings(place), place, draft, memory),
      )
    },
    disable: async (scope, id) => editor.disable(ports, parseScope(scope), parseMemoryId(id)),
    forget: async (scope, id) => editor.forget(ports, parseScope(scope), parseMemoryId(id)),
    restore: async (scope, id, options) =>
      editor.restore(ports, parseScope(scope), parseMemoryId(id), options?.version),
    erase: async (scope, id) => {
      const erased = await editor.erase(ports, parseScope(scope), parseMemoryId(id))
      await purgeCaches()
      return erased
    },
    emptyTrash: async (input, options) => {
      const scope = parseScope(input)
      const erased = await editor.emptyTrash(await withOwnerSettings(scope), scope, options?.days)
      if (erased.memories > 0) await purgeCaches()
      return erased
    },
    clear: async (scope, query, options = {}) => {
      const cleared = await deleteMatching(ports, parseScope(scope), query, options)
      if (cleared.erased > 0) await purgeCaches()
      return cleared
    },
    editMatching: async (scope, query, action, options = {}) =>
      editMatching(ports, parseScope(scope), query, action, options),
    undo: async (scope, change) => undoChange(ports, parseScope(scope), parseId('chg', change)),
    recordUse: async (scope, ids) => {
      usage.note(parseScope(scope), ids.map(parseMemoryId))
      await usage.flush()
    },
  }
}
