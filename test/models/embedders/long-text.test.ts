import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Embedder, EmbeddingPurpose } from '../../../src/models/embedder.ts'
import { estimateBilledTokens } from '../../../src/models/embedders/billed-tokens.ts'
import { splitLongText, withLongText } from '../../../src/models/embedders/long-text.ts'
import { cosine, embedOne, openLocal } from './local-support.ts'

/** Tells how much red, green and blue is in a text, and notes what it was asked. */
function colours(tokensMax?: number): { embedder: Embedder; asked: string[] } {
  const requests: string[] = []
  const count = (text: string, word: string) => text.split(word).length - 1
  const unit = (vector: readonly number[]) => {
    const length = Math.hypot(...vector)
    return Float32Array.from(vector, (value) => value / length)
  }
  const embedder: Embedder = {
    describe: async () => ({
      ...{ source: 'test', model: 'colours', dimensions: 4 },
      ...(tokensMax === undefined ? {} : { tokensMax }),
    }),
    embed: async (texts) => {
      requests.push(...texts)
      return texts.map((text) =>
        unit([1, ...['red', 'green', 'blue'].map((word) => count(text, word))]),
      )
    },
    report: () => ({ source: 'test', model: 'colours', state: { kind: 'ready' }, facts: {} }),
    close: async () => {},
  }
  return { embedder, asked: requests }
}

const LONG = `${'red '.repeat(100)}${'blue '.repeat(100)}`

describe('a document that is longer than what its model reads', () => {
  it('[EM35] is read in parts of about the same length, to its last word', async () => {
    const { embedder, asked } = colours(100)
    const reading = withLongText(embedder)
    const [vector, short] = await reading.embed([LONG, 'green'], { purpose: 'document' })
    expect(asked.slice(0, -1).join('')).toBe(LONG)
    expect(asked.at(-1)).toBe('green')
    expect(asked.every((part) => estimateBilledTokens(part) <= 75)).toBe(true)
    const lengths = asked.slice(0, -1).map(({ length }) => length)
    expect(Math.min(...lengths)).toBeGreaterThan(Math.max(...lengths) / 2)
    expect(vector?.[1]).toBeGreaterThan(0.3)
    expect(vector?.[3]).toBeGreaterThan(0.3)
    expect(Math.hypot(...(vector ?? []))).toBeCloseTo(1)
    expect(short?.[2]).toBeGreaterThan(0.5)
  })

  it.each([
    ['a question', 'query', 100, LONG],
    ['what fits', 'document', 100, 'red green'],
    ['anything where nothing is too long', 'document', undefined, LONG],
  ] as const)(
    '[EM35] but %s is read as it is',
    async (_, purpose: EmbeddingPurpose, tokensMax, text) => {
      const { embedder, asked } = colours(tokensMax)
      await withLongText(embedder).embed([text], { purpose })
      expect(asked).toEqual([text])
    },
  )

  it('[EM35] is cut between words, never within a character, and nothing of it is lost', () => {
    const words = fc.array(fc.constantFrom('red', '漢字', '👍👍', 'x'.repeat(90), '\n', ' '))
    fc.assert(
      fc.property(words, fc.integer({ min: 8, max: 40 }), (pieces, tokensMax) => {
        const text = pieces.join(' ')
        const parts = splitLongText(text, tokensMax)
        expect(parts.join('')).toBe(text)
        for (const part of parts) expect(/\p{Surrogate}/u.test(part)).toBe(false)
      }),
    )
  })

  it('[EM35] is found by what it says at its end', async () => {
    const local = openLocal()
    const filler = 'The office opens at nine and closes at five. '.repeat(50)
    const text = `${filler}Her dog is an old greyhound.`
    const question = await embedOne(local, 'Which breed is the dog?', 'query')
    const cut = cosine(question, await embedOne(local, text))
    expect(cosine(question, await embedOne(withLongText(local), text))).toBeGreaterThan(cut)
  })
})
