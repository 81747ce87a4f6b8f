/** `recollect/openai-agents` with the real package. */
import {
  Agent,
  type AgentInputItem,
  type Model,
  type ModelRequest,
  type ModelResponse,
  Runner,
  setTracingDisabled,
  Usage,
} from '@openai/agents-core'
import { describe, expect, it } from 'vitest'
import {
  memoryTools,
  RecollectSession,
  recallContext,
} from '../../src/integrations/openai-agents.ts'
import { contentsOf, KINDS, openMemoryOf } from './integration-support.ts'

setTracingDisabled(true)

/** Answers from a script and keeps what it was asked. */
class ScriptedAgentModel implements Model {
  readonly requests: ModelRequest[] = []
  readonly #outputs: ModelResponse['output'][]

  constructor(...outputs: ModelResponse['output'][]) {
    this.#outputs = outputs
  }

  async getResponse(request: ModelRequest): Promise<ModelResponse> {
    this.requests.push({ ...request, input: structuredClone(request.input) })
    return { usage: new Usage(), output: this.#outputs.shift() ?? [] }
  }

  async *getStreamedResponse(): AsyncGenerator<never> {}
}

const say = (text: string): ModelResponse['output'] => [
  {
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text }],
  },
]
const call = (name: string, args: object): ModelResponse['output'] => [
  {
    ...{ type: 'function_call', callId: `call_${name}`, name, status: 'completed' },
    arguments: JSON.stringify(args),
  },
]

describe.each(KINDS)('with %s', (kind) => {
  it('[IG3.1] a session carries a conversation from run to run, exactly', async () => {
    const { memory } = await openMemoryOf(kind)
    const open = () => new RecollectSession({ memory, user: 'ada', session: 'monday' })
    const model = new ScriptedAgentModel(say('Noted.'), say('Sage green.'))
    const agent = new Agent({ name: 'painter', instructions: 'Be brief.', model })
    const runner = new Runner()
    await runner.run(agent, 'We painted the kitchen sage green.', { session: open() })
    const second = await runner.run(agent, 'Which color?', { session: open() })
    expect(second.finalOutput).toBe('Sage green.')
    expect(JSON.stringify(model.requests[1]?.input)).toContain('We painted the kitchen sage green.')
    const items = await open().getItems()
    expect(items).toHaveLength(4)
    expect(await open().getItems(1)).toEqual(items.slice(-1))
    expect(await open().popItem()).toEqual(items.at(-1))
    expect(await open().getItems()).toEqual(items.slice(0, -1))
    await open().clearSession()
    expect(await open().getItems()).toEqual([])
    expect(await open().getSessionId()).toBe('monday')
  })

  it('[IG3.1] keeps equal items, tool calls and their order', async () => {
    const { memory } = await openMemoryOf(kind)
    const session = new RecollectSession({ memory, session: 's' })
    const items: AgentInputItem[] = [
      { role: 'user', content: 'ok' },
      ...(call('look', { room: 'kitchen' }) as AgentInputItem[]), // outputs are inputs of the next call
      { role: 'user', content: 'ok' },
      { role: 'user', content: 'ok' },
    ]
    await session.addItems(items)
    expect(await session.getItems()).toEqual(items)
  })

  it('[IG3.2] what was said is recalled in other sessions', async () => {
    const { memory } = await openMemoryOf(kind)
    const monday = new RecollectSession({ memory, user: 'ada', session: 'monday' })
    await monday.addItems([{ role: 'user', content: 'We painted the kitchen sage green.' }])
    const context = await recallContext({ memory, user: 'ada' }, 'Which color is the kitchen?')
    expect(context).toContain('sage green')
    expect(await recallContext({ memory, user: 'ben' }, 'Which color is the kitchen?')).toBe('')
  })

  it('[IG3.3] an agent saves, searches and forgets by tools', async () => {
    const { engine, memory } = await openMemoryOf(kind)
    const model = new ScriptedAgentModel(
      call('memory_save', { content: 'The spare key hangs behind the blue door.' }),
      call('memory_search', { query: 'spare key' }),
      say('Behind the blue door.'),
    )
    const agent = new Agent({ name: 'keeper', model, tools: memoryTools({ memory, user: 'ada' }) })
    const { finalOutput } = await new Runner().run(agent, 'Where is the spare key?')
    expect(finalOutput).toBe('Behind the blue door.')
    expect(await contentsOf(engine, 'ada')).toEqual(['The spare key hangs behind the blue door.'])
    expect(JSON.stringify(model.requests[2]?.input)).toContain('blue door')
    const [row] = (await engine.list({ owner: 'default', user: 'ada' })).rows
    const forgetting = new ScriptedAgentModel(call('memory_forget', { id: row?.id }), say('Done.'))
    const forgetter = new Agent({
      ...{ name: 'keeper', model: forgetting },
      tools: memoryTools({ memory, user: 'ada' }),
    })
    await new Runner().run(forgetter, 'Forget it.')
    expect(await contentsOf(engine, 'ada')).toEqual([])
  })
})
