/** WordPiece tokenizer, as in BERT. */
import { Tokenizer } from '@huggingface/tokenizers'

const UNKNOWN = '[UNK]'
/** Longer words are noise. */
const WORD_CHARACTERS_MAX = 100

export type WordPieceTokenizer = (text: string) => readonly number[]

/**
 * Piece ids are positions in the vocabulary. Names of special tokens in a text are ordinary text, so texts cannot inject
 * special tokens.
 */
export function createWordPieceTokenizer(vocabulary: readonly string[]): WordPieceTokenizer {
  const tokenizer = new Tokenizer(
    {
      version: '1.0',
      added_tokens: [],
      normalizer: {
        type: 'BertNormalizer',
        clean_text: true,
        handle_chinese_chars: true,
        strip_accents: null,
        lowercase: true,
      },
      pre_tokenizer: { type: 'BertPreTokenizer' },
      model: {
        type: 'WordPiece',
        unk_token: UNKNOWN,
        continuing_subword_prefix: '##',
        max_input_chars_per_word: WORD_CHARACTERS_MAX,
        vocab: Object.fromEntries(vocabulary.map((piece, place) => [piece, place])),
      },
      post_processor: null,
      decoder: null,
    },
    {},
  )
  return (text) => tokenizer.encode(text, { add_special_tokens: false }).ids
}

/** Texts with unknown characters need it. */
export function isUsableVocabulary(pieces: readonly string[]): boolean {
  return pieces.includes(UNKNOWN) && new Set(pieces).size === pieces.length
}
