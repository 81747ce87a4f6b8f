/** An agent on the OpenAI Agents SDK whose sessions live in Recollect. */
import { Agent, Runner, setTracingDisabled, Usage } from '@openai/agents-core'
import { createEngine } from 'recollect'
import { memoryTools, RecollectSession, recallContext } from 'recollect/openai-agents'

const [id, ...words] = process.argv.slice(2)
const message = words.join(' ')
if (message === '') {
  process.stderr.write('Usage: node agent.mjs <session> <message>\n')
  process.exit(2)
}

// The SDK would send traces to OpenAI.
setTracingDisabled(true)

/** Stands in for a model, so that the example needs no key: it quotes its instructions. */
const quotingModel = {
  getResponse: async ({ systemInstructions = '' }) => {
    const facts = systemInstructions.split('\n').filter((line) => line.startsWith('- '))
    const text = facts.length === 0 ? 'Noted.' : `I remember:\n${facts.join('\n')}`
    const content = [{ type: 'output_text', text }]
    return {
      usage: new Usage(),
      output: [{ type: 'message', role: 'assistant', status: 'completed', content }],
    }
  },
}

const memory = await createEngine({ path: process.env.DATABASE ?? 'memory.db' })
const scope = { memory, user: 'ada' }
const agent = new Agent({
  name: 'assistant',
  instructions: `Answer briefly.\n${await recallContext(scope, message)}`,
  model: quotingModel,
  tools: memoryTools(scope),
})
const session = new RecollectSession({ ...scope, session: id })
const { finalOutput } = await new Runner().run(agent, message, { session })
process.stdout.write(`${finalOutput}\n`)
await memory.close()
