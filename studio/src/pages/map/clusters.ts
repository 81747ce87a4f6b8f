/** Groups of nearby points on the map, named by the words that set them apart. */
import type { Point } from './camera.ts'

export type Cluster = { readonly center: Point; readonly label: string; readonly size: number }

type Place = { readonly position: Point; readonly content: string }

const POINTS_PER_CLUSTER = 14
const CLUSTERS_MAX = 9
const ROUNDS = 12
const WORDS_SHOWN = 2
/** How much more frequent a word is in the group than outside of it. */
const DISTINCTION = 2
/** Shorter words say little in languages with spaces. */
const WORD_CHARACTERS_MIN = 4

export function findClusters(places: readonly Place[]): readonly Cluster[] {
  const count = Math.min(CLUSTERS_MAX, Math.floor(places.length / POINTS_PER_CLUSTER))
  if (count < 2) return []
  const groups = groupByNearest(places, count).filter(({ length }) => length > 2)
  const words = groups.map((group) => countWords(group.map(({ content }) => content)))
  const everywhere = countWords(places.map(({ content }) => content))
  const clusters = new Map<string, Cluster>()
  for (const [index, group] of groups.entries()) {
    const label = nameGroup(words[index] ?? new Map(), everywhere, group.length, places.length)
    const [first = ''] = label.split(',')
    // Of several groups about the same, only the largest is named.
    if (label === '' || (clusters.get(first)?.size ?? 0) >= group.length) continue
    clusters.set(first, { center: centerOf(group), label, size: group.length })
  }
  return [...clusters.values()]
}

/** k-means with fixed starting points, so that the same map always has the same groups. */
function groupByNearest(places: readonly Place[], count: number): readonly (readonly Place[])[] {
  let centers = spread(places, count)
  let groups: Place[][] = []
  for (let round = 0; round < ROUNDS; round++) {
    groups = centers.map(() => [])
    for (const place of places) groups[nearest(centers, place.position)]?.push(place)
    centers = groups.map((group, index) =>
      group.length === 0 ? (centers[index] as Point) : centerOf(group),
    ) // one center per group
  }
  return groups
}

/** The first point, then always the one that is farthest from those before. */
function spread(places: readonly Place[], count: number): Point[] {
  const centers: Point[] = [centerOf(places)]
  while (centers.length < count) {
    let [best, farthest] = [centers[0] as Point, -1]
    for (const { position } of places) {
      const distance = Math.min(...centers.map((center) => squaredDistance(center, position)))
      if (distance > farthest) [best, farthest] = [position, distance]
    }
    centers.push(best)
  }
  return centers
}

function nearest(centers: readonly Point[], position: Point): number {
  let [best, closest] = [0, Number.POSITIVE_INFINITY]
  for (const [index, center] of centers.entries()) {
    const distance = squaredDistance(center, position)
    if (distance < closest) [best, closest] = [index, distance]
  }
  return best
}

function squaredDistance(a: Point, b: Point): number {
  return (a.x - b.x) ** 2 + (a.y - b.y) ** 2
}

function centerOf(group: readonly Place[]): Point {
  const sum = group.reduce(
    (total, { position }) => ({ x: total.x + position.x, y: total.y + position.y }),
    { x: 0, y: 0 },
  )
  return { x: sum.x / group.length, y: sum.y / group.length }
}

/** In how many texts each word occurs. */
function countWords(texts: readonly string[]): ReadonlyMap<string, number> {
  const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' })
  const counts = new Map<string, number>()
  for (const text of texts) {
    const words = new Set<string>()
    for (const { segment, isWordLike } of segmenter.segment(text)) {
      const isSpaced = /\p{Script=Latin}|\p{Script=Cyrillic}|\p{Script=Greek}/u.test(segment)
      const isLong = segment.length >= (isSpaced ? WORD_CHARACTERS_MIN : 2)
      if (isWordLike === true && isLong && !/\d/.test(segment)) words.add(segment.toLowerCase())
    }
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  }
  return counts
}

/** The words that are frequent in the group and rare outside of it. */
function nameGroup(
  words: ReadonlyMap<string, number>,
  everywhere: ReadonlyMap<string, number>,
  size: number,
  total: number,
): string {
  return [...words]
    .map(([word, count]) => {
      const share = count / size
      const others = ((everywhere.get(word) ?? 0) - count + 0.5) / Math.max(1, total - size)
      return {
        word,
        isOwn: share > DISTINCTION * others,
        score: share * Math.log(1 + share / others),
      }
    })
    .filter(({ isOwn }) => isOwn)
    .sort((a, b) => b.score - a.score || (a.word < b.word ? -1 : 1))
    .slice(0, WORDS_SHOWN)
    .map(({ word }) => word)
    .join(', ')
}
