/**
 * Projects vectors to a plane with UMAP. The result is deterministic: randomness is seeded, and the nearest neighbors
 * are exact, which for a few thousand vectors is also faster than an approximation.
 */
import { UMAP } from 'umap-js'

export type Vectors = {
  /** Concatenated vectors. */
  readonly bytes: Int8Array
  readonly count: number
  readonly dimensions: number
}

export type Stage = 'comparing' | 'placing'

export type Progress = {
  readonly stage: Stage
  /** Overall progress from 0 to 1. */
  readonly done: number
  /** The current positions, as alternating x and y. */
  readonly positions: Float32Array | null
}

const NEIGHBORS = 15
const EPOCHS_FEW = 300
const EPOCHS_MANY = 200
const MANY_POINTS = 1_000
const SEED = 20_260_501
/** The approximate share of the time that the comparison takes. */
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
  // With precomputed neighbors, UMAP uses only the number of vectors.
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
    // UMAP yields NaN for identical vectors.
    positions[index * 2] = Number.isFinite(x) ? x : 0
    positions[index * 2 + 1] = Number.isFinite(y) ? y : 0
  }
  return positions
}

/** Normalizes the quantized vectors to unit length. */
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

/** The nearest neighbors of each vector by cosine distance, itself first. Each pair is compared once. */
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

/** Inserts a neighbor into the sorted list if it is close enough. */
function insertNeighbor(
  indices: number[] = [],
  distances: number[] = [],
  index: number,
  distance: number,
  length: number,
): void {
  if (distances.length >= length && distance >= (distances.at(-1) ?? 0)) return
  let place = distances.length
  // The first entry is the vector itself.
  while (place > 1 && (distances[place - 1] ?? 0) > distance) place--
  indices.splice(place, 0, index)
  distances.splice(place, 0, distance)
  if (distances.length > length) {
    indices.pop()
    distances.pop()
  }
}

/** A seeded pseudo-random number generator (LCG) with values from 0 to 1. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    // The low bits of an LCG have a short period; they are mixed with the high bits.
    return ((state ^ (state >>> 15)) >>> 0) / 4_294_967_296
  }
}
