import { describe, expect, it } from 'vitest'
import type { EmbedOptions } from '../../../src/models/embedder.ts'
import {
  createValidatedEmbedder,
  type EmbeddingSource,
} from '../../../src/models/embedders/embedding-validation.ts'
import { createHashingEmbedder } from '../../../src/models/embedders/hashing-embedder.ts'
import { describeEmbedder } from '../../conformance/models/embedder.suite.ts'
import { gate } from '../../fakes/embedder.ts'
import { embedAll, errorOf, expected, notes, refused, unavailable } from './embedder-support.ts'

/** A source that answers lists of plain numbers of any length, or whatever it is told to. */
function rawSource(
  answer?: (texts: readonly string[], options: EmbedOptions, call: number) => unknown,
): EmbeddingSource & { readonly calls: (readonly string[])[] } {
  const calls: (readonly string[])[] = []
  return {
    sourceName: 'moon',
    model: 'tiny',
    calls,
    embed: async (texts, options) => {
      calls.push(texts)
      const result = await answer?.(texts, options, calls.length)
      if (result !== undefined) return result
      const vectors = await createHashingEmbedder().embed(texts, options)
      return vectors.map((vector) => Array.from(vector, (number) => number * 3))
    },
    close: async () => {},
  }
}

/** Sound when probed, and then as told. */
const afterProbe = (answer: unknown) =>
  createValidatedEmbedder(rawSource((_, __, call) => (call > 1 ? answer : undefined)))

describeEmbedder('checked', async () => createValidatedEmbedder(rawSource()))

describe('checked answers', () => {
  const sound = Array.from({ length: 64 }, (_, index) => index + 1)
  const wrongAnswers: readonly (readonly [string, unknown, RegExp])[] = [
    ['no list', { vectors: [] }, /without a list/],
    ['nothing', null, /without a list/],
    ['too few vectors', [sound], /1 vectors where 2/],
    ['too many vectors', [sound, sound, sound], /3 vectors where 2/],
    ['a shorter vector', [sound, sound.slice(1)], /63 dimensions instead of 64/],
    [
      'longer vectors',
      [
        [...sound, 1],
        [...sound, 1],
      ],
      /65 dimensions instead of 64/,
    ],
    ['an empty vector', [sound, []], /empty/],
    ['NaN', [sound, sound.with(3, Number.NaN)], /not finite/],
    ['infinity', [sound, sound.with(3, Number.POSITIVE_INFINITY)], /not finite/],
    ['zeros', [sound, sound.map(() => 0)], /zeros/],
    ['text', [sound, sound.map(String)], /no list of numbers/],
    ['a gap', [sound, [...sound.slice(1), null]], /no list of numbers/],
    ['no vector', [sound, undefined], /no list of numbers/],
  ]
  it.each(wrongAnswers)('[EM5] are refused when they hold %s', async (_, answer, message) => {
    const error = await errorOf(embedAll(afterProbe(answer), ['one', 'two']))
    expect(error.code).toBe('unavailable')
    expect(error.message).toMatch(message)
    expect(error.message).toContain('moon (tiny)')
  })

  it('[EM5] are brought to length one, however large or small the numbers are', async () => {
    for (const size of [1e300, 1, 1e-300]) {
      const numbers = sound.map((number) => number * size)
      const [vector] = await embedAll(afterProbe([numbers]), ['one'])
      const length = Math.hypot(...(vector ?? []))
      expect(length).toBeCloseTo(1, 5)
    }
  })
})

describe('the dimension', () => {
  it('[EM5] is found out by embedding one short text, once', async () => {
    const raw = rawSource()
    const embedder = createValidatedEmbedder(raw)
    await Promise.all([embedder.describe(), embedder.describe(), embedAll(embedder, notes(3))])
    await embedder.describe()
    expect(raw.calls.length).toBe(2)
    expect(raw.calls[0]?.length).toBe(1)
    expect(await embedder.describe()).toEqual({ source: 'moon', model: 'tiny', dimensions: 64 })
    expect(embedder.report().facts.dimensions).toBe(64)
  })

  it('[EM5] is loaded again after a failure', async () => {
    const raw = rawSource((_, __, call) => {
      if (call === 1) throw unavailable()
    })
    const embedder = createValidatedEmbedder(raw)
    expect(embedder.report().state).toEqual({ kind: 'cold' })
    expect((await errorOf(embedder.describe())).code).toBe('unavailable')
    expect(embedder.report().state).toEqual({ kind: 'failing', reason: 'Out for lunch.' })
    expect(await embedAll(embedder, ['kites'])).toEqual(await expected(['kites']))
    expect(embedder.report().state).toEqual({ kind: 'ready' })
  })

  it('[EM3] is still found out when one of those who wait gives up', async () => {
    const { opened, open } = gate()
    const embedder = createValidatedEmbedder(rawSource(() => opened.then(() => undefined)))
    const controller = new AbortController()
    const given = embedder.describe(controller.signal)
    const waiting = embedder.describe()
    expect(embedder.report().state).toEqual({ kind: 'warming' })
    controller.abort()
    expect((await errorOf(given)).code).toBe('cancelled')
    open()
    expect((await waiting).dimensions).toBe(64)
  })
})

describe('the state', () => {
  it('[EM5] is not failing because of a text that is refused', async () => {
    const raw = rawSource((texts) => {
      if (texts.includes('bad')) throw refused()
    })
    const embedder = createValidatedEmbedder(raw)
    await embedder.describe()
    expect((await errorOf(embedAll(embedder, ['bad']))).code).toBe('invalid_input')
    expect(embedder.report().state).toEqual({ kind: 'ready' })
  })

  it('[EM5] says what failed, and heals with the next answer', async () => {
    const raw = rawSource((_, __, call) => (call === 2 ? [] : undefined))
    const embedder = createValidatedEmbedder(raw)
    await errorOf(embedAll(embedder, ['one']))
    expect(embedder.report().state).toMatchObject({
      kind: 'failing',
      reason: expect.stringContaining('0 vectors'),
    })
    await embedAll(embedder, ['one'])
    expect(embedder.report().state).toEqual({ kind: 'ready' })
  })
})
