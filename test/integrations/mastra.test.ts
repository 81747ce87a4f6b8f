/** `recollect/mastra` with the real package, where it can be installed. */
import { MockLanguageModelV3, simulateReadableStream } from 'ai/test'
import { describe, expect, it } from 'vitest'
import { memoryProcessor } from '../../src/integrations/mastra.ts'
import { importPart, installPart } from '../support/part.ts'
import { KINDS, openMemoryOf } from './integration-support.ts'

const missing = await installPart('clients', '@mastra/core')

type Ask = (
  message: string,
  options?: object,
) => Promise<{ readonly text: string | PromiseLike<string> }>
/** What the tests use of the package. */
type Agent = { readonly generate: Ask; readonly stream: Ask }

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}
const STOP = { unified: 'stop' as const, raw: 'stop' }

function createModel(text: string) {
  return new MockLanguageModelV3({
    doGenerate: async () => ({
      ...{ content: [{ type: 'text' as const, text }], finishReason: STOP, usage: USAGE },
      warnings: [],
    }),
    doStream: async () => ({
      stream: simulateReadableStream({
        chunks: [
          { type: 'stream-start' as const, warnings: [] },
          { type: 'text-start' as const, id: '1' },
          { type: 'text-delta' as const, id: '1', delta: text },
          { type: 'text-end' as const, id: '1' },
          { type: 'finish' as const, finishReason: STOP, usage: USAGE },
        ],
      }),
    }),
  })
}

async function createAgent(
  model: MockLanguageModelV3,
  processor: ReturnType<typeof memoryProcessor>,
): Promise<Agent> {
  const { Agent } = await importPart<{ readonly Agent: new (options: object) => Agent }>(
    'clients',
    '@mastra/core/agent',
  )
  return new Agent({
    ...{ id: 'painter', name: 'painter', instructions: 'Be brief.', model },
    ...{ inputProcessors: [processor], outputProcessors: [processor] },
  })
}

const promptsOf = ({ doGenerateCalls, doStreamCalls }: MockLanguageModelV3) =>
  [...doGenerateCalls, ...doStreamCalls].map(({ prompt }) => JSON.stringify(prompt))

describe.skipIf(missing !== null)(`@mastra/core${missing === null ? '' : `: ${missing}`}`, () => {
  describe.each(KINDS)('with %s', (kind) => {
    it.each(['generate', 'stream'] as const)(
      '[IG5.1] [IG5.2] an agent remembers across threads of a user: %s',
      async (way) => {
        const { memory, engine } = await openMemoryOf(kind)
        const model = createModel('Noted.')
        const agent = await createAgent(model, memoryProcessor({ memory }))
        const ask = async (message: string, resource: string, thread: string) => {
          const answer = await agent[way](message, { memory: { resource, thread } })
          return await answer.text
        }
        expect(await ask('We painted the kitchen sage green.', 'ada', 'monday')).toBe('Noted.')
        await ask('It took two days.', 'ada', 'monday')
        await ask('Which color is the kitchen?', 'ada', 'tuesday')
        await ask('Which color is the kitchen?', 'bob', 'friday')
        const prompts = promptsOf(model)
        expect(prompts[0]).not.toContain('recollect-memory')
        expect(prompts[2]).toContain('sage green')
        expect(prompts[3]).not.toContain('sage green')
        const scope = { owner: 'default', user: 'ada', session: 'monday' }
        const { rows } = await engine.conversations.turns.list(scope)
        expect(rows.map(({ role, content }) => [role, content])).toEqual([
          ['user', 'We painted the kitchen sage green.'],
          ['assistant', 'Noted.'],
          ['user', 'It took two days.'],
          ['assistant', 'Noted.'],
        ])
      },
    )
  })

  it('[IG5.3] runs without memory when memory fails', async () => {
    const { memory, engine } = await openMemoryOf('an engine')
    await engine.close()
    const failures: unknown[] = []
    const processor = memoryProcessor({
      memory,
      user: 'ada',
      onError: (each) => failures.push(each),
    })
    const agent = await createAgent(createModel('Hello.'), processor)
    expect(await (await agent.generate('Which color is the kitchen?')).text).toBe('Hello.')
    expect(failures.length).toBeGreaterThan(0)
  })
})
