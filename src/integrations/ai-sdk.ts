/**
 * Memory for the Vercel AI SDK: a wrapper for language models, and tools. It imports nothing of the SDK and works with
 * models of specification 2, 3 and 4 (AI SDK 5, 6 and 7).
 */
import type { z } from 'zod'
import { groupExchanges, readText } from './exchanges.ts'
import { type MemoryScope, openMemory } from './memory-access.ts'
import { createMemoryTools, type MemoryTool } from './memory-tool-set.ts'

export type { Memory, MemoryScope } from './memory-access.ts'

export type WithMemoryOptions = MemoryScope & {
  /** Whether relevant memories are added to the last user message. Default: true. */
  readonly inject?: boolean
  /**
   * Whether the conversation is recorded and learned from. Needs `session` for whole conversations; without it, patterns
   * learn from the last user message. Default: true.
   */
  readonly record?: boolean
  /** Receives the recording, which runs in the background: `waitUntil` of a serverless platform, for example. */
  readonly waitUntil?: (recording: Promise<void>) => void
  /** Called when memory fails. The model is called without it. */
  readonly onError?: (error: unknown) => void
}

/** The part of a language model that is wrapped, whatever the version of its specification. */
type LanguageModelLike = {
  readonly specificationVersion: string
  doGenerate(options: never): PromiseLike<object>
  doStream(options: never): PromiseLike<object>
}

type Message = { readonly role: string; readonly content: unknown }
type CallOptions = { readonly prompt: readonly Message[] }

/**
 * The same model with a memory: adds what is relevant to the last user message, and records the conversation.
 *
 * @example
 * import type { LanguageModel } from 'ai'
 * import { createEngine } from 'recollect'
 * import { withMemory } from 'recollect/ai-sdk'
 *
 * declare const model: Exclude<LanguageModel, string>
 * const memory = await createEngine({ path: 'memory.db' })
 * const remembering = withMemory(model, { memory, user: 'ada', session: 'monday' })
 */
export function withMemory<Model extends LanguageModelLike>(
  model: Model,
  options: WithMemoryOptions,
): Model {
  const { inject = true, record = true, waitUntil, onError = () => {} } = options
  const access = openMemory(options)
  // The steps of a tool loop get the same block, so that prompt caches stay valid.
  let last = { text: '', block: '' }
  const addContext = async <Options extends CallOptions>(call: Options): Promise<Options> => {
    const index = call.prompt.findLastIndex(({ role }) => role === 'user')
    const text = readText(call.prompt[index]?.content)
    if (!inject || text === '') return call
    try {
      if (last.text !== text) last = { text, block: await access.buildContext(text) }
      return last.block === ''
        ? call
        : { ...call, prompt: insertBlock(call.prompt, index, last.block) }
    } catch (error) {
      onError(error)
      return call
    }
  }
  const remember = (prompt: readonly Message[], answer: string): void => {
    // The step of a tool loop that only calls tools is not the end of an exchange.
    if (!record || answer === '') return
    const said = prompt.map(({ role, content }) => ({ role, text: readText(content) }))
    const exchanges = groupExchanges([...said, { role: 'assistant', text: answer }])
    const text = exchanges.at(-1)?.user ?? ''
    if (text === '') return
    const work =
      options.session === undefined ? access.learn(text) : access.ingest(options.session, exchanges)
    const recording = work.catch(onError)
    waitUntil?.(recording)
  }
  const generate = async (call: CallOptions): Promise<object> => {
    const result = await model.doGenerate((await addContext(call)) as never) // the call of its specification
    remember(call.prompt, readText(Object(result).content))
    return result
  }
  const stream = async (call: CallOptions): Promise<object> => {
    const result = await model.doStream((await addContext(call)) as never) // the call of its specification
    const { stream: parts } = result as { readonly stream: ReadableStream<StreamPart> } // in every specification
    let answer = ''
    const observed = parts.pipeThrough(
      new TransformStream<StreamPart, StreamPart>({
        transform(part, controller) {
          if (part.type === 'text-delta') answer += part.delta ?? ''
          controller.enqueue(part)
        },
        flush: () => remember(call.prompt, answer),
      }),
    )
    return { ...result, stream: observed }
  }
  return new Proxy(model, {
    get(target, name) {
      if (name === 'doGenerate') return generate
      if (name === 'doStream') return stream
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

type StreamPart = { readonly type: string; readonly delta?: string }

/** A tool as the AI SDK takes it. */
export type AiSdkTool<Input extends z.ZodObject> = {
  readonly description: string
  readonly inputSchema: Input
  execute(input: z.output<Input>): Promise<object>
}

/**
 * Tools by which a model searches, saves and forgets memories.
 *
 * @example
 * import { createEngine } from 'recollect'
 * import { memoryTools } from 'recollect/ai-sdk'
 *
 * const memory = await createEngine({ path: 'memory.db' })
 * const tools = memoryTools({ memory, user: 'ada' })
 */
export function memoryTools(scope: MemoryScope) {
  const tools = createMemoryTools(scope)
  return {
    memory_search: toAiSdkTool(tools.memory_search),
    memory_save: toAiSdkTool(tools.memory_save),
    memory_forget: toAiSdkTool(tools.memory_forget),
  }
}

function toAiSdkTool<Input extends z.ZodObject>(tool: MemoryTool<Input>): AiSdkTool<Input> {
  const { description, input, run } = tool
  return { description, inputSchema: input, execute: run }
}

/** After the words of the user, so that everything before them stays cached. */
function insertBlock(prompt: readonly Message[], index: number, block: string): readonly Message[] {
  return prompt.map((message, at) => {
    if (at !== index) return message
    const content = Array.isArray(message.content) ? message.content : []
    return { ...message, content: [...content, { type: 'text', text: `\n\n${block}` }] }
  })
}
