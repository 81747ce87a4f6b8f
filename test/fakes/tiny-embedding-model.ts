/**
 * A real model of a few hundred bytes, whose vectors can be worked out by hand: the network looks up a row of a table
 * for each token, and the tokenizer knows a handful of words.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { FLOAT, floats, INT64, network, node, tensorInfo } from '../support/onnx.ts'

/** The row of each token. Words that are not here are [UNK]. */
export const TINY_ROWS = {
  '[PAD]': [0, 0, 0, 0],
  '[UNK]': [1, 1, 1, 1],
  '[CLS]': [0, 0, 0, 8],
  '[SEP]': [0, 0, 0, -4],
  red: [1, 0, 0, 0],
  green: [0, 1, 0, 0],
  blue: [0, 0, 1, 0],
} as const satisfies Readonly<Record<string, readonly number[]>>

export type TinyFiles = Readonly<Record<string, string | Uint8Array>>

/** Writes the model into a folder, with `more` files beside or instead of the usual ones. */
export function writeTinyModel(folder: string, more: TinyFiles = {}): void {
  for (const [file, content] of Object.entries({ ...tinyFiles(), ...more })) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), content)
  }
}

export function tinyFiles(): TinyFiles {
  return {
    'model.onnx': tinyNetwork(Object.values(TINY_ROWS)),
    'tokenizer.json': JSON.stringify(tinyTokenizer()),
    'tokenizer_config.json': JSON.stringify({ model_max_length: 64, unk_token: '[UNK]' }),
  }
}

/** The unit vector that the model should give, from the tokens it should see. */
export function tinyVector(...tokens: readonly (keyof typeof TINY_ROWS)[]): readonly number[] {
  const sums = [0, 1, 2, 3].map((column) =>
    tokens.reduce((sum, token) => sum + (TINY_ROWS[token][column] ?? 0), 0),
  )
  const length = Math.hypot(...sums)
  return sums.map((sum) => sum / length)
}

function tinyTokenizer(): object {
  const vocab = Object.fromEntries(Object.keys(TINY_ROWS).map((token, index) => [token, index]))
  const special = (id: string) => ({ SpecialToken: { id, type_id: 0 } })
  const frame = [special('[CLS]'), { Sequence: { id: 'A', type_id: 0 } }, special('[SEP]')]
  return {
    version: '1.0',
    added_tokens: [],
    normalizer: { type: 'BertNormalizer', clean_text: true, lowercase: true, strip_accents: null },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: {
      type: 'TemplateProcessing',
      single: frame,
      pair: frame,
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

/** A network with one node, which gathers rows of a table by `input_ids`. */
function tinyNetwork(rows: readonly (readonly number[])[]): Uint8Array {
  const columns = rows[0]?.length ?? 0
  return network({
    nodes: [node('Gather', ['table', 'input_ids'], 'last_hidden_state')],
    constants: [floats('table', [rows.length, columns], rows.flat())],
    inputs: [tensorInfo('input_ids', INT64, ['batch', 'tokens'])],
    outputs: [tensorInfo('last_hidden_state', FLOAT, ['batch', 'tokens', columns])],
  })
}
