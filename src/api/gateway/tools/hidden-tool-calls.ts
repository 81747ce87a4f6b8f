/**
 * What clients don't know of their own conversations: calls of memory tools that led to calls of the client's tools, or
 * were made along with them. When the client comes back with its results, they are put back, so that the model finds a
 * whole conversation. Whatever is lost here costs the model nothing but the memory of having looked.
 */

import type { Clock } from '../../../lib/clock.ts'
import { canonicalJson } from '../../../lib/json.ts'
import { HOUR_MS } from '../../../lib/time.ts'
import type { AnsweredRound, ToolCall } from '../formats/tools/index.ts'
import type { FindHiddenRounds } from '../formats/tools/tool-dialect.ts'

const TTL_MS = HOUR_MS
const ENTRIES_MAX = 1_000
const CHARACTERS_MAX = 16 * 1_048_576

type StoredRounds = {
  readonly rounds: readonly AnsweredRound[]
  /** By the id of a call of the client's: what was called. */
  readonly calls: ReadonlyMap<string, string>
  readonly characters: number
  until: number
}

/** Of one owner and user. */
export type ScopedHiddenToolCalls = {
  /** Whether nothing is kept for anybody, so that there is no need to look. */
  isEmpty(): boolean
  readonly find: FindHiddenRounds
  /** Keeps the rounds for when the client brings the results of its calls in the last of them. */
  store(rounds: readonly AnsweredRound[]): void
}

export class HiddenToolCalls {
  readonly #clock: Clock
  readonly #limits: { readonly kept: number; readonly characters: number }
  /** The ones used last are at the end. */
  readonly #all = new Set<StoredRounds>()
  readonly #byCall = new Map<string, StoredRounds>()
  #characters = 0

  constructor(clock: Clock, limits = { kept: ENTRIES_MAX, characters: CHARACTERS_MAX }) {
    this.#clock = clock
    this.#limits = limits
  }

  forScope(owner: string, user: string | null): ScopedHiddenToolCalls {
    const keyOf = (id: string) => JSON.stringify([owner, user, id])
    return {
      isEmpty: () => this.#all.size === 0,
      find: (calls) => {
        for (const { id, call } of calls) {
          const kept = this.#byCall.get(keyOf(id))
          // Some providers count their ids anew in every conversation.
          const isSame = call === null || kept?.calls.get(keyOf(id)) === contentOf(call)
          if (kept !== undefined && isSame && this.#isFresh(kept)) return kept.rounds
        }
        return null
      },
      store: (rounds) => {
        const calls = (rounds.at(-1)?.clientCalls ?? []).filter(({ id }) => id !== '')
        const hasOwn = rounds.some(({ memoryCalls: own }) => own.length > 0)
        if (calls.length === 0 || !hasOwn) return
        this.#keep(rounds, new Map(calls.map((call) => [keyOf(call.id), contentOf(call)])))
      },
    }
  }

  #isFresh(kept: StoredRounds): boolean {
    const now = this.#clock.now()
    if (kept.until <= now) {
      this.#drop(kept)
      return false
    }
    kept.until = now + TTL_MS
    this.#all.delete(kept)
    this.#all.add(kept)
    return true
  }

  #keep(rounds: readonly AnsweredRound[], calls: ReadonlyMap<string, string>): void {
    const characters = JSON.stringify(rounds).length
    if (characters > this.#limits.characters) return
    const kept: StoredRounds = { rounds, calls, characters, until: this.#clock.now() + TTL_MS }
    for (const key of calls.keys()) {
      const former = this.#byCall.get(key)
      if (former !== undefined) this.#drop(former)
      this.#byCall.set(key, kept)
    }
    this.#all.add(kept)
    this.#characters += characters
    for (const oldest of this.#all) {
      const isFull =
        this.#all.size > this.#limits.kept || this.#characters > this.#limits.characters
      if (!isFull) break
      this.#drop(oldest)
    }
  }

  #drop(kept: StoredRounds): void {
    if (!this.#all.delete(kept)) return
    this.#characters -= kept.characters
    for (const key of kept.calls.keys()) {
      if (this.#byCall.get(key) === kept) this.#byCall.delete(key)
    }
  }
}

/** The same for arguments that were parsed and written anew in between. */
function contentOf({ name, arguments: given }: ToolCall): string {
  try {
    return `${name} ${canonicalJson(JSON.parse(given))}`
  } catch {
    return `${name} ${given}`
  }
}
