import { parseSettings } from '../domain/settings/settings.ts'
import { createEngineWith, type Engine } from '../engine/engine.ts'
import type { Clock } from '../lib/clock.ts'
import type { Embedder } from '../models/embedder.ts'
import { createHashingEmbedder } from '../models/embedders/hashing-embedder.ts'
import type { LanguageModel } from '../models/language-model.ts'
import { createInMemoryStore } from '../storage/in-memory/in-memory-store.ts'
import { createInMemoryVectorIndex } from '../storage/in-memory/in-memory-vector-index.ts'
import type { Store } from '../storage/store.ts'
import { countingIds, FakeClock } from './fake-clock.ts'

export type TestEngineOptions = {
  /** Default: a new in-memory store. */
  readonly store?: Store
  /** Default: a `FakeClock`. */
  readonly clock?: Clock
  /** Default: word hashes, which need no model. `false`: lexical search only. */
  readonly embedder?: Embedder | false
  readonly languageModel?: LanguageModel
  readonly settings?: { readonly [name: string]: unknown }
}

/**
 * An engine for tests: nothing is loaded, written to disk or read from the clock, ids count up, and every run gives the
 * same results.
 *
 * @example
 * import { createTestEngine, FakeClock } from 'recollect/testing'
 *
 * const clock = new FakeClock()
 * const memory = createTestEngine({ clock })
 * await memory.remember({ owner: 'ada' }, { content: 'I live in Paris.' })
 * clock.advance(86_400_000)
 */
export function createTestEngine(options: TestEngineOptions = {}): Engine {
  const { store = createInMemoryStore(), clock = new FakeClock(), languageModel } = options
  const { embedder = createHashingEmbedder(), settings = {} } = options
  return createEngineWith({
    store,
    clock,
    ids: countingIds(),
    settings: parseSettings(settings),
    ...(embedder === false ? {} : { embedder, vectors: createInMemoryVectorIndex(store) }),
    ...(languageModel === undefined ? {} : { languageModel }),
  })
}
