/** Mirrors that misbehave on purpose, and tiers whose background work happens when a test says so. */

import { AppError } from '../../src/lib/errors.ts'
import { createInMemoryVectorReplica } from '../../src/storage/in-memory/in-memory-vector-replica.ts'
import type { VectorSpace } from '../../src/storage/vector-index.ts'
import type {
  ReplicaConfiguration,
  ScheduleTimer,
} from '../../src/storage/vector-replica/replica-controller.ts'
import type { VectorReplica } from '../../src/storage/vector-replica.ts'
import type { FakeClock } from './clock.ts'

type Call = Exclude<keyof VectorReplica, 'name' | 'close' | 'health'>
const CALLS: readonly Call[] = [
  'prepare',
  'upsert',
  'remove',
  'search',
  'list',
  'count',
  'removeExpired',
  'drop',
]

/** What a call does instead of its work; `lost` does the work and then fails. */
export type Fault = 'unavailable' | 'refuses' | 'hangs' | 'lost'

export class FaultyMirror {
  readonly mirror: VectorReplica
  readonly inner: VectorReplica
  /** How often each call was made. */
  readonly calls = new Map<Call, number>()
  readonly #faults = new Map<Call, Fault>()
  #isUnprepared = false

  constructor(inner: VectorReplica = createInMemoryVectorReplica()) {
    this.inner = inner
    const mirror = { ...inner }
    for (const name of CALLS) {
      const original = inner[name].bind(inner) as (...given: unknown[]) => Promise<unknown>
      Object.assign(mirror, { [name]: (...given: unknown[]) => this.#call(name, original, given) })
    }
    this.mirror = { ...mirror, close: async () => {} } // tests look into it afterwards
  }

  /** From now on these calls, or all, do this. */
  fail(fault: Fault, calls: readonly Call[] = CALLS): void {
    for (const call of calls) this.#faults.set(call, fault)
  }

  heal(): void {
    this.#faults.clear()
  }

  /** As somebody who deletes a collection. `strictly`: nothing works until it is prepared again. */
  async lose(space: VectorSpace, how?: 'strictly'): Promise<void> {
    await this.inner.drop(space)
    this.#isUnprepared = how === 'strictly'
  }

  count(call: Call): number {
    return this.calls.get(call) ?? 0
  }

  async #call(name: Call, original: (...given: unknown[]) => Promise<unknown>, given: unknown[]) {
    this.calls.set(name, this.count(name) + 1)
    const fault = this.#faults.get(name)
    if (name === 'prepare') this.#isUnprepared = false
    if (this.#isUnprepared) throw new AppError('unavailable', 'The collection is gone.')
    if (fault === 'hangs') return new Promise(() => {})
    if (fault === 'unavailable') throw new AppError('unavailable', 'It is out of reach.')
    if (fault === 'refuses') throw new AppError('invalid_input', 'The key is wrong.')
    const answer = await original(...given)
    if (fault === 'lost') throw new AppError('unavailable', 'The answer was lost.')
    return answer
  }
}

export function configured(mirror: VectorReplica, identity = 'a'): ReplicaConfiguration {
  return { kind: 'mirror', name: mirror.name, identity, open: () => mirror }
}

/** Work that is set off by nothing but the test. */
export class HeldTimers {
  readonly #waiting = new Set<{ readonly at: number; readonly work: () => void }>()
  readonly #clock: FakeClock

  constructor(clock: FakeClock) {
    this.#clock = clock
  }

  readonly after: ScheduleTimer = (ms, work) => {
    const timer = { at: this.#clock.now() + ms, work }
    this.#waiting.add(timer)
    return () => this.#waiting.delete(timer)
  }

  /** How long until the next; null when there is none. */
  get nextMs(): number | null {
    const times = [...this.#waiting].map(({ at }) => at - this.#clock.now())
    return times.length === 0 ? null : Math.min(...times)
  }

  /** Lets time pass, and sets off what is due by then. */
  pass(ms: number): void {
    this.#clock.advance(ms)
    for (const timer of [...this.#waiting]) {
      if (timer.at > this.#clock.now()) continue
      this.#waiting.delete(timer)
      timer.work()
    }
  }
}
