/**
 * Caches the block of a tool loop. A model that calls tools receives the same user message several times; a different
 * block in between would invalidate the provider's prompt cache. A block is reused only while its message waits for an
 * answer, under the same settings, and while its memories are unchanged.
 */

import type { BlockContent } from '../../domain/context-block.ts'
import type { MemoryId } from '../../domain/ids.ts'
import { TRUSTED_LEVELS } from '../../domain/memory.ts'
import type { Scope } from '../../domain/scope.ts'
import { DOCUMENT_TYPES, type SearchDocument } from '../../domain/search-document.ts'
import type { Settings } from '../../domain/settings/settings.ts'
import { hashParts } from '../../lib/hash.ts'
import { LruCache } from '../../lib/lru-cache.ts'
import { HOUR_MS, type Instant, MINUTE_MS } from '../../lib/time.ts'
import type { Store } from '../../storage/store.ts'
import type { SkipReason } from '../conversations.ts'
import type { ReceiptGate, ReceiptMemory } from '../receipts/receipt.ts'

export type InjectedBlock = {
  readonly text: string
  readonly tokens: number
  readonly content: BlockContent
  /** Of the memories in the block, those of the identity section. */
  readonly identity: readonly MemoryId[]
}

/** The block for a message, or why there is none. */
export type BlockDecision = {
  readonly gate: ReceiptGate
  readonly recalled: readonly ReceiptMemory[]
  readonly block: InjectedBlock | SkipReason
}

type BlockKey = { readonly name: string; readonly settings: Settings }

/** After its last use, and after its creation: memories that are learned meanwhile must become visible. */
const IDLE_MS_MAX = 10 * MINUTE_MS
const AGE_MS_MAX = 2 * HOUR_MS
const ENTRIES_MAX = 1_000

type CachedBlock = {
  readonly decision: BlockDecision
  readonly settingsHash: string
  readonly createdAt: Instant
  readonly usedAt: Instant
}

export class ContextCache {
  readonly #entries = new LruCache<string, CachedBlock>({ entriesMax: ENTRIES_MAX })

  set({ name, settings }: BlockKey, decision: BlockDecision, now: Instant): void {
    const settingsHash = hashSettings(settings)
    this.#entries.set(name, { decision, settingsHash, createdAt: now, usedAt: now })
  }

  /** To be called when the user message was answered. */
  drop(name: string): void {
    this.#entries.delete(name)
  }

  /** The decision, unless a memory in its block has changed. Restating or using a memory does not change it. */
  async find(
    store: Store,
    scope: Scope,
    { name, settings }: BlockKey,
    now: Instant,
  ): Promise<BlockDecision | null> {
    const entry = this.#entries.get(name)
    if (entry === undefined) return null
    const { block } = entry.decision
    const isFresh =
      entry.settingsHash === hashSettings(settings) &&
      now < entry.usedAt + IDLE_MS_MAX &&
      now < entry.createdAt + AGE_MS_MAX
    const isValid =
      isFresh && (typeof block === 'string' || (await isUnchanged(store, scope, block, now)))
    // A concurrent request may have replaced the entry.
    if (this.#entries.peek(name) === entry) {
      if (isValid) this.#entries.set(name, { ...entry, usedAt: now })
      else this.#entries.delete(name)
    }
    return isValid ? entry.decision : null
  }

  clear(): void {
    this.#entries.clear()
  }
}

/** A hash of all settings: most of them affect the block, and the others change rarely. */
function hashSettings(settings: Settings): string {
  return hashParts(JSON.stringify(settings))
}

async function isUnchanged(
  store: Store,
  scope: Scope,
  { content }: InjectedBlock,
  now: Instant,
): Promise<boolean> {
  const documents = content.lines.map(({ document }) => document)
  // By owner, because some may belong to shared memory.
  for (const owner of new Set(documents.map(({ place }) => place.owner))) {
    const own = documents.filter(({ place }) => place.owner === owner)
    const ids = own.map(({ id }) => id)
    const { rows } = await store.findDocuments(owner === scope.owner ? scope : { owner }, {
      where: {
        ids,
        types: DOCUMENT_TYPES,
        statuses: ['active'],
        trusts: TRUSTED_LEVELS,
        validAt: now,
      },
      limit: ids.length,
    })
    const current = new Map(rows.map((row) => [row.id, row]))
    if (!own.every((document) => isSameContent(document, current.get(document.id)))) return false
  }
  return true
}

/** Compares the fields that a block renders. */
function isSameContent(before: SearchDocument, now: SearchDocument | undefined): boolean {
  return (
    now !== undefined &&
    now.content === before.content &&
    now.provenance.speaker === before.provenance.speaker &&
    now.validFrom === before.validFrom &&
    JSON.stringify(now.metadata) === JSON.stringify(before.metadata)
  )
}
