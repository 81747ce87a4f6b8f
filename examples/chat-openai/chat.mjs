/** A chat app on the OpenAI SDK. The gateway adds memory: the program sends only the messages of this session. */
import { randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline'
import OpenAI from 'openai'

const {
  RECOLLECT_URL = 'http://127.0.0.1:20128',
  RECOLLECT_API_KEY,
  MODEL = 'demo/echo',
} = process.env
if (!RECOLLECT_API_KEY) {
  process.stderr.write('RECOLLECT_API_KEY must be set: recollect keys create chat --role agent\n')
  process.exit(2)
}

const client = new OpenAI({
  baseURL: `${RECOLLECT_URL}/v1`,
  apiKey: RECOLLECT_API_KEY,
  // Names the conversation, so that Recollect keeps its turns together.
  defaultHeaders: { 'x-recollect-session': process.argv[2] ?? randomUUID() },
})

const messages = []
const lines = createInterface({ input: process.stdin, output: process.stdout, prompt: 'you> ' })
lines.prompt()
for await (const line of lines) {
  if (line.trim() !== '') await answer(line.trim())
  lines.prompt()
}

async function answer(question) {
  messages.push({ role: 'user', content: question })
  const stream = await client.chat.completions.create({ model: MODEL, messages, stream: true })
  let reply = ''
  for await (const chunk of stream) {
    const text = chunk.choices[0]?.delta.content ?? ''
    process.stdout.write(text)
    reply += text
  }
  process.stdout.write('\n')
  messages.push({ role: 'assistant', content: reply })
}
