/**
 * Encodes question and text as one token sequence with the special tokens that the model was trained with, such as `[CLS]
 * question [SEP] text [SEP]`.
 */
import type { Tokenizer } from '@huggingface/tokenizers'
import { AppError } from '../../lib/errors.ts'
import type { OnnxInput } from '../runtime/onnx-runtime.ts'
import type { TextPair } from './reranker-worker-protocol.ts'

type TokenPart =
  | { readonly kind: 'mark'; readonly type: number; readonly id: number }
  | { readonly kind: 'question' | 'text'; readonly type: number }

/** Declared here because the package leaves the type open. */
type EncodedPair = {
  readonly tokens: readonly string[]
  readonly token_type_ids?: readonly number[]
}

export type PairEncoderOptions = {
  readonly tokensMax: number
  /** Number of token types of the model. */
  readonly types: number
}

/** Placeholders that no text contains. */
const QUESTION = '\0question'
const TEXT = '\0text'

export function createPairEncoder(
  tokenizer: Tokenizer,
  { tokensMax, types }: PairEncoderOptions,
): (pair: TextPair) => Required<OnnxInput> {
  const frame = findFrame(tokenizer)
  const tokensOf = (text: string): readonly number[] =>
    tokenizer.encode(text, { add_special_tokens: false }).ids
  const room = tokensMax - frame.filter(({ kind }) => kind === 'mark').length

  return (pair) => {
    const cut = truncateToFit(tokensOf(pair.question), tokensOf(pair.text), room)
    const rows = frame.map((part) => ({
      type: Math.min(part.type, types - 1),
      ids: part.kind === 'mark' ? [part.id] : cut[part.kind],
    }))
    return {
      ids: rows.flatMap(({ ids }) => ids),
      types: rows.flatMap(({ ids, type }) => ids.map(() => type)),
    }
  }
}

/** Truncates the longer one first, so that a short question is always read whole. */
function truncateToFit(question: readonly number[], text: readonly number[], room: number) {
  const ofQuestion = Math.min(question.length, Math.max(Math.floor(room / 2), room - text.length))
  return { question: question.slice(0, ofQuestion), text: text.slice(0, room - ofQuestion) }
}

/** Derives the template by encoding two placeholder tokens. */
function findFrame(tokenizer: Tokenizer): readonly TokenPart[] {
  const framed: EncodedPair | undefined = tokenizer.post_processor?.post_process([QUESTION], [TEXT])
  const tokens = framed?.tokens ?? []
  if (!tokens.includes(QUESTION) || !tokens.includes(TEXT)) {
    throw new AppError(
      'invalid_input',
      'The model can’t rerank: its tokenizer has no template for text pairs.',
    )
  }
  return tokens.map((token, index) =>
    partOf(tokenizer, token, framed?.token_type_ids?.[index] ?? 0),
  )
}

function partOf(tokenizer: Tokenizer, token: string, type: number): TokenPart {
  if (token === QUESTION) return { kind: 'question', type }
  if (token === TEXT) return { kind: 'text', type }
  const id = tokenizer.token_to_id(token)
  if (id !== undefined) return { kind: 'mark', type, id }
  throw new AppError('invalid_input', `The tokenizer of the model has no id for ${token}.`)
}
