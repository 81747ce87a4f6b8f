import { expect, it } from 'vitest'
import { AppError, type ErrorCode } from '../../../src/lib/errors.ts'
import type { Embedder } from '../../../src/models/embedder.ts'
import { createFallbackEmbedder } from '../../../src/models/embedders/fallback-embedder.ts'
import { createHashingEmbedder } from '../../../src/models/embedders/hashing-embedder.ts'

/** Fails with this code until it is told otherwise. */
function failing(code: ErrorCode) {
  const state = { isFailing: true, calls: 0, isClosed: false }
  const inner = createHashingEmbedder()
  const embedder: Embedder = {
    ...inner,
    describe: async (signal) => {
      state.calls++
      if (state.isFailing) throw new AppError(code, `It is ${code}.`)
      return inner.describe(signal)
    },
    report: () => ({ source: 'openai', model: 'm', state: { kind: 'cold' }, facts: {} }),
    close: async () => {
      state.isClosed = true
    },
  }
  return { embedder, state }
}

it('[EM38.1] the first model that can be used serves every call, and the report says instead of which', async () => {
  const first = failing('unauthenticated')
  const second = failing('missing_part')
  const embedder = createFallbackEmbedder([
    first.embedder,
    second.embedder,
    createHashingEmbedder(),
  ])
  expect(embedder.report().facts).toEqual({})
  const [vectors, again] = await Promise.all([
    embedder.embed(['tea'], { purpose: 'document' }),
    embedder.embed(['tea'], { purpose: 'document' }),
  ])
  expect(vectors).toEqual(again)
  expect(embedder.report().facts).toMatchObject({
    fallbackFor: 'openai/m',
    fallbackReason: 'It is missing_part.',
  })
  first.state.isFailing = false
  await embedder.describe()
  expect(embedder.report().facts).toHaveProperty('fallbackFor')
  await embedder.close()
  expect([first.state.isClosed, second.state.isClosed]).toEqual([true, true])
})

it('[EM38.2] a model that is only unreachable is waited for', async () => {
  const first = failing('unavailable')
  const embedder = createFallbackEmbedder([first.embedder, createHashingEmbedder()])
  await expect(embedder.describe()).rejects.toMatchObject({ code: 'unavailable' })
  first.state.isFailing = false
  await embedder.describe()
  expect(embedder.report().facts).toEqual({})
})

it('[EM38.1] the error of the last model is reported when none can be used', async () => {
  const embedder = createFallbackEmbedder([
    failing('forbidden').embedder,
    failing('missing_part').embedder,
  ])
  await expect(embedder.describe()).rejects.toMatchObject({ code: 'missing_part' })
})
