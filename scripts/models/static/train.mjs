/** Learns token vectors whose sum points where the teacher's vector of the whole text does. */
import { randomSource, shuffled } from './random.mjs'

const SEED = 1
const BATCH = 256
const RATE = 0.01
const RATE_LAST_SHARE = 0.01
/** Adam's two memories: of the gradient and of its square. */
const MEMORY = 0.9
const SQUARE_MEMORY = 0.999
/** Tokens that are met seldom would otherwise learn their few texts by heart. */
const PULL_TO_START = 0.1

/**
 * Changes `vectors` (tokens × width) in place by gradient descent on 1 − cosine. `lists` are the token ids of texts,
 * `targets` (texts × width) the unit vectors to come near to.
 */
export function train({ vectors, lists, targets, width, epochs, tell }) {
  const start = vectors.slice()
  const gradient = new Float32Array(vectors.length)
  const memory = new Float32Array(vectors.length)
  const squares = new Float32Array(vectors.length)
  const random = randomSource(SEED)
  const texts = lists.map((_, at) => at)
  const steps = epochs * Math.ceil(lists.length / BATCH)
  let step = 0

  for (let epoch = 0; epoch < epochs; epoch++) {
    const order = shuffled(random, texts)
    let loss = 0
    for (let begin = 0; begin < order.length; begin += BATCH) {
      const met = new Set()
      for (const text of order.slice(begin, begin + BATCH)) {
        const target = targets.subarray(text * width, (text + 1) * width)
        loss += addGradient(gradient, vectors, lists[text], target)
        for (const token of lists[text]) met.add(token)
      }
      step++
      const rate = RATE * (1 - (1 - RATE_LAST_SHARE) * (step / steps))
      for (const token of met) descend(token * width, (token + 1) * width, rate)
    }
    tell(`epoch ${epoch + 1} of ${epochs}: mean loss ${(loss / lists.length).toFixed(4)}`)
  }

  function descend(begin, end, rate) {
    const early = 1 - MEMORY ** step
    const earlySquare = 1 - SQUARE_MEMORY ** step
    for (let at = begin; at < end; at++) {
      const slope = gradient[at] + PULL_TO_START * (vectors[at] - start[at])
      gradient[at] = 0
      memory[at] = MEMORY * memory[at] + (1 - MEMORY) * slope
      squares[at] = SQUARE_MEMORY * squares[at] + (1 - SQUARE_MEMORY) * slope * slope
      vectors[at] -= (rate * (memory[at] / early)) / (Math.sqrt(squares[at] / earlySquare) + 1e-8)
    }
  }
}

/** Adds the slope of one text's loss to the gradient of its tokens, and gives the loss. */
function addGradient(gradient, vectors, tokens, target) {
  const width = target.length
  const sum = sumOf(vectors, tokens, width)
  const length = lengthOf(sum)
  if (length === 0) return 1
  const cosine = dot(sum, target) / length
  const slope = sum.map((value, at) => -(target[at] - (cosine * value) / length) / length)
  for (const token of tokens) {
    for (let at = 0; at < width; at++) gradient[token * width + at] += slope[at]
  }
  return 1 - cosine
}

/** How near the sums come to the targets: the mean cosine. */
export function meanCosine({ vectors, lists, targets, width }) {
  let total = 0
  lists.forEach((tokens, text) => {
    const sum = sumOf(vectors, tokens, width)
    total += dot(sum, targets.subarray(text * width, (text + 1) * width)) / (lengthOf(sum) || 1)
  })
  return total / lists.length
}

function sumOf(vectors, tokens, width) {
  const sum = new Float32Array(width)
  for (const token of tokens) {
    for (let at = 0; at < width; at++) sum[at] += vectors[token * width + at]
  }
  return sum
}

function lengthOf(vector) {
  return Math.sqrt(dot(vector, vector))
}

function dot(a, b) {
  let sum = 0
  for (let at = 0; at < a.length; at++) sum += a[at] * b[at]
  return sum
}
