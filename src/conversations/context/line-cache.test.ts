import { expect, it } from 'vitest'
import { memory } from '../../../test/fakes/memories.ts'
import { estimateTokens } from '../../text/tokens.ts'
import { composeBlock } from './block-composer.ts'
import { LineCache } from './line-cache.ts'

const NOW = memory().createdAt

function composeLines(lineCache: LineCache, ...documents: ReturnType<typeof memory>[]) {
  const input = { today: NOW, identity: [], question: 'Which tea?', shownMessages: new Set('') }
  const block = composeBlock(
    { ...input, documents, excerptCharacters: 200, lineCache },
    800,
    estimateTokens,
  )
  if (typeof block === 'string') throw new Error(block)
  return block.content.lines.map(({ text }) => text)
}

it('[CV5] renders a document as without a cache, also when it was changed', () => {
  const lineCache = new LineCache()
  const tea = memory({ content: 'The user drinks tea' })
  const versions = [
    tea,
    tea,
    { ...tea, content: 'The user drinks mate' },
    { ...tea, version: 2, validFrom: NOW },
    { ...tea, provenance: { ...tea.provenance, speaker: 'Ann' } },
  ]
  for (const version of versions) {
    expect(composeLines(lineCache, version)).toEqual(composeLines(new LineCache(), version))
  }
})

it('[PL7] counts the tokens of a line anew for another tokenizer', () => {
  const lineCache = new LineCache()
  const tea = memory({ content: 'The user drinks tea' })
  const input = { today: NOW, identity: [], question: 'Tea?', shownMessages: new Set('') }
  const tokensBy = (count: (text: string) => number) => {
    const block = composeBlock(
      { ...input, documents: [tea], excerptCharacters: 200, lineCache },
      10_000,
      count,
    )
    return typeof block === 'string' ? block : block.tokens
  }
  const countCharacters = (text: string) => text.length
  expect(tokensBy(estimateTokens)).toBeLessThan(200)
  expect(tokensBy(countCharacters)).toBeGreaterThan(200)
})

it('[CV6] drops the text of a removed document', () => {
  const lineCache = new LineCache()
  const tea = memory({ content: 'The user drinks tea' })
  lineCache.get(tea).line = 'cached'
  const { place, id } = tea
  lineCache.onCommit([{ op: 'remove', table: 'memory', scope: place, id, expect: 'any' }])
  expect(lineCache.get(tea).line).toBeUndefined()
})
