/** Structured completions with one repair attempt for an unusable answer. */

import { AppError, toAppError } from '../../lib/errors.ts'
import type { LanguageModel } from '../../models/language-model.ts'
import { buildRepairPrompt, type PromptMessage } from '../distillation/distillation-prompt.ts'

/** A language model client and the model name to request. */
export type NamedModel = { readonly name: string; readonly languageModel: LanguageModel }

export type TokensUsed = { input: number; output: number }

const OUTPUT_TOKENS_MAX = 4_096

/** Two answers were unusable. The message does not quote them, because they may hold anything. */
export class InvalidAnswerError extends AppError {
  constructor(cause: AppError) {
    super('invalid_input', 'The model answered in an invalid form twice.', cause.facts)
  }
}

/** Adds the token usage to `spent`, also on failure. */
export async function completeStructured<Answer>(
  { name, languageModel }: NamedModel,
  messages: readonly PromptMessage[],
  parse: (text: string) => Answer,
  spent: TokensUsed,
  signal: AbortSignal,
): Promise<Answer> {
  const complete = async (prompt: readonly PromptMessage[]): Promise<string> => {
    const { text, tokens } = await languageModel.complete({
      model: name,
      messages: prompt,
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
    } catch (repairThrown) {
      throw new InvalidAnswerError(toAppError(repairThrown))
    }
  }
}
