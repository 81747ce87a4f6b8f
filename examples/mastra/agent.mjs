/** A Mastra agent that remembers earlier threads: one processor on both sides of the model. */
import { createOpenAI } from '@ai-sdk/openai'
import { Agent } from '@mastra/core/agent'
import { createEngine } from 'recollect'
import { memoryProcessor } from 'recollect/mastra'

const { OPENAI_BASE_URL: baseURL, OPENAI_API_KEY: apiKey, MODEL = 'gpt-6-luna' } = process.env
const [thread, ...words] = process.argv.slice(2)
if (!apiKey || words.length === 0) {
  process.stderr.write('Usage: OPENAI_API_KEY=sk-… node agent.mjs <thread> <message>\n')
  process.exit(2)
}

const memory = await createEngine({ path: process.env.DATABASE ?? 'memory.db' })
const processor = memoryProcessor({ memory })
const agent = new Agent({
  id: 'painter',
  name: 'painter',
  instructions: 'Be brief.',
  model: createOpenAI({ baseURL, apiKey }).chat(MODEL),
  inputProcessors: [processor],
  outputProcessors: [processor],
})
// The resource is the user, the thread the conversation.
const { text } = await agent.generate(words.join(' '), { memory: { resource: 'ada', thread } })
process.stdout.write(`${text}\n`)
await memory.close()
