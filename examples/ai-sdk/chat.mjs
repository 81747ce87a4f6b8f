/** A chat on the Vercel AI SDK that remembers earlier sessions: one wrapper around the model. */
import { createOpenAI } from '@ai-sdk/openai'
import { generateText } from 'ai'
import { createEngine } from 'recollect'
import { withMemory } from 'recollect/ai-sdk'

const { OPENAI_BASE_URL: baseURL, OPENAI_API_KEY: apiKey, MODEL = 'gpt-6-luna' } = process.env
const [session, ...words] = process.argv.slice(2)
if (!apiKey || words.length === 0) {
  process.stderr.write('Usage: OPENAI_API_KEY=sk-… node chat.mjs <session> <message>\n')
  process.exit(2)
}

const memory = await createEngine({ path: process.env.DATABASE ?? 'memory.db' })
const recordings = []
const model = withMemory(createOpenAI({ baseURL, apiKey }).chat(MODEL), {
  ...{ memory, user: 'ada', session },
  waitUntil: (recording) => recordings.push(recording),
})
const { text } = await generateText({ model, prompt: words.join(' ') })
process.stdout.write(`${text}\n`)
// The process ends here; a server would go on.
await Promise.all(recordings)
await memory.close()
