/**
 * Places vectors on a plane so that those that are close stay close (UMAP). The same vectors always get the same places:
 * chance comes from a seed, and the nearest neighbours are found exactly, which for some thousands is also quicker than
 * guessing them.
 */
import { UMAP } from 'umap-js'

export type Vectors = {
  /** One after another. */
  readonly bytes: Int8Array
  readonly count: number
  readonly dimensions: number
}

export type Stage = 'comparing' | 'placing'

export type Progress = {
  readonly stage: Stage
  /** 0 … 1, of everything. */
  readonly done: number
  /** Where things are so far, as x and y by turns. */
  readonly positions: Float32Array | null
}

const NEIGHBORS = 15
const EPOCHS_FEW = 300
const EPOCHS_MANY = 200
const MANY_POINTS = 1_000
const SEED = 20_260_501
/** How much of the time goes into comparing, about. */
const COMPARING_SHARE = 0.35
const EPOCHS_PER_REPORT = 10

export function project(
  vectors: Vectors,
  report: (progress: Progress) => void = () => undefined,
): Float32Array {
  const { count } = vectors
  const neighbors = Math.min(NEIGHBORS, count - 1)
  const { indices, distances } = nearest(unitVectors(vectors), vectors, neighbors, (done) =>
    report({ stage: 'comparing', done: done * COMPARING_SHARE, positions: null }),
  )
  const umap = new UMAP({
    random: createRandom(SEED),
    nNeighbors: neighbors,
    nEpochs: count > MANY_POINTS ? EPOCHS_MANY : EPOCHS_FEW,
    minDist: 0.25,
    spread: 1.2,
  })
  umap.setPrecomputedKNN(indices, distances)
  // With neighbours given, only the number of vectors is looked at.
  const epochs = umap.initializeFit(Array.from({ length: count }, () => []))
  for (let epoch = 1; epoch <= epochs; epoch++) {
    umap.step()
    if (epoch % EPOCHS_PER_REPORT !== 0) continue
    report({
      stage: 'placing',
      done: COMPARING_SHARE + (1 - COMPARING_SHARE) * (epoch / epochs),
      positions: flattenPoints(umap.getEmbedding()),
    })
  }
  return flattenPoints(umap.getEmbedding())
}

function flattenPoints(points: readonly (readonly number[])[]): Float32Array {
  const positions = new Float32Array(points.length * 2)
  for (const [index, [x = 0, y = 0]] of points.entries()) {
    // Vectors that are all alike have no directions to lie in.
    positions[index * 2] = Number.isFinite(x) ? x : 0
    positions[index * 2 + 1] = Number.isFinite(y) ? y : 0
  }
  return positions
}

/** The bytes say directions only. */
function unitVectors({ bytes, count, dimensions }: Vectors): Float32Array {
  const units = Float32Array.from(bytes)
  for (let row = 0; row < count; row++) {
    const start = row * dimensions
    let square = 0
    for (let at = start; at < start + dimensions; at++) square += (units[at] ?? 0) ** 2
    const length = Math.sqrt(square) || 1
    for (let at = start; at < start + dimensions; at++) units[at] = (units[at] ?? 0) / length
  }
  return units
}

type Neighbors = { readonly indices: number[][]; readonly distances: number[][] }

/** For each its nearest by angle, itself first. Every pair is looked at once. */
function nearest(
  units: Float32Array,
  { count, dimensions }: Vectors,
  neighbors: number,
  report: (done: number) => void,
): Neighbors {
  const indices = Array.from({ length: count }, (_, row) => [row])
  const distances = Array.from({ length: count }, () => [0])
  for (let row = 0; row < count; row++) {
    for (let other = row + 1; other < count; other++) {
      let product = 0
      const [a, b] = [row * dimensions, other * dimensions]
      for (let at = 0; at < dimensions; at++) product += (units[a + at] ?? 0) * (units[b + at] ?? 0)
      const distance = Math.max(0, 1 - product)
      insertNeighbor(indices[row], distances[row], other, distance, neighbors)
      insertNeighbor(indices[other], distances[other], row, distance, neighbors)
    }
    if (row % 50 === 0) report(1 - (1 - row / count) ** 2)
  }
  return { indices, distances }
}

/** Puts one into the list of the nearest, if it is one of them. */
function insertNeighbor(
  indices: number[] = [],
  distances: number[] = [],
  index: number,
  distance: number,
  length: number,
): void {
  if (distances.length >= length && distance >= (distances.at(-1) ?? 0)) return
  let place = distances.length
  // The first is the vector itself, and stays.
  while (place > 1 && (distances[place - 1] ?? 0) > distance) place--
  indices.splice(place, 0, index)
  distances.splice(place, 0, distance)
  if (distances.length > length) {
    indices.pop()
    distances.pop()
  }
}

/** Numbers from 0 to 1 that look like chance and are the same each time. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    // The low bits of such a series repeat soon: they are folded into the high ones.
    return ((state ^ (state >>> 15)) >>> 0) / 4_294_967_296
  }
}
