/**
 * What is searched: texts (`texts.ts`) with vectors that lie as real ones do.
 *
 * Embedding a hundred thousand texts takes an hour, so only a thousand are, by the built-in model. Texts of made-up
 * words are more alike to it than sentences are (0.83 ± 0.017); a third of what all of them have in common is taken
 * away, which leaves 0.74 ± 0.03, where unrelated sentences have 0.74 ± 0.025 (`engine/calibration.ts`). The wider they
 * lie, the fewer must be compared exactly, so this helps our own search and no other. Memory number n gets a vector
 * between those of two of them, drawn at random and the first one nearer, with a fifth of noise. A question about a
 * memory has that memory's vector with a third of noise. Vectors of fewer dimensions are the first numbers of these.
 * Everything is brought to length one and is the same in every run.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import type { OwnerId, SessionId } from '../../src/domain/ids.ts'
import type { Place } from '../../src/domain/scope.ts'
import { seededRandom } from '../harness.ts'
import { Texts } from '../texts.ts'

export const BASE_DIMENSIONS = 384
const COMMON_SHARE = 1 / 3
const NOISE = 0.2
const QUESTION_NOISE = 0.33
const QUESTION_WORDS = 6
const QUESTIONS = 100

/** Warm-up queries, for Recollect and its peers: uncompiled code takes several times as long. */
export const WARM_UP = 300

/** Memories are turns of conversations, so that recall considers their neighbors. */
const SESSION_MEMORIES = 20

export type CorpusShape = {
  readonly memories: number
  readonly owners: number
  readonly dimensions: number
  /** A file of vectors by the built-in model. */
  readonly base: string
}

export type Question = {
  /** Of the memory that it is about. */
  readonly number: number
  readonly owner: OwnerId
  readonly text: string
  readonly vector: Float32Array
}

export function writeBase(path: string, vectors: readonly Float32Array[]): void {
  const bytes = vectors.map(({ buffer, byteOffset, byteLength }) =>
    Buffer.from(buffer, byteOffset, byteLength),
  )
  writeFileSync(path, Buffer.concat(bytes))
}

export class Corpus {
  readonly shape: CorpusShape
  readonly #base: Float32Array
  readonly #baseCount: number

  constructor(shape: CorpusShape) {
    this.shape = shape
    this.#base = new Float32Array(Uint8Array.from(readFileSync(shape.base)).buffer)
    this.#baseCount = this.#base.length / BASE_DIMENSIONS
    takeAway(this.#base, COMMON_SHARE)
  }

  /** The texts of all memories, in order. */
  *texts(): Generator<string> {
    const texts = new Texts(7)
    for (let number = 0; number < this.shape.memories; number++) yield texts.next()
  }

  placeOf(number: number): Place {
    const { owners } = this.shape
    const session = Math.floor(number / owners / SESSION_MEMORIES)
    // Made here, for the bench only.
    return { owner: this.#ownerOf(number), user: null, session: `session-${session}` as SessionId }
  }

  #ownerOf(number: number): OwnerId {
    return `owner-${number % this.shape.owners}` as OwnerId // made here, for the bench only
  }

  vectorOf(number: number): Float32Array {
    const random = seededRandom(number * 2 + 1)
    const nearer = Math.floor(random() * this.#baseCount) * BASE_DIMENSIONS
    const other = Math.floor(random() * this.#baseCount) * BASE_DIMENSIONS
    const share = random() / 2
    const vector = new Float32Array(this.shape.dimensions)
    for (let index = 0; index < vector.length; index++) {
      vector[index] =
        (1 - share) * (this.#base[nearer + index] ?? 0) + share * (this.#base[other + index] ?? 0)
    }
    return disturbed(vector, NOISE, random)
  }

  /** Questions about memories throughout the corpus. */
  questions(): readonly Question[] {
    const words = new Texts(17)
    const step = Math.max(1, Math.floor(this.shape.memories / QUESTIONS))
    const questions: Question[] = []
    let number = 0
    for (const text of this.texts()) {
      // One further each time, so that they are about different owners.
      const wanted = questions.length * step + (questions.length % step)
      if (number === wanted && questions.length < QUESTIONS) {
        questions.push({
          number,
          owner: this.#ownerOf(number),
          text: words.queryFor(text, QUESTION_WORDS),
          vector: disturbed(this.vectorOf(number), QUESTION_NOISE, seededRandom(number * 2)),
        })
      }
      number++
    }
    return questions
  }

  /** The numbers of the owner's memories that are nearest to each question, by comparing all of them. */
  nearest(questions: readonly Question[], limit: number): readonly (readonly number[])[] {
    const searches = questions.map((question) => ({ ...question, nearest: new Nearest(limit) }))
    const owners = new Set(questions.map(({ owner }) => owner))
    for (let number = 0; number < this.shape.memories; number++) {
      const owner = this.#ownerOf(number)
      if (!owners.has(owner)) continue
      const vector = this.vectorOf(number)
      for (const question of searches) {
        if (question.owner === owner) {
          question.nearest.offer(number, product(question.vector, vector, 0))
        }
      }
    }
    return searches.map(({ nearest }) => nearest.numbers)
  }
}

/** The highest of many, in order. */
export class Nearest {
  readonly #limit: number
  readonly #found: { readonly number: number; readonly similarity: number }[] = []
  #worst = Number.NEGATIVE_INFINITY

  constructor(limit: number) {
    this.#limit = limit
  }

  get numbers(): readonly number[] {
    return this.#found.map(({ number }) => number)
  }

  offer(number: number, similarity: number): void {
    if (similarity <= this.#worst) return
    const below = this.#found.findIndex((found) => found.similarity < similarity)
    this.#found.splice(below === -1 ? this.#found.length : below, 0, { number, similarity })
    if (this.#found.length > this.#limit) this.#found.pop()
    if (this.#found.length === this.#limit) this.#worst = this.#found.at(-1)?.similarity ?? 0
  }
}

/** The inner product of a vector with the one that begins at a place. Four sums, so that they needn't wait for each other. */
export function product(vector: Float32Array, many: Float32Array, at: number): number {
  let [a, b, c, d] = [0, 0, 0, 0]
  for (let index = 0; index < vector.length; index += 4) {
    a += (vector[index] ?? 0) * (many[at + index] ?? 0)
    b += (vector[index + 1] ?? 0) * (many[at + index + 1] ?? 0)
    c += (vector[index + 2] ?? 0) * (many[at + index + 2] ?? 0)
    d += (vector[index + 3] ?? 0) * (many[at + index + 3] ?? 0)
  }
  return a + b + c + d
}

/** Takes a share of the mean of all vectors from each. */
function takeAway(vectors: Float32Array, share: number): void {
  const mean = new Float64Array(BASE_DIMENSIONS)
  const count = vectors.length / BASE_DIMENSIONS
  for (const [at, value] of vectors.entries()) {
    mean[at % BASE_DIMENSIONS] = (mean[at % BASE_DIMENSIONS] ?? 0) + value / count
  }
  for (let at = 0; at < vectors.length; at++) {
    vectors[at] = (vectors[at] ?? 0) - share * (mean[at % BASE_DIMENSIONS] ?? 0)
  }
}

/** The vector at length one, with noise of the given length added, and at length one again. */
function disturbed(vector: Float32Array, amount: number, random: () => number): Float32Array {
  const noise = Float32Array.from(vector, () => random() - 0.5)
  const [unit, noiseUnit] = [1 / lengthOf(vector), amount / lengthOf(noise)]
  for (let index = 0; index < vector.length; index++) {
    vector[index] = (vector[index] ?? 0) * unit + (noise[index] ?? 0) * noiseUnit
  }
  const whole = 1 / lengthOf(vector)
  return vector.map((value) => value * whole)
}

function lengthOf(vector: Float32Array): number {
  return Math.sqrt(product(vector, vector, 0))
}

/** The share of what is nearest that was found. */
export function shareFound(
  found: readonly (readonly number[])[],
  nearest: readonly (readonly number[])[],
): number {
  const shares = nearest.map((numbers, index) => {
    const hits = new Set(found[index])
    return numbers.filter((number) => hits.has(number)).length / numbers.length
  })
  return shares.reduce((sum, share) => sum + share, 0) / shares.length
}
