import { expect, it } from 'vitest'
import { computeFingerprint } from './fingerprint.ts'

it('[WR3] ignores case, width, spacing and closing marks, and nothing else', () => {
  const same = ['I like tea', ' i LIKE  tea. ', 'Ｉ like tea!', 'i like\ntea...']
  expect(new Set(same.map(computeFingerprint)).size).toBe(1)
  const different = [
    'I like tea',
    "I don't like tea",
    'I like tee',
    'I like tea?',
    '!',
    '.',
    '',
    '茶',
  ]
  expect(new Set(different.map(computeFingerprint)).size).toBe(different.length)
})

it('[WR3] rarely collides', () => {
  const prints = new Set(
    Array.from({ length: 200_000 }, (_, n) => computeFingerprint(`statement ${n}`)),
  )
  expect(prints.size).toBe(200_000)
})
