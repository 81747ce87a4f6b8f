/**
 * Blocks that stay as they were. A model that calls tools is asked the same thing several times, with more at the end
 * each time; were the block another one in between, the provider would have to read everything after it anew.
 */
import type { Instant, MemoryId, OwnerId, Scope, TurnId } from '../../core/ids.ts'
import { BELIEVED_TRUST_LEVELS, type Memory } from '../../core/memory.ts'
import { type BlockContent, renderBlock } from '../../core/prompting/block.ts'
import type { ReceiptGate, ReceiptMemory } from '../../core/receipt.ts'
import type { Turn } from '../../core/transcript.ts'
import type { Store } from '../../ports/store.ts'

export type GivenBlock = {
  readonly text: string
  readonly tokens: number
  readonly content: BlockContent
  /** Of its memories, those that are always given. */
  readonly identity: readonly MemoryId[]
  readonly gate: ReceiptGate
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

  /** The block, if what is in it still says the same. Being restated or used doesn't change what memories say. */
  async find(store: Store, scope: Scope, name: string, now: Instant): Promise<GivenBlock | null> {
    const kept = this.#blocks.get(name)
    if (kept === undefined) return null
    const { content, text } = kept.block
    const isFresh = now < kept.givenAt + UNUSED_MS && now < kept.madeAt + KEPT_MS
    const present = isFresh ? await presentOf(store, scope, content, now) : null
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

/** The content as it is now, in the same order, on the day that it was given; null when a part is no longer in use. */
async function presentOf(
  store: Store,
  scope: Scope,
  content: BlockContent,
  now: Instant,
): Promise<BlockContent | null> {
  const { memories, turns } = content
  const said = turns.map(({ id }) => id)
  const quoted = said.length === 0 ? [] : await turnsOf(store, scope, said)
  const known = await memoriesOf(store, scope, memories, now)
  if (known.length < memories.length || quoted.length < turns.length) return null
  return { ...content, memories: known, turns: quoted }
}

async function memoriesOf(
  store: Store,
  scope: Scope,
  memories: readonly Memory[],
  now: Instant,
): Promise<readonly Memory[]> {
  const present = new Map<string, Memory>()
  // Some may come from shared memory, which is another owner's.
  for (const owner of new Set<OwnerId>(memories.map(({ place }) => place.owner))) {
    const ids = memories.filter(({ place }) => place.owner === owner).map(({ id }) => id)
    const { rows } = await store.find('memory', owner === scope.owner ? scope : { owner }, {
      where: { ids, statuses: ['active'], trusts: BELIEVED_TRUST_LEVELS, unendedAt: now },
      limit: ids.length,
    })
    for (const row of rows) present.set(row.id, row)
  }
  return memories.flatMap(({ id }) => present.get(id) ?? [])
}

async function turnsOf(
  store: Store,
  scope: Scope,
  ids: readonly TurnId[],
): Promise<readonly Turn[]> {
  const where = { ids, disabled: false }
  const { rows } = await store.find('turn', scope, { where, limit: ids.length })
  const present = new Map(rows.map((turn) => [turn.id, turn]))
  return ids.flatMap((id) => present.get(id) ?? [])
}
