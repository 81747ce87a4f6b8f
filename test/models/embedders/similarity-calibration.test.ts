import { expect, it } from 'vitest'
import type { Embedder } from '../../../src/models/embedder.ts'
import { createHashingEmbedder } from '../../../src/models/embedders/hashing-embedder.ts'
import { getCalibration, measureCalibration } from '../../../src/recall/indexing/calibration.ts'
import { expectFreshWorker, openLocal, SLOW_TEST_MS } from './local-support.ts'

it(
  '[RA19] the stored calibration of the built-in model equals a measured one',
  async () => {
    expectFreshWorker()
    const embedder = openLocal()
    const known = await getCalibration(embedder, await embedder.describe())
    const response = await measureCalibration(embedder)
    expect(Math.abs(known.mean - response.mean)).toBeLessThan(0.002)
    expect(Math.abs(known.deviation - response.deviation)).toBeLessThan(0.002)
  },
  SLOW_TEST_MS,
)

it('[RA19] any other model is measured once', async () => {
  const embedder = createHashingEmbedder()
  const { mean, deviation } = await getCalibration(embedder, await embedder.describe())
  expect(Math.abs(mean)).toBeLessThan(0.3)
  expect(deviation).toBeGreaterThan(0)
})

it('[RA19] a model that finds everything equally near has a deviation all the same', async () => {
  const dull: Embedder = {
    ...createHashingEmbedder(),
    embed: async (texts) => texts.map(() => Float32Array.of(1, 0)),
  }
  expect(await measureCalibration(dull)).toEqual({ mean: 1, deviation: 0.005 })
})
