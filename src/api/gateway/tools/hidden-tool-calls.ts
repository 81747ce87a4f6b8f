/**
 * Memory tool calls that clients do not see. A round may hold calls of memory tools along with calls of the client's
 * tools. When the client sends the results of its calls, the hidden rounds are put back, so that the model receives a
 * complete conversation. An entry that is lost costs the model only the results of those calls.
 */

import type { Clock } from '../../../lib/clock.ts'
import { canonicalJson } from '../../../lib/json.ts'
import { HOUR_MS } from '../../../lib/time.ts'
import type {
  AnsweredToolRound,
  FindHiddenRounds,
  ToolCall,
} from '../formats/tools/tool-dialect.ts'

const TTL_MS = HOUR_MS
const ENTRIES_MAX = 1_000
const CHARACTERS_MAX = 16 * 1_048_576

type StoredRounds = {
  readonly rounds: readonly AnsweredToolRound[]
  /** Name and arguments of each client call, by the key of the call. */
  readonly calls: ReadonlyMap<string, string>
  readonly characters: number
  expiresAt: number
}

/** The hidden calls of one owner and user. */
export type ScopedHiddenToolCalls = {
  /** Whether nothing is stored for anybody, so that no lookup is needed. */
  isEmpty(): boolean
  readonly find: FindHiddenRounds
  /** Stores rounds until the client sends the results of its calls in the last of them. */
  store(rounds: readonly AnsweredToolRound[]): void
}

export class HiddenToolCalls {
  readonly #clock: Clock
  readonly #limits: { readonly entries: number; readonly characters: number }
  /** Least recently used first. */
  readonly #entries = new Set<StoredRounds>()
  readonly #byCall = new Map<string, StoredRounds>()
  #characters = 0

  constructor(clock: Clock, limits = { entries: ENTRIES_MAX, characters: CHARACTERS_MAX }) {
    this.#clock = clock
    this.#limits = limits
  }

  forScope(owner: string, user: string | null): ScopedHiddenToolCalls {
    const keyOf = (id: string) => JSON.stringify([owner, user, id])
    return {
      isEmpty: () => this.#entries.size === 0,
      find: (calls) => {
        for (const { id, call } of calls) {
          const entry = this.#byCall.get(keyOf(id))
          // Some providers restart their ids in every conversation, so the content has to match as well.
          const isSame = call === null || entry?.calls.get(keyOf(id)) === describeCall(call)
          if (entry !== undefined && isSame && this.#touch(entry)) return entry.rounds
        }
        return null
      },
      store: (rounds) => {
        const calls = (rounds.at(-1)?.clientCalls ?? []).filter(({ id }) => id !== '')
        const hasHiddenCalls = rounds.some(({ memoryCalls }) => memoryCalls.length > 0)
        if (calls.length === 0 || !hasHiddenCalls) return
        this.#store(rounds, new Map(calls.map((call) => [keyOf(call.id), describeCall(call)])))
      },
    }
  }

  /** Extends the expiry of an entry; false when it has expired already. */
  #touch(entry: StoredRounds): boolean {
    const now = this.#clock.now()
    if (entry.expiresAt <= now) {
      this.#evict(entry)
      return false
    }
    entry.expiresAt = now + TTL_MS
    this.#entries.delete(entry)
    this.#entries.add(entry)
    return true
  }

  #store(rounds: readonly AnsweredToolRound[], calls: ReadonlyMap<string, string>): void {
    const characters = JSON.stringify(rounds).length
    if (characters > this.#limits.characters) return
    const entry = { rounds, calls, characters, expiresAt: this.#clock.now() + TTL_MS }
    for (const key of calls.keys()) {
      const previous = this.#byCall.get(key)
      if (previous !== undefined) this.#evict(previous)
      this.#byCall.set(key, entry)
    }
    this.#entries.add(entry)
    this.#characters += characters
    for (const oldest of this.#entries) {
      const isFull =
        this.#entries.size > this.#limits.entries || this.#characters > this.#limits.characters
      if (!isFull) break
      this.#evict(oldest)
    }
  }

  #evict(entry: StoredRounds): void {
    if (!this.#entries.delete(entry)) return
    this.#characters -= entry.characters
    for (const key of entry.calls.keys()) {
      if (this.#byCall.get(key) === entry) this.#byCall.delete(key)
    }
  }
}

/** Equal for arguments that were parsed and serialized again in between. */
function describeCall({ name, arguments: json }: ToolCall): string {
  try {
    return `${name} ${canonicalJson(JSON.parse(json))}`
  } catch {
    return `${name} ${json}`
  }
}
