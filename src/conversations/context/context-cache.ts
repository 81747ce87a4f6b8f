/**
 * The blocks of tool loops. A model that calls tools is asked the same thing several times, with more at the end each
 * time; another block in between would invalidate the provider's prompt cache. A block is reused only while its user
 * message awaits its answer, under the same settings, and while what is in it says the same; everything else is recalled
 * afresh.
 */

import type { BlockContent } from '../../domain/context-block.ts'
import type { MemoryId, OwnerId } from '../../domain/ids.ts'
import { TRUSTED_LEVELS } from '../../domain/memory.ts'
import type { Scope } from '../../domain/scope.ts'
import { DOCUMENT_TYPES, type SearchDocument } from '../../domain/search-document.ts'
import type { Settings } from '../../domain/settings/settings.ts'
import { hashParts } from '../../lib/hash.ts'
import { LruCache } from '../../lib/lru-cache.ts'
import type { Instant } from '../../lib/time.ts'
import type { Store } from '../../storage/store.ts'
import type { SkipReason } from '../conversations.ts'
import type { ReceiptGate, ReceiptMemory } from '../receipts/receipt.ts'

export type InjectedBlock = {
  readonly text: string
  readonly tokens: number
  readonly content: BlockContent
  /** Of its memories, those that are always given. */
  readonly identity: readonly MemoryId[]
  readonly gate: ReceiptGate
  readonly recalled: readonly ReceiptMemory[]
}

/** What a message is given: a block, or the reason for none. */
export type BlockDecision = {
  readonly gate: ReceiptGate | null
  readonly recalled: readonly ReceiptMemory[]
  readonly block: InjectedBlock | SkipReason
}

/** What a block is reused for: the same user message under the same settings. */
export type BlockKey = { readonly name: string; readonly settings: Settings }

/** Since it was last given, and since it was made: what is learned meanwhile has to be found one day. */
const UNUSED_MS = 10 * 60_000
const KEPT_MS = 2 * 60 * 60_000
const BLOCKS_MAX = 1_000

type CachedBlock = {
  readonly decision: BlockDecision
  /** A hash of the settings that it was made under. */
  readonly settings: string
  readonly madeAt: Instant
  readonly givenAt: Instant
}

export class ContextCache {
  readonly #blocks = new LruCache<string, CachedBlock>({ entriesMax: BLOCKS_MAX })

  keep({ name, settings }: BlockKey, decision: BlockDecision, now: Instant): void {
    this.#blocks.set(name, {
      decision,
      settings: hashSettings(settings),
      madeAt: now,
      givenAt: now,
    })
  }

  /** The user message was answered, so that nothing awaits an answer under this name. */
  drop(name: string): void {
    this.#blocks.delete(name)
  }

  /** The decision, if what is in its block still says the same. Being restated or used doesn't change what memories say. */
  async find(
    store: Store,
    scope: Scope,
    { name, settings }: BlockKey,
    now: Instant,
  ): Promise<BlockDecision | null> {
    const kept = this.#blocks.peek(name)
    if (kept === undefined) return null
    const { block } = kept.decision
    const isFresh =
      kept.settings === hashSettings(settings) &&
      now < kept.givenAt + UNUSED_MS &&
      now < kept.madeAt + KEPT_MS
    const isSame =
      isFresh && (typeof block === 'string' || (await isUnchanged(store, scope, block, now)))
    // Another request may have put another one there meanwhile.
    if (this.#blocks.peek(name) === kept) {
      if (isSame) this.#blocks.set(name, { ...kept, givenAt: now })
      else this.#blocks.delete(name)
    }
    return isSame ? kept.decision : null
  }

  clear(): void {
    this.#blocks.clear()
  }
}

/** Of all settings: most of them influence what is recalled or how it is rendered, and any other one changes rarely. */
function hashSettings(settings: Settings): string {
  return hashParts(JSON.stringify(settings))
}

/** Whether all that is in a block is still in use and says the same. */
async function isUnchanged(
  store: Store,
  scope: Scope,
  { content: { lines: pieces } }: InjectedBlock,
  now: Instant,
): Promise<boolean> {
  // Some may come from shared memory, which is another owner's.
  for (const owner of new Set<OwnerId>(pieces.map(({ document }) => document.place.owner))) {
    const own = pieces.map(({ document }) => document).filter(({ place }) => place.owner === owner)
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
    const present = new Map(rows.map((row) => [row.id, row]))
    if (!own.every((document) => isSameContent(document, present.get(document.id)))) return false
  }
  return true
}

/** In all that a block shows of it. */
function isSameContent(before: SearchDocument, now: SearchDocument | undefined): boolean {
  return (
    now !== undefined &&
    now.content === before.content &&
    now.provenance.speaker === before.provenance.speaker &&
    now.validFrom === before.validFrom &&
    JSON.stringify(now.metadata) === JSON.stringify(before.metadata)
  )
}
