/** What the fault tests of recall share: an engine on parts that can be made to fail. */
import { setTimeout as delay } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { createEngineWith, type Engine } from '../../src/engine/engine.ts'
import type { EngineDependencies } from '../../src/engine/engine-dependencies.ts'
import { AppError } from '../../src/lib/errors.ts'
import { createHashingEmbedder } from '../../src/models/embedders/hashing-embedder.ts'
import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { createInMemoryVectorIndex } from '../../src/storage/in-memory/in-memory-vector-index.ts'
import type { Store } from '../../src/storage/store.ts'
import { countingIds, FakeClock } from '../fakes/clock.ts'

export const ADA = { owner: 'ada' }
/** Without floors, so that what is found does not hang on how near the reference embedder finds things. */
export const NO_FLOORS = { 'recall.minTopSimilarity': 0, 'recall.minSimilarity': 0 } as const

/** An engine on the reference parts, or on others where a test gives them. */
export function openEngine(parts: Partial<EngineDependencies> = {}) {
  const store = parts.store ?? createInMemoryStore()
  const vectors = parts.vectors ?? createInMemoryVectorIndex(store)
  const clock = new FakeClock()
  const engine = createEngineWith({
    clock,
    ids: countingIds(),
    embedder: createHashingEmbedder(),
    settings: NO_FLOORS,
    ...parts,
    store,
    vectors,
  })
  onTestFinished(() => engine.close())
  return { engine, store, vectors, clock }
}

/** The same object with some of its methods exchanged. */
export function changed<Part extends object>(part: Part, methods: Partial<Part>): Part {
  return { ...part, ...methods }
}

export function broken(what: string): () => Promise<never> {
  return async () => {
    throw new AppError('unavailable', what)
  }
}

export async function found(engine: Engine, text: string): Promise<readonly string[]> {
  const { memories } = await engine.recall(ADA, { text })
  return memories.map(({ memory }) => memory.content)
}

/** Waits for what happens in the background. */
export async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await isSo())) await delay(10)
}

export async function untilIndexed(engine: Engine): Promise<void> {
  await until(async () => (await engine.status()).index?.withoutVector === 0)
}

export async function fill(engine: Engine, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    await engine.remember(ADA, { content: `statement number ${n}`, key: `key-${n}` })
  }
}

/** A store that outlives the engines on it. */
export function lasting(store: Store): Store {
  return { ...store, close: async () => {} }
}
