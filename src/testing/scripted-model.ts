/** A language model for tests, which answers from a script. */
import type { Completion, CompletionRequest, LanguageModel } from '../models/language-model.ts'

/** Text, a value that is sent as JSON, an error that is thrown, or a function that returns text or a value. */
export type ScriptedAnswer = string | object | Error | (() => Promise<string | object>)

/**
 * Answers each request with the next of its answers, and repeats the last one.
 *
 * @example
 * import { ScriptedModel } from 'recollect/testing'
 *
 * const model = new ScriptedModel('first', { facts: [] }, new Error('overloaded'))
 */
export class ScriptedModel implements LanguageModel {
  readonly requests: CompletionRequest[] = []
  readonly #answers: ScriptedAnswer[]

  constructor(...answers: ScriptedAnswer[]) {
    this.#answers = answers
  }

  async complete(request: CompletionRequest): Promise<Completion> {
    this.requests.push(request)
    request.signal.throwIfAborted()
    const answer = this.#answers.length > 1 ? this.#answers.shift() : this.#answers[0]
    if (answer === undefined) throw new Error('The script needs at least one answer.')
    if (answer instanceof Error) throw answer
    const said = typeof answer === 'function' ? await answer() : answer
    const text = typeof said === 'string' ? said : JSON.stringify(said)
    return { text, isTruncated: false, tokens: { input: 100, output: 10 } }
  }

  /** The messages of the last request in one text. */
  get lastPrompt(): string {
    return this.prompts.at(-1) ?? ''
  }

  get prompts(): readonly string[] {
    return this.requests.map(({ messages }) => messages.map(({ content }) => content).join('\n'))
  }
}
