/** What the upstream answers, always the same: as one text, and as the events of a stream, as OpenAI writes them. */
import { Texts } from '../texts.ts'

const CHUNKS = 50
const HEAD = { id: 'chatcmpl-bench', created: 1_767_225_600, model: 'gpt-test' }
const USAGE = { prompt_tokens: 400, completion_tokens: CHUNKS, total_tokens: 400 + CHUNKS }

const words = answerWords()

export const ANSWER = words.join('')

export const WHOLE = Buffer.from(
  JSON.stringify({
    ...HEAD,
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: ANSWER }, finish_reason: 'stop' }],
    usage: USAGE,
  }),
)

export const LAST_EVENT = 'data: [DONE]\n\n'

/** Written one by one: the first says who speaks, then a word each, then why it ended. */
export const EVENTS: readonly Buffer[] = [
  event({ role: 'assistant', content: '' }, null),
  ...words.map((word) => event({ content: word }, null)),
  event({}, 'stop'),
  Buffer.from(LAST_EVENT),
]

function event(delta: object, reason: string | null): Buffer {
  const choices = [{ index: 0, delta, finish_reason: reason }]
  const chunk = { ...HEAD, object: 'chat.completion.chunk', choices }
  return Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`)
}

function answerWords(): readonly string[] {
  const texts = new Texts(41)
  const all: string[] = []
  while (all.length < CHUNKS) all.push(...texts.next().split(' '))
  return all.slice(0, CHUNKS).map((word, index) => (index === 0 ? word : ` ${word}`))
}
