/** What the tests of the local embedder share. */
import { expect, onTestFinished } from 'vitest'
import type { Embedder } from '../../../src/models/embedder.ts'
import { openLocalEmbedder } from '../../../src/models/embedders/local/local-embedder.ts'
import type { LocalEmbedderOptions } from '../../../src/models/embedders/local/local-embedder-options.ts'
import { expectFreshWorker as expectFresh } from '../../support/fresh-worker.ts'

export const MODEL_FOLDER = 'models/gte-small-int8'
/** Models are loaded again and again, perhaps on a busy machine. */
export const SLOW_TEST_MS = 120_000
const SOURCES = ['src/models/embedders/local', 'src/models/runtime', 'src/lib']
const WORKER = 'dist/models/embedders/local/worker.js'

export function expectFreshWorker(): void {
  expectFresh(WORKER, SOURCES)
}

export function openLocal(options: LocalEmbedderOptions = {}): Embedder {
  const embedder = openLocalEmbedder(options)
  onTestFinished(() => embedder.close())
  return embedder
}

export async function embedOne(
  embedder: Embedder,
  text: string,
  purpose: 'query' | 'document' = 'document',
): Promise<Float32Array> {
  const [vector] = await embedder.embed([text], { purpose })
  if (vector === undefined) throw new Error('There is no vector.')
  return vector
}

export function cosine(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, number, index) => sum + number * (other[index] ?? Number.NaN), 0)
}

export function expectSameBits(one?: Float32Array, other?: Float32Array): void {
  expect(one).toBeDefined()
  expect(hexOf(one)).toBe(hexOf(other))
}

function hexOf(vector?: Float32Array): string {
  return vector === undefined ? '' : Buffer.from(new Uint8Array(vector.buffer)).toString('hex')
}

/** Each attempt after a failure is allowed at once: every look at this clock is an hour later. */
export function hastyClock(): () => number {
  let hours = 0
  return () => hours++ * 3_600_000
}
