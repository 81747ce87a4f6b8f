/**
 * Conversations of some turns, each request with the whole history, as clients send it. Questions are about existing
 * memories, and none repeats, so that no embedding cache answers them.
 */
import { ANSWER } from './script.ts'
import { Statements } from './statements.ts'

const TURNS = 5
const SYSTEM = 'Answer in short, friendly sentences, and say so when you do not know. '.repeat(14)

type Message = { readonly role: string; readonly content: string }

export class Conversations {
  readonly #model: string
  readonly #lanes: Message[][]
  readonly #statements: Statements
  #requests = 0
  #questions = 0

  /**
   * As many conversations as there are lanes alternate. With more of them than connections, a turn is sent only
   * after the one before was answered.
   */
  constructor({ model, lanes, seed }: { model: string; lanes: number; seed: number }) {
    this.#model = model
    this.#lanes = Array.from({ length: lanes }, () => [])
    this.#statements = new Statements(seed)
  }

  question(): string {
    return `${this.#statements.next().question} This is question ${this.#questions++} of today.`
  }

  /** The body of the next request. */
  next(streams: boolean): string {
    const lane = this.#requests++ % this.#lanes.length
    const before = this.#lanes[lane] ?? []
    const history = before.length < TURNS * 2 ? before : []
    const messages = [...history, { role: 'user', content: this.question() }]
    this.#lanes[lane] = [...messages, { role: 'assistant', content: ANSWER }]
    return JSON.stringify({
      model: this.#model,
      messages: [{ role: 'system', content: SYSTEM }, ...messages],
      temperature: 0.2,
      ...(streams ? { stream: true } : {}),
    })
  }
}
