/**
 * Several statements that become one commit. Each is decided by what the store holds and by what was decided for those
 * before it, as if they had been written one after the other; but every memory gets one new version at most, because it is
 * one change. Made anew for every attempt to commit.
 */

import type { ChangeId, MemoryId, TombstoneId, TurnId } from '../domain/ids.ts'
import { isKeyHolder, type Memory, type Tombstone } from '../domain/memory.ts'
import { type Place, type Scope, toPlace } from '../domain/scope.ts'
import { resolveSettings, type Settings } from '../domain/settings/settings.ts'
import { getBlockingTombstoneIds } from '../domain/tombstone.ts'
import type { Verdict } from '../domain/verdict.ts'
import type { Instant } from '../lib/time.ts'
import type { Change } from '../storage/store.ts'
import type { Draft } from './draft.ts'
import { buildReplacement } from './memory-changes.ts'
import { decideWithAdjudicator, findKeyHolder } from './memory-writer.ts'
import { findSimilarMemories, isPlainStatement, type SimilarMemories } from './similar-memories.ts'
import type { MemoryDependencies } from './types.ts'
import type { WriteDecision } from './write-decision.ts'

export type BatchStamp = { readonly change: ChangeId; readonly now: Instant }

/** What others make of two statements, by the newer and the older one: asked once, also when all is decided again. */
export type VerdictCache = Map<string, Map<string, Verdict>>

/** Batches are made in the background, where there is time to think. */
const VERDICT_MS = 15_000

type PendingMemory = {
  /** As the store holds it; null for a new one. */
  readonly before: Memory | null
  readonly after: Memory
}

export type BatchOptions = {
  readonly verdicts?: VerdictCache | undefined
  /** Turns that were said at an unknown earlier time: what only they say stays forgotten if it ever was. */
  readonly history?: ReadonlySet<TurnId>
}

type AddOptions = {
  readonly alone?: boolean
  /** Superseded, and in force again when nothing else holds its key: what is written goes on with it. */
  readonly revived?: Memory | null
}

export class WriteBatch {
  readonly #ports: MemoryDependencies
  readonly #place: Place
  readonly #home: Scope
  readonly #mark: BatchStamp
  readonly #verdicts: VerdictCache
  readonly #history: ReadonlySet<TurnId>
  readonly #settings: Settings
  readonly #touched = new Map<MemoryId, PendingMemory>()
  readonly #guards = new Map<TombstoneId, Change>()

  constructor(
    ports: MemoryDependencies,
    scope: Scope,
    mark: BatchStamp,
    { verdicts = new Map(), history = new Set() }: BatchOptions = {},
  ) {
    this.#ports = ports
    this.#place = toPlace(scope)
    this.#home = { owner: this.#place.owner, user: this.#place.user }
    this.#mark = mark
    this.#verdicts = verdicts
    this.#history = history
    this.#settings = resolveSettings(ports.settings)
  }

  /** `alone`: compared with nothing but what holds its key, for what is one of its kind. */
  async add(
    draft: Draft,
    { alone = false, revived = null }: AddOptions = {},
  ): Promise<WriteDecision> {
    const { change, now } = this.#mark
    const { memories, close } = alone
      ? { memories: [], close: new Set<MemoryId>() }
      : await this.#neighbours(draft)
    const context = {
      draft,
      place: this.#place,
      now,
      change,
      id: this.#ports.ids.next('mem', now),
      sameKey: (draft.key === null ? null : await this.#holder(draft.key)) ?? getCurrent(revived),
      similarMemories: memories,
      tombstones: await this.#tombstones(draft),
      isHistory: this.#isHistory(draft),
      reinforcement: this.#settings['memory.reinforcementRate'],
    }
    const verdicts = this.#verdictsOn(draft)
    const decision = await decideWithAdjudicator(this.#ports, context, close, verdicts, VERDICT_MS)
    const taken = this.#take(decision, draft)
    const after = revived === null ? undefined : this.#touched.get(revived.id)?.after
    // The history tells that it was superseded before.
    if (after !== undefined) this.#touched.set(after.id, { before: revived, after })
    return taken
  }

  /** A memory as it will be after the batch; the one given where the batch leaves it alone. */
  present(memory: Memory): Memory {
    return this.#touched.get(memory.id)?.after ?? memory
  }

  /** Gives a memory that the batch has touched another form. */
  amend(memory: Memory): void {
    const before = this.#touched.get(memory.id)?.before ?? null
    this.#touched.set(memory.id, { before, after: memory })
  }

  /** What is replaced comes first, so that a key it held is free for what is new. */
  changes(): readonly Change[] {
    const touched = [...this.#touched.values()]
    if (touched.length === 0) return []
    return [
      ...this.#guards.values(),
      ...touched.flatMap(({ before, after }) =>
        before === null
          ? []
          : buildReplacement(this.#ports, before, { ...after, version: before.version + 1 }),
      ),
      ...touched.flatMap(({ before, after }): readonly Change[] =>
        before === null
          ? [{ op: 'put', table: 'memory', row: { ...after, version: 1 }, expect: 'absent' }]
          : [],
      ),
    ]
  }

  #take(decision: WriteDecision, draft: Draft): WriteDecision {
    switch (decision.kind) {
      case 'refused':
        return decision
      case 'create':
      case 'conflict':
        this.#touched.set(decision.memory.id, { before: null, after: decision.memory })
        return decision
      case 'supersede':
        this.#touched.set(decision.memory.id, { before: null, after: decision.memory })
        this.#replace(decision.previous, decision.superseded)
        return decision
      case 'update':
      case 'duplicate': {
        const { previous } = decision
        // Said twice in one batch is said once, and so is what the same turns say when they are read again.
        const isOneSource = this.#touched.has(previous.id) || isSameSource(draft, previous)
        const { sourceCount, salience } = isOneSource ? previous : decision.memory
        const again = decision.kind === 'duplicate' ? { sourceCount, salience } : { sourceCount }
        // Who a person is stays that, also when it is said again as a fact among others.
        const category = previous.category === 'identity' ? 'identity' : decision.memory.category
        const memory = { ...decision.memory, ...again, category }
        this.#replace(previous, memory)
        const { absorbed } = decision
        if (absorbed !== undefined)
          this.#touched.set(absorbed.id, { before: null, after: absorbed })
        return { ...decision, memory }
      }
    }
  }

  #replace(previous: Memory, after: Memory): void {
    const known = this.#touched.get(previous.id)
    this.#touched.set(previous.id, { before: known === undefined ? previous : known.before, after })
  }

  async #holder(key: string): Promise<Memory | null> {
    for (const { after } of this.#touched.values()) {
      if (after.key === key && isKeyHolder(after)) return after
    }
    const stored = await findKeyHolder(this.#ports, this.#home, key)
    // One that the batch has touched and that was not found above holds the key no longer.
    return stored === null || this.#touched.has(stored.id) ? null : stored
  }

  /** Those of the store as the batch leaves them, then those that it makes. */
  async #neighbours(draft: Draft): Promise<SimilarMemories> {
    const { 'memory.similarMemoriesMax': neighboursMax } = this.#settings
    const { memories, close } = await findSimilarMemories(
      this.#ports,
      this.#place,
      draft,
      neighboursMax,
    )
    const known = new Set(memories.map(({ id }) => id))
    const made = [...this.#touched.values()].filter(({ after }) => !known.has(after.id))
    const present = [
      ...memories.map((memory) => this.present(memory)),
      ...made.map(({ after }) => after),
    ]
    return { memories: present.filter(isComparable), close }
  }

  #isHistory({ provenance: { turns } }: Draft): boolean {
    return turns.length > 0 && turns.every((id) => this.#history.has(id))
  }

  #verdictsOn({ content }: Draft): Map<string, Verdict> {
    const known = this.#verdicts.get(content) ?? new Map<string, Verdict>()
    this.#verdicts.set(content, known)
    return known
  }

  /** Forgetting may happen between this look and the commit; then the commit must not go through. */
  async #tombstones(draft: Draft): Promise<readonly Tombstone[]> {
    const ids = getBlockingTombstoneIds(this.#place, draft)
    const { rows } = await this.#ports.store.find('tombstone', this.#home, {
      where: { ids },
      limit: ids.length,
    })
    // The first look counts: what was decided by it must still be true.
    for (const id of ids.filter((each) => !this.#guards.has(each))) {
      const known = rows.find((tombstone) => tombstone.id === id)
      const expect = known === undefined ? 'absent' : { version: known.version }
      this.#guards.set(id, { op: 'check', table: 'tombstone', scope: this.#home, id, expect })
    }
    return rows
  }
}

function getCurrent(memory: Memory | null): Memory | null {
  return memory === null ? null : { ...memory, status: 'active', supersededBy: null }
}

function isSameSource({ provenance }: Draft, { provenance: { turns } }: Memory): boolean {
  return provenance.turns.length > 0 && provenance.turns.every((id) => turns.includes(id))
}

function isComparable(memory: Memory): boolean {
  return memory.status !== 'superseded' && isPlainStatement(memory)
}
