/** What the map and the net are drawn from, without a browser. */
import { expect, it } from 'vitest'
import { buildEdges } from '../../studio/src/pages/map/entity-graph.ts'
import { type Progress, project } from '../../studio/src/pages/map/projection.ts'

const DIMENSIONS = 24

/** Vectors around a few directions, each its own group. */
function grouped(count: number, groups: number) {
  const bytes = new Int8Array(count * DIMENSIONS)
  for (let row = 0; row < count; row++) {
    for (let at = 0; at < DIMENSIONS; at++) {
      const noise = ((row * 31 + at * 17) % 13) - 6
      bytes[row * DIMENSIONS + at] = (at % groups === row % groups ? 100 : 0) + noise
    }
  }
  return { bytes, count, dimensions: DIMENSIONS }
}

function distance(places: Float32Array, a: number, b: number): number {
  const [ax = 0, ay = 0] = places.subarray(a * 2)
  const [bx = 0, by = 0] = places.subarray(b * 2)
  return Math.hypot(ax - bx, ay - by)
}

it('[SM5] the same vectors get the same places, and what is close stays close', () => {
  const count = 90
  const told: Progress[] = []
  const places = project(grouped(count, 3), (progress) => told.push(progress))
  expect(project(grouped(count, 3))).toEqual(places)
  for (let row = 0; row < count; row++) {
    const others = Array.from({ length: count }, (_, other) => other)
      .filter((other) => other !== row)
      .sort((a, b) => distance(places, row, a) - distance(places, row, b))
    expect(others.slice(0, 5).map((other) => other % 3)).toEqual(Array(5).fill(row % 3))
  }
  const shares = told.map(({ done }) => done)
  expect(shares).toEqual([...shares].sort((a, b) => a - b))
  expect(shares.at(-1)).toBe(1)
  expect(new Set(told.map(({ stage }) => stage))).toEqual(new Set(['comparing', 'placing']))
})

it('[SM5] vectors that are all alike, zero or few get places too', () => {
  const alike = (count: number, value: number) => ({
    bytes: new Int8Array(count * DIMENSIONS).fill(value),
    count,
    dimensions: DIMENSIONS,
  })
  for (const vectors of [alike(40, 7), alike(40, 0), grouped(10, 2)]) {
    const places = project(vectors)
    expect(places).toHaveLength(vectors.count * 2)
    expect([...places].every(Number.isFinite)).toBe(true)
  }
})

it('[SM7] names are tied by the memories that hold both, the strongest tie first', () => {
  const memory = (entities: number[]) => ({
    ...{ id: 'mem_x', content: 'x', category: 'fact' as const },
    entities,
  })
  const entities = ['Ana', 'Bo', 'Porto'].map((name) => ({ name, memories: 2 }))
  const memories = [memory([1, 0]), memory([0, 1, 2]), memory([2])]
  expect(buildEdges({ entities, memories, total: 3, isComplete: true })).toEqual([
    { a: 0, b: 1, memories: [0, 1] },
    { a: 0, b: 2, memories: [1] },
    { a: 1, b: 2, memories: [1] },
  ])
})
