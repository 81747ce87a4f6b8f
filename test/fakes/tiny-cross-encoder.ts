/**
 * A real cross-encoder of a few kilobytes, whose scores can be worked out by hand: each word of the question counts as
 * often as it is in the text, times the weight of the word.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { FLOAT, floats, INT64, integers, network, node, tensorInfo } from '../support/onnx.ts'

const MARKS = ['[PAD]', '[UNK]', '[CLS]', '[SEP]'] as const
/** Words that are not here are [UNK], which counts for nothing. */
const WEIGHTS: Readonly<Record<string, number>> = {
  cat: 1,
  mat: 1,
  tax: 1,
  friday: 1,
  red: 1,
  green: 2,
  blue: 4,
  broken: Number.NaN,
}
const TOKENS = [...MARKS, ...Object.keys(WEIGHTS)]

export type CrossEncoderFiles = Readonly<Record<string, string | Uint8Array>>

/** Writes the model into a folder, with `more` files beside or instead of the usual ones. */
export function writeCrossEncoder(folder: string, more: CrossEncoderFiles = {}): void {
  for (const [file, content] of Object.entries({ ...crossEncoderFiles(), ...more })) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), content)
  }
}

export function crossEncoderFiles(): CrossEncoderFiles {
  return {
    'config.json': JSON.stringify({ max_position_embeddings: 64, type_vocab_size: 2 }),
    'model.onnx': crossEncoderNetwork([1]),
    'tokenizer.json': JSON.stringify(crossEncoderTokenizer()),
  }
}

/** With one number for each head: the score times that head. */
export function crossEncoderNetwork(heads: readonly number[]): Uint8Array {
  const row = ['batch', 'tokens']
  return network({
    inputs: ['input_ids', 'attention_mask', 'token_type_ids'].map((name) =>
      tensorInfo(name, INT64, row),
    ),
    outputs: [tensorInfo('logits', FLOAT, ['batch', heads.length])],
    constants: [
      floats(
        'weights',
        [TOKENS.length],
        TOKENS.map((token) => WEIGHTS[token] ?? 0),
      ),
      floats('one', [1], [1]),
      floats('heads', [1, heads.length], heads),
      integers('first', [1]),
      integers('second', [2]),
      integers('both', [1, 2]),
    ],
    nodes: [
      // Which token is the same as which.
      node('Unsqueeze', ['input_ids', 'second'], 'down'),
      node('Unsqueeze', ['input_ids', 'first'], 'across'),
      node('Equal', ['down', 'across'], 'isSame'),
      node('Cast', ['isSame'], 'same', { to: FLOAT }),
      // The weights of the question's tokens, and where the text is.
      node('Cast', ['token_type_ids'], 'inText', { to: FLOAT }),
      node('Sub', ['one', 'inText'], 'inQuestion'),
      node('Gather', ['weights', 'input_ids'], 'weight'),
      node('Mul', ['inQuestion', 'weight'], 'asked'),
      node('Unsqueeze', ['asked', 'second'], 'askedDown'),
      node('Unsqueeze', ['inText', 'first'], 'textAcross'),
      node('Mul', ['same', 'askedDown'], 'found'),
      node('Mul', ['found', 'textAcross'], 'foundInText'),
      node('ReduceSum', ['foundInText', 'both'], 'sum', { keepdims: 0 }),
      node('Unsqueeze', ['sum', 'first'], 'score'),
      node('Mul', ['score', 'heads'], 'logits'),
    ],
  })
}

/** `[CLS] question [SEP] text [SEP]`, the text being of another type. */
export function crossEncoderTokenizer(): Readonly<Record<string, unknown>> {
  const vocab = Object.fromEntries(TOKENS.map((token, index) => [token, index]))
  const mark = (id: string, type_id: number) => ({ SpecialToken: { id, type_id } })
  const texts = (id: string, type_id: number) => ({ Sequence: { id, type_id } })
  const single = [mark('[CLS]', 0), texts('A', 0), mark('[SEP]', 0)]
  return {
    version: '1.0',
    added_tokens: [],
    normalizer: { type: 'BertNormalizer', clean_text: true, lowercase: true, strip_accents: null },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: {
      type: 'TemplateProcessing',
      single,
      pair: [...single, texts('B', 1), mark('[SEP]', 1)],
      special_tokens: Object.fromEntries(
        ['[CLS]', '[SEP]'].map((token) => [
          token,
          { id: token, ids: [vocab[token]], tokens: [token] },
        ]),
      ),
    },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab,
    },
  }
}
