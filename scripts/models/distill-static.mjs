/**
 * Distils the built-in model into vectors of single tokens, for the `static` source of embeddings:
 *
 *   node scripts/models/distill-static.mjs --wordnet <folder> --prose <file or folder>… --cache <folder> --out <folder>
 *
 * The teacher embeds some 57,000 texts (ten minutes on one core, kept in the cache). A token begins as the mean
 * of what the teacher made of it in context, weighted down the more common it is; then all tokens are trained together
 * until the direction of their sum comes near to the teacher's vector of the whole text. See README.md beside this file.
 */
import { parseArgs } from 'node:util'
import { writeStaticFolder } from './static/folder.mjs'
import * as linear from './static/linear.mjs'
import { randomSource, shuffled } from './static/random.mjs'
import { openTeacher, TEACHER_DIMENSIONS, teach } from './static/teacher.mjs'
import { gatherTexts } from './static/texts.mjs'
import { meanCosine, train } from './static/train.mjs'

const SEED = 2
const WIDTH = 256
const EPOCHS = 6
const COUNTS = {
  examples: 16_000,
  meanings: 18_000,
  sentences: 7_000,
  paragraphs: 1_200,
  talk: 15_000,
}
/** Not trained on, to see how well the vectors do with texts they have not met. */
const HELD_OUT = 2_000
/**
 * All vectors of the teacher share one direction. Taking all of it away makes small talk stand out as much as what
 * matters, and even the teacher then finds less.
 */
const MEAN_SHARE = 0.3
/** Smooth inverse frequency: a token twice as common as this has a third of the weight of a rare one. */
const COMMON = 1e-3
/** How much the token singleTokens, without context, counts beside the contexts it was met in. */
const ALONE_WEIGHT = 3
/** Tokens met less often get the vector that others like them have. */
const MET_MIN = 3
const RIDGE_PENALTY = 10

const { values: options } = parseArgs({
  options: {
    model: { type: 'string', default: 'models/gte-small-int8' },
    wordnet: { type: 'string' },
    prose: { type: 'string', multiple: true, default: [] },
    cache: { type: 'string' },
    out: { type: 'string' },
    'without-talk': { type: 'boolean', default: false },
  },
})
if (!options.wordnet || !options.cache || !options.out) {
  console.error('Give --wordnet, --cache and --out; see scripts/models/README.md.')
  process.exit(2)
}

const teacher = await openTeacher(options.model)
const { vocabulary } = teacher
const words = new Set(vocabulary.filter((token) => /^[a-z]{2,}$/.test(token)))
const { written, talk } = gatherTexts({
  wordnet: options.wordnet,
  prose: options.prose,
  isKnownWord: (word) => words.has(word),
  counts: COUNTS,
})
const singleTokens = await ask(vocabulary.map((_, id) => [id]))
const taught = await askAll(options['without-talk'] ? [written] : [written, talk])
const { lists } = taught

const mean = linear.meanRow(taught.vectors, TEACHER_DIMENSIONS)
const directions = linear.mainDirections(taught.vectors, TEACHER_DIMENSIONS, WIDTH)
const inSpace = (rows) =>
  linear.project(linear.lessMean(rows, mean, MEAN_SHARE), TEACHER_DIMENSIONS, directions)
const targets = linear.unitRows(inSpace(taught.vectors), WIDTH)
const counts = countTokens()
const vectors = startingVectors()

const middle = lists.length - HELD_OUT
const heldOut = {
  lists: lists.slice(middle),
  targets: targets.subarray(middle * WIDTH),
  width: WIDTH,
}
console.log(`held-out cosine before training: ${meanCosine({ vectors, ...heldOut }).toFixed(4)}`)
train({
  vectors,
  lists: lists.slice(0, middle),
  targets,
  width: WIDTH,
  epochs: EPOCHS,
  tell: console.log,
})
console.log(`held-out cosine after training: ${meanCosine({ vectors, ...heldOut }).toFixed(4)}`)

fillSeldomMet()
silenceSpecial()
writeStaticFolder(options.out, { vocabulary, vectors, width: WIDTH, languages: ['en'] })
console.log(`written to ${options.out}`)

function ask(ids) {
  return teach(teacher, ids, options.cache, console.log)
}

/** Each kind of text is kept on its own, so that a change in one doesn't cost the teacher's time for the others. */
async function askAll(kinds) {
  const parts = []
  for (const texts of kinds) {
    const ids = texts.map(teacher.tokenIds)
    parts.push({ ids, ...(await ask(ids)) })
  }
  const all = parts.flatMap(({ ids, vectors: own }) =>
    ids.map((list, at) => ({
      list,
      vector: own.subarray(at * TEACHER_DIMENSIONS, (at + 1) * TEACHER_DIMENSIONS),
    })),
  )
  const mixed = shuffled(randomSource(SEED), all)
  const together = new Float32Array(mixed.length * TEACHER_DIMENSIONS)
  mixed.forEach(({ vector }, at) => {
    together.set(vector, at * TEACHER_DIMENSIONS)
  })
  return {
    lists: mixed.map(({ list }) => list),
    vectors: together,
    tokenSums: parts
      .map(({ tokenSums }) => tokenSums)
      .reduce((sum, own) => sum.map((value, at) => value + own[at])),
  }
}

function countTokens() {
  const met = new Float64Array(vocabulary.length)
  for (const list of lists) for (const token of list) met[token]++
  return met
}

function startingVectors() {
  const contexts = taught.tokenSums.map(
    (sum, at) => sum + ALONE_WEIGHT * singleTokens.tokenSums[at],
  )
  const start = inSpace(linear.unitRows(contexts, TEACHER_DIMENSIONS))
  const total = counts.reduce((sum, count) => sum + count)
  return start.map((value, at) => {
    const share = counts[Math.floor(at / WIDTH)] / total
    return (value * COMMON) / (COMMON + share)
  })
}

/** What the teacher says of a token singleTokens tells its trained vector, as far as a linear map can. */
function fillSeldomMet() {
  const met = vocabulary.map((_, id) => id).filter((id) => counts[id] >= MET_MIN)
  const gather = (rows, width) => {
    const chosen = new Float32Array(met.length * width)
    met.forEach((id, row) => {
      chosen.set(rows.subarray(id * width, (id + 1) * width), row * width)
    })
    return chosen
  }
  const map = linear.fitLinearMap(
    gather(singleTokens.vectors, TEACHER_DIMENSIONS),
    TEACHER_DIMENSIONS,
    gather(vectors, WIDTH),
    WIDTH,
    RIDGE_PENALTY,
  )
  vocabulary.forEach((_, id) => {
    if (counts[id] >= MET_MIN) return
    const row = singleTokens.vectors.subarray(
      id * TEACHER_DIMENSIONS,
      (id + 1) * TEACHER_DIMENSIONS,
    )
    vectors.set(linear.mapped(row, map, WIDTH), id * WIDTH)
  })
  console.log(`${vocabulary.length - met.length} tokens were met less than ${MET_MIN} times`)
}

/** `[UNK]` stands for anything at all, and the others for nothing in a text. */
function silenceSpecial() {
  vocabulary.forEach((token, id) => {
    if (/^\[[A-Za-z0-9]+\]$/.test(token)) vectors.fill(0, id * WIDTH, (id + 1) * WIDTH)
  })
}
