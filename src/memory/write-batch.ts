/**
 * Several statements in one commit. Each is decided against the store and the earlier statements of the batch, as if they
 * had been written one after the other, but every memory gets at most one new version, because the batch is one change.
 * Create a new batch for every attempt to commit.
 */

import type { MemoryId, TombstoneId, TurnId } from '../domain/ids.ts'
import { isKeyHolder, type Memory, type Tombstone } from '../domain/memory.ts'
import { type Place, type Scope, toPlace, toUserScope } from '../domain/scope.ts'
import { resolveSettings, type Settings } from '../domain/settings/settings.ts'
import type { Verdict } from '../domain/verdict.ts'
import { SECOND_MS } from '../lib/time.ts'
import type { Change } from '../storage/store.ts'
import type { Draft } from './draft.ts'
import { buildReplacement, type ChangeStamp } from './memory-changes.ts'
import { decideWithAdjudicator, findKeyHolder } from './memory-writer.ts'
import { findSimilarMemories, isPlainStatement, type SimilarMemories } from './similar-memories.ts'
import { loadBlockingTombstones } from './tombstones.ts'
import type { MemoryDependencies } from './types.ts'
import type { WriteDecision } from './write-decision.ts'

/** Verdicts by the newer and the older statement. It outlives the attempts to commit, so that each pair is asked once. */
export type VerdictCache = Map<string, Map<string, Verdict>>

/** Batches run in the background, where nobody waits for them. */
const ADJUDICATION_TIMEOUT_MS = 15 * SECOND_MS

type PendingMemory = {
  /** The stored version; null for a new memory. */
  readonly before: Memory | null
  readonly after: Memory
}

type BatchOptions = {
  readonly verdicts?: VerdictCache | undefined
  /** Turns said at an unknown earlier time. Facts from these alone are blocked by any tombstone. */
  readonly history?: ReadonlySet<TurnId>
}

type AddOptions = {
  /** Compares the draft with the holder of its key only, for memories that are one of a kind. */
  readonly keyOnly?: boolean
  /** A superseded memory that the draft updates when no other memory holds its key. */
  readonly revived?: Memory | null
}

export class WriteBatch {
  readonly #deps: MemoryDependencies
  readonly #place: Place
  readonly #scope: Scope
  readonly #stamp: ChangeStamp
  readonly #verdicts: VerdictCache
  readonly #history: ReadonlySet<TurnId>
  readonly #settings: Settings
  readonly #pending = new Map<MemoryId, PendingMemory>()
  readonly #guards = new Map<TombstoneId, Change>()

  constructor(
    deps: MemoryDependencies,
    scope: Scope,
    stamp: ChangeStamp,
    { verdicts = new Map(), history = new Set() }: BatchOptions = {},
  ) {
    this.#deps = deps
    this.#place = toPlace(scope)
    this.#scope = toUserScope(this.#place)
    this.#stamp = stamp
    this.#verdicts = verdicts
    this.#history = history
    this.#settings = resolveSettings(deps.settings)
  }

  async add(
    draft: Draft,
    { keyOnly = false, revived = null }: AddOptions = {},
  ): Promise<WriteDecision> {
    const { change, now } = this.#stamp
    const { memories, close } = keyOnly
      ? { memories: [], close: new Set<MemoryId>() }
      : await this.#findSimilar(draft)
    const keyHolder = draft.key === null ? null : await this.#findKeyHolder(draft.key)
    const context = {
      draft,
      place: this.#place,
      now,
      change,
      id: this.#deps.ids.next('mem', now),
      keyHolder: keyHolder ?? (revived === null ? null : reactivate(revived)),
      similarMemories: memories,
      tombstones: await this.#loadTombstones(draft),
      isHistory: this.#isHistory(draft),
      reinforcementRate: this.#settings['memory.reinforcementRate'],
      paraphrases: this.#settings['memory.mergeParaphrases'] ? close : null,
    }
    const decision = await decideWithAdjudicator(
      this.#deps,
      context,
      close,
      this.#getVerdicts(draft),
      ADJUDICATION_TIMEOUT_MS,
    )
    const applied = this.#apply(decision, draft)
    const after = revived === null ? undefined : this.#pending.get(revived.id)?.after
    // The history must show that the memory was superseded before.
    if (after !== undefined) this.#pending.set(after.id, { before: revived, after })
    return applied
  }

  /** The memory as it will be after the batch. */
  getPending(memory: Memory): Memory {
    return this.#pending.get(memory.id)?.after ?? memory
  }

  /** Replaces the pending version of a memory of the batch. */
  amend(memory: Memory): void {
    const before = this.#pending.get(memory.id)?.before ?? null
    this.#pending.set(memory.id, { before, after: memory })
  }

  /** Replacements come first, so that keys they give up are free for new memories. */
  changes(): readonly Change[] {
    const pending = [...this.#pending.values()]
    if (pending.length === 0) return []
    return [
      ...this.#guards.values(),
      ...pending.flatMap(({ before, after }) =>
        before === null
          ? []
          : buildReplacement(this.#deps, before, { ...after, version: before.version + 1 }),
      ),
      ...pending.flatMap(({ before, after }): readonly Change[] =>
        before === null
          ? [{ op: 'put', table: 'memory', row: { ...after, version: 1 }, expect: 'absent' }]
          : [],
      ),
    ]
  }

  #apply(decision: WriteDecision, draft: Draft): WriteDecision {
    switch (decision.kind) {
      case 'refused':
        return decision
      case 'create':
      case 'conflict':
        this.#create(decision.memory)
        return decision
      case 'supersede':
        this.#create(decision.memory)
        for (const { previous, superseded } of [decision, ...decision.others]) {
          this.#replace(previous, superseded)
        }
        return decision
      case 'update':
      case 'duplicate': {
        const { previous, absorbed } = decision
        // Statements repeated in one batch, or read again from the same turns, are one source.
        const isSameSource = this.#pending.has(previous.id) || hasSameTurns(draft, previous)
        const { sourceCount, salience } = isSameSource ? previous : decision.memory
        const counts = decision.kind === 'duplicate' ? { sourceCount, salience } : { sourceCount }
        // An identity memory stays one when it is restated as an ordinary fact.
        const category = previous.category === 'identity' ? 'identity' : decision.memory.category
        const memory = { ...decision.memory, ...counts, category }
        this.#replace(previous, memory)
        if (absorbed !== undefined) this.#create(absorbed)
        return { ...decision, memory }
      }
    }
  }

  #create(memory: Memory): void {
    this.#pending.set(memory.id, { before: null, after: memory })
  }

  #replace(previous: Memory, after: Memory): void {
    const pending = this.#pending.get(previous.id)
    const before = pending === undefined ? previous : pending.before
    this.#pending.set(previous.id, { before, after })
  }

  async #findKeyHolder(key: string): Promise<Memory | null> {
    for (const { after } of this.#pending.values()) {
      if (after.key === key && isKeyHolder(after)) return after
    }
    const stored = await findKeyHolder(this.#deps, this.#scope, key)
    // A pending memory that was not found above no longer holds the key.
    return stored === null || this.#pending.has(stored.id) ? null : stored
  }

  /** Similar memories of the store in their pending versions, then the memories that the batch creates. */
  async #findSimilar(draft: Draft): Promise<SimilarMemories> {
    const limit = this.#settings['memory.similarMemoriesMax']
    const { memories, close } = await findSimilarMemories(this.#deps, this.#place, draft, limit)
    const ids = new Set(memories.map(({ id }) => id))
    const others = [...this.#pending.values()].filter(({ after }) => !ids.has(after.id))
    const current = [
      ...memories.map((memory) => this.getPending(memory)),
      ...others.map(({ after }) => after),
    ]
    const comparable = current.filter(
      (memory) => memory.status !== 'superseded' && isPlainStatement(memory),
    )
    return { memories: comparable, close }
  }

  #isHistory({ provenance: { turns } }: Draft): boolean {
    return turns.length > 0 && turns.every((id) => this.#history.has(id))
  }

  #getVerdicts({ content }: Draft): Map<string, Verdict> {
    const verdicts = this.#verdicts.get(content) ?? new Map<string, Verdict>()
    this.#verdicts.set(content, verdicts)
    return verdicts
  }

  async #loadTombstones(draft: Draft): Promise<readonly Tombstone[]> {
    const { tombstones, guards } = await loadBlockingTombstones(this.#deps, this.#place, draft)
    // Earlier decisions were based on the first read, so its guards stay.
    for (const [id, guard] of guards) if (!this.#guards.has(id)) this.#guards.set(id, guard)
    return tombstones
  }
}

function reactivate(memory: Memory): Memory {
  return { ...memory, status: 'active', supersededBy: null }
}

function hasSameTurns({ provenance }: Draft, { provenance: { turns } }: Memory): boolean {
  return provenance.turns.length > 0 && provenance.turns.every((id) => turns.includes(id))
}
