/**
 * Blocks that stay as they were. A model that calls tools is asked the same thing several times, with more at the end
 * each time; were the block another one in between, the provider would have to read everything after it anew.
 */
import type { Instant, OwnerId, Scope } from '../../core/ids.ts'
import type { Memory } from '../../core/memory.ts'
import { renderBlock } from '../../core/prompting/block.ts'
import type { ReceiptMemory } from '../../core/receipt.ts'
import type { Store } from '../../ports/store.ts'

export type GivenBlock = {
  readonly text: string
  readonly tokens: number
  readonly memories: readonly Memory[]
  readonly recalled: readonly ReceiptMemory[]
}

/** Since it was last given, and since it was made: what is learned meanwhile has to be found one day. */
const UNUSED_MS = 10 * 60_000
const KEPT_MS = 2 * 60 * 60_000
const BLOCKS_MAX = 1_000

type KeptBlock = {
  readonly block: GivenBlock
  readonly madeAt: Instant
  readonly givenAt: Instant
}

export class StickyBlocks {
  /** The one that was given last is the last one. */
  readonly #blocks = new Map<string, KeptBlock>()

  keep(name: string, block: GivenBlock, now: Instant): void {
    this.#put(name, { block, madeAt: now, givenAt: now })
  }

  #put(name: string, kept: KeptBlock): void {
    this.#blocks.delete(name)
    this.#blocks.set(name, kept)
    for (const oldest of this.#blocks.keys()) {
      if (this.#blocks.size <= BLOCKS_MAX) break
      this.#blocks.delete(oldest)
    }
  }

  /** The block, if its memories still say the same. Being restated or used doesn't change what they say. */
  async find(store: Store, scope: Scope, name: string, now: Instant): Promise<GivenBlock | null> {
    const kept = this.#blocks.get(name)
    if (kept === undefined) return null
    const { memories, text } = kept.block
    const isFresh = now < kept.givenAt + UNUSED_MS && now < kept.madeAt + KEPT_MS
    const present = isFresh ? await presentOf(store, scope, memories, now) : null
    const isSame = present !== null && renderBlock(present) === text
    // Another request may have put another one there meanwhile.
    if (this.#blocks.get(name) === kept) {
      if (isSame) this.#put(name, { ...kept, givenAt: now })
      else this.#blocks.delete(name)
    }
    return isSame ? kept.block : null
  }

  clear(): void {
    this.#blocks.clear()
  }
}

/** The memories as they are now, in the same order; null when one of them is no longer in use. */
async function presentOf(
  store: Store,
  scope: Scope,
  memories: readonly Memory[],
  now: Instant,
): Promise<readonly Memory[] | null> {
  const present = new Map<string, Memory>()
  // Some may come from shared memory, which is another owner's.
  for (const owner of new Set<OwnerId>(memories.map(({ place }) => place.owner))) {
    const ids = memories.filter(({ place }) => place.owner === owner).map(({ id }) => id)
    const { rows } = await store.find('memory', owner === scope.owner ? scope : { owner }, {
      where: { ids, statuses: ['active'], unendedAt: now },
      limit: ids.length,
    })
    for (const row of rows) present.set(row.id, row)
  }
  const found = memories.flatMap(({ id }) => present.get(id) ?? [])
  return found.length === memories.length ? found : null
}
