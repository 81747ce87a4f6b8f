/** A model that says what it is told to say. */
import type {
  Completion,
  CompletionRequest,
  LanguageModel,
} from '../../src/models/language-model.ts'

/** Text, something to be written as JSON, an error, or what is to be done when it is asked. */
export type ScriptedAnswer = string | object | Error | (() => Promise<string | object>)

export class ScriptedModel implements LanguageModel {
  readonly requests: CompletionRequest[] = []
  readonly #answers: ScriptedAnswer[]

  /** The last answer is given again and again. */
  constructor(...answers: ScriptedAnswer[]) {
    this.#answers = answers
  }

  async complete(request: CompletionRequest): Promise<Completion> {
    this.requests.push(request)
    request.signal.throwIfAborted()
    const answer = this.#answers.length > 1 ? this.#answers.shift() : this.#answers[0]
    if (answer === undefined) throw new Error('The script is at its end.')
    if (answer instanceof Error) throw answer
    const said = typeof answer === 'function' ? await answer() : answer
    const text = typeof said === 'string' ? said : JSON.stringify(said)
    return { text, isTruncated: false, tokens: { input: 100, output: 10 } }
  }

  /** What it was asked the last time, in one text. */
  get lastPrompt(): string {
    return this.prompts.at(-1) ?? ''
  }

  get prompts(): readonly string[] {
    return this.requests.map(({ messages }) => messages.map(({ content }) => content).join('\n'))
  }
}
