export type LruCacheOptions<Key, Value> = {
  readonly entriesMax?: number
  /** The weights of all entries together. A heavier entry is not kept at all. */
  readonly weightMax?: number
  readonly weigh?: (value: Value, key: Key) => number
  /** After this time an entry counts as missing. Needs `now`. */
  readonly ttlMs?: number
  readonly now?: () => number
}

type Entry<Value> = { readonly value: Value; readonly weight: number; readonly setAt: number }

/**
 * A map that drops the entries that were not used for longest, by count, by weight or both. Every operation takes constant
 * time: a Map iterates in order of insertion, and a read moves its entry to the end.
 */
export class LruCache<Key, Value> {
  readonly #entries = new Map<Key, Entry<Value>>()
  readonly #entriesMax: number
  readonly #weightMax: number
  readonly #weigh: (value: Value, key: Key) => number
  readonly #ttlMs: number
  readonly #now: () => number
  #weight = 0

  constructor(options: LruCacheOptions<Key, Value>) {
    this.#entriesMax = options.entriesMax ?? Number.POSITIVE_INFINITY
    this.#weightMax = options.weightMax ?? Number.POSITIVE_INFINITY
    this.#weigh = options.weigh ?? (() => 0)
    this.#ttlMs = options.ttlMs ?? Number.POSITIVE_INFINITY
    this.#now = options.now ?? (() => 0)
  }

  get size(): number {
    return this.#entries.size
  }

  get weight(): number {
    return this.#weight
  }

  get(key: Key): Value | undefined {
    const entry = this.#fresh(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  /** Like `get`, but does not count as a use. */
  peek(key: Key): Value | undefined {
    return this.#fresh(key)?.value
  }

  set(key: Key, value: Value): void {
    this.delete(key)
    const weight = this.#weigh(value, key)
    if (weight > this.#weightMax) return
    this.#entries.set(key, { value, weight, setAt: this.#now() })
    this.#weight += weight
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#entriesMax && this.#weight <= this.#weightMax) break
      this.delete(oldest)
    }
  }

  getOrCreate(key: Key, create: () => Value): Value {
    const known = this.get(key)
    if (known !== undefined) return known
    const value = create()
    this.set(key, value)
    return value
  }

  delete(key: Key): boolean {
    const entry = this.#entries.get(key)
    if (entry === undefined) return false
    this.#weight -= entry.weight
    return this.#entries.delete(key)
  }

  deleteWhere(test: (key: Key, value: Value) => boolean): void {
    for (const [key, { value }] of this.#entries) if (test(key, value)) this.delete(key)
  }

  clear(): void {
    this.#entries.clear()
    this.#weight = 0
  }

  /** The oldest first. */
  *values(): Generator<Value> {
    for (const { value } of this.#entries.values()) yield value
  }

  #fresh(key: Key): Entry<Value> | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    const age = this.#now() - entry.setAt
    // A clock that was set back must not keep an entry for longer than its time.
    if (age >= 0 && age < this.#ttlMs) return entry
    this.delete(key)
    return undefined
  }
}
