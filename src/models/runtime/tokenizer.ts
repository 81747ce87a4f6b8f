import { Tokenizer } from '@huggingface/tokenizers'
import { AppError } from '../../lib/errors.ts'
import {
  createDamagedFileError,
  type ModelConfigJson,
  type ModelOrigin,
  TOKENIZER_FILE,
} from './model-files.ts'

export function openTokenizer(
  origin: ModelOrigin,
  tokenizer: ModelConfigJson,
  config: ModelConfigJson | undefined,
): Tokenizer {
  return withTokenizerErrors(origin, () => new Tokenizer(tokenizer, config ?? {}))
}

/** The package validates little: any exception becomes an error that names the file. */
export function withTokenizerErrors<Result>(origin: ModelOrigin, work: () => Result): Result {
  try {
    return work()
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown
    const why = thrown instanceof Error ? thrown.message : String(thrown)
    throw createDamagedFileError(origin, TOKENIZER_FILE, `could not be parsed (${why})`)
  }
}
