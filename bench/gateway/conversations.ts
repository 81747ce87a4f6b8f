/**
 * What is asked: conversations of some turns, each request with the whole history, as clients send it. Questions use the
 * words of memories that are there, and no question is asked twice, so that neither recall nor its cache has it easy.
 */
import { Texts } from '../texts.ts'
import { ANSWER } from './script.ts'

const TURNS = 5
const QUESTION_WORDS = 8
/** What the memories are made from as well. */
export const MEMORIES_SEED = 7
const SYSTEM = `You help the people of a small company with whatever comes up. ${new Texts(43).next()}. ${'Answer in short, friendly sentences, and say so when you do not know. '.repeat(12)}`

type Message = { readonly role: string; readonly content: string }

export class Conversations {
  readonly #model: string
  readonly #lanes: Message[][]
  readonly #wanted = new Texts(MEMORIES_SEED)
  readonly #words: Texts
  #asked = 0

  /**
   * As many conversations as there are lanes go on by turns. With more of them than connections, a turn is asked only
   * after the one before was answered.
   */
  constructor({ model, lanes, seed }: { model: string; lanes: number; seed: number }) {
    this.#model = model
    this.#lanes = Array.from({ length: lanes }, () => [])
    this.#words = new Texts(seed)
  }

  question(): string {
    return `What about ${this.#words.queryFor(this.#wanted.next(), QUESTION_WORDS)} ${this.#asked}?`
  }

  /** The body of the next request. */
  next(streams: boolean): string {
    const lane = this.#asked++ % this.#lanes.length
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
