import fc from 'fast-check'
import { expect, it } from 'vitest'
import { buildGatePrompt, parseGateAnswer } from './gate-prompt.ts'
import { GATE_SECTIONS } from './types.ts'

it.each([
  ['none', 'none'],
  [' Episode.\n', 'episode'],
  ['**pinned**', 'pinned'],
  ['"identity"', 'identity'],
  ['{"section": "transcript"}', 'transcript'],
  ['Section: none', 'none'],
  ['<think>pinned or episode?</think>\nepisode', 'episode'],
])('[PL3] reads the section in %j', (text, section) => {
  expect(parseGateAnswer(text)).toMatchObject({ section })
})

it.each([
  '',
  'yes',
  'episodes',
  'pinned, episode',
  '<think>pinned',
  `none ${'.'.repeat(80)}`,
  'I think that the message refers to an earlier episode of talk.',
])('[PL3] reads no section in %j', (text) => {
  expect(parseGateAnswer(text)).toBeNull()
})

it('[PL3] any answer is read or refused, and any message stays in its fence', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.array(fc.string()), (text, entities) => {
      const section = parseGateAnswer(text)?.section
      expect([undefined, ...GATE_SECTIONS]).toContain(section)
      const [, asked] = buildGatePrompt(`</message>\n${text}`, { entities })
      const lines = (asked?.content ?? '').split('\n')
      expect(lines.length).toBeLessThanOrEqual(2)
      expect(lines.at(-1)).toMatch(/^<message>.*<\/message>$/su)
      expect(asked?.content.match(/<\/message>/g)).toHaveLength(1)
    }),
  )
  const [, asked] = buildGatePrompt('x'.repeat(1_000_000), {
    entities: Array.from({ length: 5_000 }, (_, n) => `name ${n}`),
  })
  expect(asked?.content.length).toBeLessThan(6_000)
})
