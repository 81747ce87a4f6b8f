/** `recollect/ai-sdk` with the real package, in its current major version and the one before. */
import * as aiPrevious from 'ai'
import { MockLanguageModelV3, simulateReadableStream } from 'ai/test'
import { describe, expect, it } from 'vitest'
import { memoryTools, withMemory } from '../../src/integrations/ai-sdk.ts'
import { contentsOf, KINDS, openMemoryOf } from './integration-support.ts'

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}
const STOP = { unified: 'stop' as const, raw: 'stop' }

/** The current version names Node 22 as its minimum; where it does not load, it is not tried. */
const current = await Promise.all([import('ai-latest'), import('ai-latest/test')]).catch(() => null)

const FRAMEWORKS = [
  { name: 'AI SDK 6', ai: aiPrevious, Model: MockLanguageModelV3 },
  ...(current === null
    ? []
    : [{ name: 'AI SDK 7', ai: current[0], Model: current[1].MockLanguageModelV4 }]),
] as unknown as readonly {
  readonly name: string
  readonly ai: typeof aiPrevious
  readonly Model: typeof MockLanguageModelV3
}[] // the same functions in both versions

/** Answers with a text, or calls a tool first. */
function createModel(Model: typeof MockLanguageModelV3, ...answers: readonly (string | object)[]) {
  let count = 0
  const next = () => answers[Math.min(count++, answers.length - 1)] ?? ''
  const contentOf = (answer: string | object) =>
    typeof answer === 'string'
      ? [{ type: 'text' as const, text: answer }]
      : [{ type: 'tool-call' as const, toolCallId: `call${count}`, ...answer }]
  return new Model({
    doGenerate: async () => {
      const answer = next()
      const finishReason =
        typeof answer === 'string' ? STOP : { unified: 'tool-calls' as const, raw: 'tool_calls' }
      return { content: contentOf(answer) as never, finishReason, usage: USAGE, warnings: [] }
    },
    doStream: async () => {
      const text = String(next())
      return {
        stream: simulateReadableStream({
          chunks: [
            { type: 'stream-start' as const, warnings: [] },
            { type: 'text-start' as const, id: '1' },
            ...[...text].map((delta) => ({ type: 'text-delta' as const, id: '1', delta })),
            { type: 'text-end' as const, id: '1' },
            { type: 'finish' as const, finishReason: STOP, usage: USAGE },
          ],
        }),
      }
    },
  })
}

const lastUserText = (calls: readonly { readonly prompt: readonly unknown[] }[]) =>
  JSON.stringify(
    calls
      .at(-1)
      ?.prompt.filter((message) => Object(message).role === 'user')
      .at(-1),
  )

describe.each(FRAMEWORKS)('$name', ({ ai, Model }) => {
  describe.each(KINDS)('with %s', (kind) => {
    it('[IG1.1] [IG1.2] adds what is relevant to the last user message, and records the conversation', async () => {
      const { engine, memory } = await openMemoryOf(kind)
      await engine.remember(
        { owner: 'default', user: 'ada' },
        { content: 'I prefer jasmine tea over coffee.' },
      )
      const model = createModel(Model, 'Jasmine tea, of course.')
      const recordings: Promise<void>[] = []
      const remembering = withMemory(model, {
        ...{ memory, user: 'ada', session: 'monday' },
        waitUntil: (recording) => recordings.push(recording),
      })
      const { text } = await ai.generateText({
        model: remembering,
        messages: [
          { role: 'user', content: 'Hello, I live in Lisbon.' },
          { role: 'assistant', content: 'Hello Ada.' },
          { role: 'user', content: 'Which tea do I prefer?' },
        ],
      })
      expect(text).toBe('Jasmine tea, of course.')
      expect(lastUserText(model.doGenerateCalls)).toContain('I prefer jasmine tea')
      expect(JSON.stringify(model.doGenerateCalls[0]?.prompt[0])).not.toContain('recollect-memory')
      await Promise.all(recordings)
      expect(recordings).toHaveLength(1)
      const session = { owner: 'default', user: 'ada' }
      const { rows } = await engine.conversations.turns.list({ ...session, session: 'monday' })
      expect(rows.map(({ content }) => content)).toEqual(
        expect.arrayContaining(['Hello, I live in Lisbon.', 'Jasmine tea, of course.']),
      )
      expect(JSON.stringify(rows)).not.toContain('recollect-memory')
    })

    it('[IG1.1] [IG1.2] streams the answer unchanged', async () => {
      const { engine, memory } = await openMemoryOf(kind)
      const user = { owner: 'default', user: 'ada' }
      await engine.remember(user, { content: 'I prefer jasmine tea over coffee.' })
      const model = createModel(Model, 'Jasmine.')
      const recordings: Promise<void>[] = []
      const result = ai.streamText({
        model: withMemory(model, {
          ...{ memory, user: 'ada', session: 'tuesday' },
          waitUntil: (recording) => recordings.push(recording),
        }),
        prompt: 'Which tea do I prefer?',
      })
      let text = ''
      for await (const delta of result.textStream) text += delta
      expect(text).toBe('Jasmine.')
      expect(lastUserText(model.doStreamCalls)).toContain('I prefer jasmine tea')
      await Promise.all(recordings)
      const { rows } = await engine.conversations.turns.list({ ...user, session: 'tuesday' })
      expect(rows.map(({ content }) => content)).toContain('Jasmine.')
    })

    it('[IG1.3] offers tools that an agent uses in its loop', async () => {
      const { engine, memory } = await openMemoryOf(kind)
      const call = (toolName: string, input: object) => ({ toolName, input: JSON.stringify(input) })
      const model = createModel(
        Model,
        call('memory_save', { content: 'The spare key hangs behind the blue door.' }),
        call('memory_search', { query: 'spare key' }),
        'Behind the blue door.',
      )
      const agent = new ai.ToolLoopAgent({ model, tools: memoryTools({ memory, user: 'ada' }) })
      const { text, steps } = await agent.generate({ prompt: 'Where is the spare key?' })
      expect(text).toBe('Behind the blue door.')
      expect(steps).toHaveLength(3)
      expect(await contentsOf(engine, 'ada')).toEqual(['The spare key hangs behind the blue door.'])
      expect(JSON.stringify(model.doGenerateCalls[2]?.prompt)).toContain('blue door')
    })
  })

  it('[IG1.4] calls the model without memory when memory fails', async () => {
    const { engine, memory } = await openMemoryOf('an engine')
    await engine.close()
    const errors: unknown[] = []
    const model = createModel(Model, 'Hello.')
    const { text } = await ai.generateText({
      model: withMemory(model, { memory, onError: (error) => errors.push(error) }),
      prompt: 'Which tea do I prefer?',
    })
    expect(text).toBe('Hello.')
    expect(errors.length).toBeGreaterThan(0)
  })
})
