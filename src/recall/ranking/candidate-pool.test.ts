import { expect, it } from 'vitest'
import { turn } from '../../../test/fakes/entries.ts'
import { ADA, memory } from '../../../test/fakes/memories.ts'
import type { MemoryId } from '../../domain/ids.ts'
import { toTurnDocument } from '../../domain/search-document.ts'
import { type Candidate, NO_EVIDENCE } from './candidate.ts'
import {
  dropRepetitions,
  isDominatedByOneText,
  RESERVED_DOCUMENTS,
  selectPool,
} from './candidate-pool.ts'

const POOL = 100

function candidates(kind: 'mem' | 'turn', count: number, best: number): readonly Candidate[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `${kind}_${index}` as MemoryId, // of a document
    score: best - index / 10_000,
    evidence: NO_EVIDENCE,
    coverage: 0,
    contextCoverage: 0,
    similarity: null,
    contextSimilarity: null,
    trail: [],
  }))
}

it('[CR21] reserves places in the pool for facts and for turns', () => {
  for (const [many, few] of [
    ['turn', 'mem'],
    ['mem', 'turn'],
  ] as const) {
    const near = candidates(many, 400, 1)
    const far = candidates(few, 30, 0.1)
    const pool = selectPool([...near, ...far], POOL)
    expect(pool).toHaveLength(POOL)
    expect(pool.slice(-RESERVED_DOCUMENTS)).toEqual(far.slice(0, RESERVED_DOCUMENTS))
    expect(selectPool([...near, ...far.slice(0, 1)], POOL).at(-1)).toEqual(far[0])
  }
})

it('[CR21] changes nothing when each kind has enough places', () => {
  const ranked = [...candidates('turn', 200, 1), ...candidates('mem', 200, 1)].sort(
    (a, b) => b.score - a.score,
  )
  const ids = (some: readonly Candidate[]) => new Set(some.map(({ id }) => id))
  expect(ids(selectPool(ranked, POOL))).toEqual(ids(ranked.slice(0, POOL)))
  expect(selectPool(ranked.slice(0, 7), POOL)).toHaveLength(7)
})

it('[CR21] keeps the newest turns of equal text and speaker, and every fact', () => {
  const said = (content: string, saidAt: number, role: 'user' | 'assistant' = 'user') => ({
    memory: toTurnDocument(turn({ content, saidAt: saidAt as never, role })), // whole milliseconds
  })
  const rows = [1, 5, 3, 2, 4].map((at) =>
    said(at % 2 === 0 ? 'Good morning!' : 'good morning', at),
  )
  const others = [said('Good morning', 1, 'assistant'), said('Good evening', 1)]
  const facts = Array.from({ length: 5 }, () => ({
    memory: memory({ content: 'Good morning', place: ADA }),
  }))
  const stored = dropRepetitions([...rows, ...others, ...facts])
  expect(stored.slice(0, 3).map((row) => row.memory.createdAt)).toEqual([5, 3, 4])
  expect(stored.slice(3)).toEqual([...others, ...facts])
})

it('[CR21] detects a list that one text dominates by its equal scores', () => {
  const of = (scores: readonly number[]) => isDominatedByOneText(scores, (score) => score)
  expect(of([1, 1, 1, 0.5])).toBe(true)
  expect(of([1, 1, 0.5, 0.4])).toBe(false)
  expect(of([])).toBe(false)
})
