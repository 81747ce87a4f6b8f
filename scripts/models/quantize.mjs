/**
 * Makes models/gte-small-int8/model_int8.onnx again from the public 32-bit export of thenlper/gte-small:
 *
 *   node scripts/models/quantize.mjs <model.onnx> --check          compares with the file that is shipped
 *   node scripts/models/quantize.mjs <model.onnx> --out <file>     writes it
 */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { toInt8Model } from './int8-model.mjs'

const SHIPPED = join(dirname(fileURLToPath(import.meta.url)), '../../models/gte-small-int8')
const SOURCE_SHA256 = '398a29991324e0b383afa13375d681ced3079c83e097fb1ebd9290d7498523b3'
const COSINE_MIN = 0.99
const SENTENCES = [
  'I moved to Oslo last spring.',
  'Where does Ann live now?',
  'My sister is allergic to peanuts, so we never have them in the house.',
  'The deadline of the report was moved from Friday to the Tuesday after.',
  'He plays the cello in an orchestra and teaches children at weekends.',
  'Please answer in short sentences and without exclamation marks.',
  'A protein that binds to the receptor slows the growth of the tumour.',
  'The server listens on port 8443 and restarts when its configuration changes.',
]

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { check: { type: 'boolean' }, out: { type: 'string' } },
})
const [path] = positionals
if (path === undefined || (options.out === undefined && options.check !== true)) {
  console.error('Usage: node scripts/models/quantize.mjs <model.onnx> [--check] [--out <file>]')
  process.exit(2)
}

const source = readFileSync(path)
if (sha256(source) !== SOURCE_SHA256) {
  console.error(`${path} is another export than the shipped weights were made from.`)
  console.error(`SHA-256 is     ${sha256(source)}\nand should be  ${SOURCE_SHA256}`)
  process.exit(1)
}
const made = toInt8Model(source)
console.log(`made     ${made.length} bytes, SHA-256 ${sha256(made)}`)
if (options.out !== undefined) writeFileSync(options.out, made)
if (options.check === true) await check()

async function check() {
  const shipped = readFileSync(join(SHIPPED, 'model_int8.onnx'))
  const isSame = made.equals(shipped)
  console.log(`shipped  ${shipped.length} bytes, SHA-256 ${sha256(shipped)}`)
  console.log(isSame ? 'They are the same to the byte.' : 'They differ.')
  const cosines = await compareVectors(source, made)
  const lowest = Math.min(...cosines)
  console.log(
    `Vectors of ${cosines.length} sentences, 32-bit against 8-bit: cosine ${lowest.toFixed(4)} or more.`,
  )
  if (!isSame || lowest < COSINE_MIN) process.exitCode = 1
}

async function compareVectors(...models) {
  const { Tokenizer } = await import('@huggingface/tokenizers')
  const { default: ort } = await import('onnxruntime-node')
  const json = (name) => JSON.parse(readFileSync(join(SHIPPED, name), 'utf8'))
  const tokenizer = new Tokenizer(json('tokenizer.json'), json('tokenizer_config.json'))
  const sessions = await Promise.all(models.map((model) => ort.InferenceSession.create(model)))
  const cosines = []
  for (const sentence of SENTENCES) {
    const { ids } = tokenizer.encode(sentence)
    const [one, other] = await Promise.all(sessions.map((session) => embed(ort, session, ids)))
    cosines.push(cosine(one, other))
  }
  return cosines
}

/** The mean of the hidden states. */
async function embed(ort, session, ids) {
  const tensor = (values) =>
    new ort.Tensor('int64', BigInt64Array.from(values, BigInt), [1, ids.length])
  const { last_hidden_state: states } = await session.run({
    input_ids: tensor(ids),
    attention_mask: tensor(ids.map(() => 1)),
    token_type_ids: tensor(ids.map(() => 0)),
  })
  const dimensions = states.dims[2]
  const sum = new Float64Array(dimensions)
  states.data.forEach((value, at) => {
    sum[at % dimensions] += value
  })
  return sum
}

function cosine(a, b) {
  const dot = (x, y) => x.reduce((sum, value, at) => sum + value * y[at], 0)
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b))
}

function sha256(bytes) {
  return createHash('sha256').update(bytes).digest('hex')
}
