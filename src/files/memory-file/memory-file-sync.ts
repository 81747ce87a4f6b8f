/**
 * Syncs the block in `MEMORY.md` with its memories, one owner at a time. Edits of lines become changes of memories
 * first; then the block is rendered again and written if it differs, so that its own write triggers nothing.
 */
import type { EntryOf } from '../../domain/entries/entry.ts'
import type { EntryId, OwnerId } from '../../domain/ids.ts'
import type { Memory } from '../../domain/memory.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, toAppError } from '../../lib/errors.ts'
import { hashParts } from '../../lib/hash.ts'
import { buildEntryChange, getEntry } from '../../storage/access/system-entries.ts'
import type { Store } from '../../storage/store.ts'
import type { FileProblem } from '../file.ts'
import type { Workspace } from '../file-tree.ts'
import {
  buildMemoryTag,
  detectLineEnding,
  diffMemoryFile,
  findMemoryBlock,
  MEMORY_FILE,
  type MemoryFileEntry,
  type MemoryFileLine,
  parseMemoryBlock,
  renderEntryText,
  renderMemoryBlock,
  replaceMemoryBlock,
} from './memory-file.ts'

/** The memories of the block: those of the owner that belong to no user. */
export interface PinnedMemories {
  /** Pinned and identity memories, oldest first. */
  list(owner: OwnerId): Promise<readonly Memory[]>
  edit(owner: OwnerId, id: string, content: string): Promise<void>
  add(owner: OwnerId, content: string, isIdentity: boolean): Promise<void>
  /** Unpins a memory; identity memories move to the trash. */
  unpin(
    owner: OwnerId,
    memory: { readonly id: string; readonly isIdentity: boolean },
  ): Promise<void>
}

export type MemoryFileSyncDependencies = {
  /** The store of the index, which records the last written state. */
  readonly store: Store
  readonly clock: Clock
  readonly memories: PinnedMemories
  /** Null without a workspace. */
  readonly workspaceOf: (owner: OwnerId) => Promise<Workspace | null>
  readonly isEnabled: (owner: OwnerId) => Promise<boolean>
}

/** Retries after concurrent edits. */
const TRIES_MAX = 5

export class MemoryFileSync {
  readonly #parts: MemoryFileSyncDependencies
  readonly #turns = new Map<OwnerId, Promise<void>>()
  readonly #troubles = new Map<OwnerId, FileProblem>()

  constructor(parts: MemoryFileSyncDependencies) {
    this.#parts = parts
  }

  /** Why the last sync failed; null after a success. */
  trouble(owner: OwnerId): FileProblem | null {
    return this.#troubles.get(owner) ?? null
  }

  /** Never rejects: failures appear in the status and must not block indexing. */
  sync(owner: OwnerId): Promise<void> {
    const turn = (this.#turns.get(owner) ?? Promise.resolve()).then(async () => {
      try {
        await this.#bringTogether(owner)
        this.#troubles.delete(owner)
      } catch (error) {
        const { message } = toAppError(error)
        this.#troubles.set(owner, { path: MEMORY_FILE, reason: 'failed', message })
      }
    })
    this.#turns.set(owner, turn)
    return turn
  }

  async close(): Promise<void> {
    await Promise.all(this.#turns.values())
  }

  async #bringTogether(owner: OwnerId): Promise<void> {
    if (!(await this.#parts.isEnabled(owner))) return
    const workspace = await this.#parts.workspaceOf(owner)
    if (workspace === null) return
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      if (await this.#once(owner, workspace)) return
    }
    throw new AppError('busy', `${MEMORY_FILE} is being changed all the time.`)
  }

  /** False when the file was edited meanwhile, which has to be read first. */
  async #once(owner: OwnerId, workspace: Workspace): Promise<boolean> {
    const { memories } = this.#parts
    const before = (await workspace.read(MEMORY_FILE)) ?? ''
    const seen = getBlockText(before)
    const lines = seen === null ? null : parseMemoryBlock(seen)
    const entry = await this.#entry(owner)
    const plan = diffMemoryFile(lines, entry?.body.snapshot ?? {}, await this.#mirrored(owner))
    for (const { id, text } of plan.edits) await memories.edit(owner, id, text)
    for (const memory of plan.removed) await memories.unpin(owner, memory)
    const refused: MemoryFileLine[] = []
    for (const line of plan.added) if (!(await this.#add(owner, line))) refused.push(line)

    const mirrored = await this.#mirrored(owner)
    const own = refused.map((line) => ({ ...line, tag: null }))
    let isSame = true
    await workspace.update(MEMORY_FILE, (text) => {
      const current = text ?? ''
      isSame = getBlockText(current) === seen
      if (!isSame) return null
      if (mirrored.length === 0 && own.length === 0 && seen === null) return null
      return replaceMemoryBlock(
        current,
        renderMemoryBlock(mirrored, own, detectLineEnding(current)),
      )
    })
    if (isSame) await this.#note(owner, entry, mirrored)
    return isSame
  }

  /** False for a line that cannot become a memory, for example because it is too long. It stays a line. */
  async #add(owner: OwnerId, { text, isIdentity }: MemoryFileLine): Promise<boolean> {
    try {
      await this.#parts.memories.add(owner, text, isIdentity)
      return true
    } catch (error) {
      const { code } = toAppError(error)
      if (code !== 'invalid_input' && code !== 'forgotten') throw error
      return false
    }
  }

  async #mirrored(owner: OwnerId): Promise<readonly MemoryFileEntry[]> {
    const memories = await this.#parts.memories.list(owner)
    return memories.map(({ id, content, category }) => ({
      ...{ id, tag: buildMemoryTag(id), text: renderEntryText(content) },
      isIdentity: category === 'identity',
    }))
  }

  #entry(owner: OwnerId): Promise<EntryOf<'memory-file'> | null> {
    return getEntry(this.#parts, { owner, user: null }, 'memory-file', entryId(owner))
  }

  async #note(
    owner: OwnerId,
    before: EntryOf<'memory-file'> | null,
    mirrored: readonly MemoryFileEntry[],
  ): Promise<void> {
    const snapshot = Object.fromEntries(mirrored.map(({ tag, text }) => [tag, text]))
    if (JSON.stringify(snapshot) === JSON.stringify(before?.body.snapshot ?? {})) return
    const { entry: row } = buildEntryChange(
      {
        id: entryId(owner),
        place: { owner, user: null, session: null },
        ...{ kind: 'memory-file', about: owner, at: this.#parts.clock.now(), body: { snapshot } },
      },
      before,
    )
    // A concurrent writer of the same state wrote the same row.
    await this.#parts.store.commit([{ op: 'put', table: 'entry', row, expect: 'any' }])
  }
}

function getBlockText(text: string): string | null {
  const block = findMemoryBlock(text)
  if (block === 'broken') {
    throw new AppError(
      'conflict',
      `${MEMORY_FILE} must contain the marks of Recollect as exactly one pair. Remove incomplete marks to resume the sync.`,
    )
  }
  return block === 'none' ? null : block.inside
}

function entryId(owner: OwnerId): EntryId {
  return `mirror_${hashParts(owner)}` as EntryId // created from a hash
}
