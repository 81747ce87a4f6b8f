/** The model whose vectors are imitated, and a cache of what it said. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Tokenizer } from '@huggingface/tokenizers'
import ort from 'onnxruntime-node'

export const TEACHER_DIMENSIONS = 384
const TOKENS_MAX = 128
/** Numbers of a batch are rounded together, so only texts of equal length share one, and never many. */
const BATCH_TEXTS_MAX = 16

export async function openTeacher(folder) {
  const json = (name) => JSON.parse(readFileSync(join(folder, name), 'utf8'))
  const tokenizer = new Tokenizer(json('tokenizer.json'), json('tokenizer_config.json'))
  const session = await ort.InferenceSession.create(join(folder, 'model_int8.onnx'), {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
  })
  return {
    vocabulary: Object.entries(json('tokenizer.json').model.vocab)
      .sort((a, b) => a[1] - b[1])
      .map(([token]) => token),
    tokenIds: (text) => tokenizer.encode(text, { add_special_tokens: false }).ids,
    frame: tokenizer.encode('').ids,
    run: (lists) => run(session, lists),
  }
}

/** The hidden states of lists of token ids, all of one length, one after the other. */
async function run(session, lists) {
  const shape = [lists.length, lists[0].length]
  const tensor = (values) => new ort.Tensor('int64', BigInt64Array.from(values, BigInt), shape)
  const ids = lists.flat()
  const answer = await session.run({
    input_ids: tensor(ids),
    attention_mask: tensor(ids.map(() => 1)),
    token_type_ids: tensor(ids.map(() => 0)),
  })
  return answer.last_hidden_state.data
}

/**
 * For each list of token ids the unit vector of the text, and for each token the sum of its hidden states over all
 * texts and how often it was met. Kept in `cache` by a hash of the lists, for the next run.
 */
export async function teach(teacher, lists, cache, tell) {
  const hash = createHash('sha256').update(JSON.stringify(lists)).digest('hex').slice(0, 16)
  const path = join(cache, `teacher-${hash}.f32`)
  const size = teacher.vocabulary.length
  const parts = [lists.length * TEACHER_DIMENSIONS, size * TEACHER_DIMENSIONS, size]
  const total = parts.reduce((sum, part) => sum + part)
  if (!existsSync(path)) {
    const all = new Float32Array(total)
    await fill(teacher, lists, sections(all, parts), tell)
    mkdirSync(cache, { recursive: true })
    writeFileSync(`${path}.part`, new Uint8Array(all.buffer))
    renameSync(`${path}.part`, path)
  }
  const bytes = readFileSync(path)
  return sections(
    new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + total * 4)),
    parts,
  )
}

function sections(all, [vectors, sums]) {
  return {
    vectors: all.subarray(0, vectors),
    tokenSums: all.subarray(vectors, vectors + sums),
    tokenCounts: all.subarray(vectors + sums),
  }
}

async function fill(teacher, lists, { vectors, tokenSums, tokenCounts }, tell) {
  const [first, last] = teacher.frame
  const framed = lists.map((ids) => [first, ...ids.slice(0, TOKENS_MAX - 2), last])
  const order = framed
    .map((_, at) => at)
    .sort((a, b) => framed[a].length - framed[b].length || a - b)
  const started = Date.now()
  for (let begin = 0; begin < order.length; ) {
    const { length } = framed[order[begin]]
    let end = begin
    while (
      end < order.length &&
      end - begin < BATCH_TEXTS_MAX &&
      framed[order[end]].length === length
    )
      end++
    const batch = order.slice(begin, end)
    const states = await teacher.run(batch.map((at) => framed[at]))
    batch.forEach((at, place) => {
      const own = states.subarray(
        place * length * TEACHER_DIMENSIONS,
        (place + 1) * length * TEACHER_DIMENSIONS,
      )
      const vector = vectors.subarray(at * TEACHER_DIMENSIONS, (at + 1) * TEACHER_DIMENSIONS)
      framed[at].forEach((id, position) => {
        tokenCounts[id]++
        for (let d = 0; d < TEACHER_DIMENSIONS; d++) {
          const value = own[position * TEACHER_DIMENSIONS + d]
          vector[d] += value
          tokenSums[id * TEACHER_DIMENSIONS + d] += value
        }
      })
      const norm = Math.hypot(...vector)
      for (let d = 0; d < TEACHER_DIMENSIONS; d++) vector[d] /= norm
    })
    if (Math.floor(begin / 2_000) !== Math.floor(end / 2_000)) {
      tell(
        `teacher: ${end} of ${order.length} texts, ${Math.round((Date.now() - started) / 1_000)} s`,
      )
    }
    begin = end
  }
}
