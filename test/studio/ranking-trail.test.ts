/** How the playground derives ranks per stage from the trail of each result. */
import { expect, it } from 'vitest'
import type { PreviewResult } from '../../studio/src/pages/playground/queries.ts'
import { buildTrail } from '../../studio/src/pages/playground/ranking-trail.ts'

/** A result with the fields that the trail is built from. */
function found(id: string, score: number, trail: Readonly<Record<string, number>>): PreviewResult {
  const steps = Object.entries(trail).map(([stage, at]) => ({ stage, score: at }))
  return { id, score, trail: steps } as unknown as PreviewResult // the other fields are not used
}

const column = <Name extends 'rank' | 'rankChange' | 'score' | 'hasStep'>(
  of: readonly PreviewResult[],
  name: Name,
) =>
  buildTrail(of).stageResults.map((stageResults) =>
    stageResults.map((stageResult) => stageResult[name]),
  )

const RAISED = found('raised', 0.8, { keyword: 1, fusion: 0.5, boost: 0.8, threshold: 0.8 })
const LOWERED = found('lowered', 0.6, { keyword: 2, vector: 0.9, fusion: 0.6, threshold: 0.6 })

it('[SP1] a result has a rank after each stage, and a change where the stage moved it', () => {
  const both = [RAISED, LOWERED]
  expect(buildTrail(both).stages).toEqual([
    'keyword',
    'vector',
    'fusion',
    'boost',
    'threshold',
    'fit',
  ])
  expect(column(both, 'rank')).toEqual([
    [2, null, 2, 1, 1, 1],
    [1, 1, 1, 2, 2, 2],
  ])
  // The retrievers run in parallel, so ranks do not change between them.
  expect(column(both, 'rankChange')).toEqual([
    [null, null, null, 1, 0, 0],
    [null, null, null, -1, 0, 0],
  ])
})

it('[SP1] a stage without a step keeps the score of the previous stage', () => {
  expect(column([RAISED, LOWERED], 'score')[1]).toEqual([2, 0.9, 0.6, 0.6, 0.6, 0.6])
  expect(column([RAISED, LOWERED], 'hasStep')[1]).toEqual([true, true, true, false, true, true])
})

it('[SP1] results that the reranker has scored rank before those that it has not', () => {
  const read = found('read', 0.1, { fusion: 0.2, rerank: 0.1 })
  const unread = found('unread', 0.9, { fusion: 0.9 })
  expect(column([read, unread], 'rank')).toEqual([
    [2, 1, 1],
    [1, 2, 2],
  ])
})

it('[SP1] no results have an empty trail', () => {
  expect(buildTrail([])).toEqual({ stages: [], stageResults: [] })
})
