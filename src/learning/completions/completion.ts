/** One question to a model, with one attempt to repair an answer that can't be used. */

import { AppError, toAppError } from '../../lib/errors.ts'
import type { LanguageModel } from '../../models/language-model.ts'
import { buildRepairPrompt, type PromptMessage } from '../distillation/distillation-prompt.ts'

/** A model, and the name that it is asked by. */
export type NamedModel = { readonly name: string; readonly languageModel: LanguageModel }

export type TokensUsed = { input: number; output: number }

/** More than any answer in the form that is asked for. */
const OUTPUT_TOKENS_MAX = 4_096

/** The answer of a model could not be used, twice. Its own words are not repeated: they may quote anything. */
export class InvalidAnswerError extends AppError {
  constructor(cause: AppError) {
    super(
      'invalid_input',
      'The model did not answer in the form that it was asked for.',
      cause.facts,
    )
  }
}

/** Adds what it took to `spent`, also when it fails. */
export async function completeStructured<Answer>(
  { name, languageModel }: NamedModel,
  messages: readonly PromptMessage[],
  parse: (text: string) => Answer,
  spent: TokensUsed,
  signal: AbortSignal,
): Promise<Answer> {
  const complete = async (asked: readonly PromptMessage[]): Promise<string> => {
    const { text, tokens } = await languageModel.complete({
      model: name,
      messages: asked,
      json: true,
      outputTokensMax: OUTPUT_TOKENS_MAX,
      signal,
    })
    spent.input += tokens.input
    spent.output += tokens.output
    return text
  }
  const text = await complete(messages)
  try {
    return parse(text)
  } catch (thrown) {
    const fault = toAppError(thrown)
    const again = await complete([...messages, ...buildRepairPrompt(text, [fault.message])])
    try {
      return parse(again)
    } catch (stillThrown) {
      throw new InvalidAnswerError(toAppError(stillThrown))
    }
  }
}
