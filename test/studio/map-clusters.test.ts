/** Groups of nearby points and their names. */
import { expect, it } from 'vitest'
import { findClusters } from '../../studio/src/pages/map/clusters.ts'

const near = (x: number, y: number, content: string, count = 30) =>
  Array.from({ length: count }, (_, index) => ({
    position: { x: x + (index % 5) / 50, y: y + (index % 7) / 50 },
    content: `${content} needs attention, number ${index}`,
  }))

it('[SM6] groups of points are named by the words that only they have, each name once', () => {
  const places = [...near(0, 0, 'The kettle'), ...near(9, 0, 'The violin'), ...near(0, 9, 'A boat')]
  const clusters = findClusters(places)
  const labels = clusters.map(({ label }) => label)
  expect(new Set(labels).size).toBe(labels.length)
  expect([...labels].sort()).toEqual(['boat', 'kettle', 'violin'])
  expect(findClusters(places)).toEqual(clusters)
  expect(findClusters(near(0, 0, 'The kettle', 5))).toEqual([])
})
