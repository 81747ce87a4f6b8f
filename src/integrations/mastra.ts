/**
 * Memory for Mastra: a processor of agents. It imports nothing of Mastra. The tools of `recollect/ai-sdk` work in its
 * agents as well.
 */
import { recordMessages } from './conversation-log.ts'
import { readText } from './exchanges.ts'
import { type MemoryScope, openMemory } from './memory-access.ts'

export type { Memory, MemoryScope } from './memory-access.ts'

/** `user` and `session` default to the resource and the thread of the run. */
export type MemoryProcessorOptions = MemoryScope & {
  /** Called when memory fails. The agent runs without it. */
  readonly onError?: (error: unknown) => void
}

/** The part of a message that is read, of any version. */
type Message = {
  readonly role: string
  readonly content: unknown
  readonly resourceId?: string | undefined
  readonly threadId?: string | undefined
}

type Run<SystemMessage> = {
  readonly messages: readonly Message[]
  readonly systemMessages?: readonly SystemMessage[]
  readonly state?: Record<string, unknown>
}

const SOURCE = 'mastra'

/**
 * A processor for `inputProcessors` and `outputProcessors` of an agent. As the first it adds what is relevant as a system
 * message, which Mastra stores nowhere; as the second it records what was said.
 *
 * @example
 * import { createEngine } from 'recollect'
 * import { memoryProcessor } from 'recollect/mastra'
 *
 * const memory = await createEngine({ path: 'memory.db' })
 * const processor = memoryProcessor({ memory })
 * const options = { inputProcessors: [processor], outputProcessors: [processor] }
 */
export function memoryProcessor(options: MemoryProcessorOptions) {
  const { onError = () => {} } = options
  return {
    id: 'recollect-memory' as const,
    name: 'Recollect memory',
    async processInput<Input extends Run<unknown>>({ messages, systemMessages = [] }: Input) {
      const last = messages.findLast(({ role }) => role === 'user')
      const text = readMessage(last)
      const unchanged = {
        messages: [...messages] as never,
        systemMessages: [...systemMessages] as never,
      } // as they were given
      if (text === '') return unchanged
      try {
        const block = await openMemory(scopeOf(options, messages)).buildContext(text)
        if (block === '') return unchanged
        const added = { role: 'system' as const, content: block }
        return { ...unchanged, systemMessages: [...systemMessages, added] as never } // of the same kind
      } catch (error) {
        onError(error)
        return unchanged
      }
    },
    async processOutputResult(run: {
      readonly messages: readonly Message[]
      readonly messageList: { readonly get: { readonly all: { db(): readonly Message[] } } }
    }) {
      const all = run.messageList.get.all.db()
      const scope = scopeOf(options, all)
      const { session } = scope
      // What came before the last message of the user was recorded by earlier runs.
      const said = all.slice(all.findLastIndex(({ role }) => role === 'user'))
      const exchange = said.map((message) => ({ role: message.role, text: readMessage(message) }))
      const question = exchange[0]?.role === 'user' ? exchange[0].text : ''
      try {
        if (question === '') return [...run.messages] as never
        if (session === undefined) await openMemory(scope).learn(question)
        else await recordMessages({ ...scope, session }, SOURCE, exchange)
      } catch (error) {
        onError(error)
      }
      return [...run.messages] as never // as they were given
    },
  }
}

function scopeOf(options: MemoryProcessorOptions, messages: readonly Message[]): MemoryScope {
  const { memory, owner } = options
  const last = messages.findLast(({ role }) => role === 'user')
  const user = options.user ?? last?.resourceId
  const session = options.session ?? last?.threadId
  return {
    memory,
    ...(owner === undefined ? {} : { owner }),
    ...(user === undefined ? {} : { user }),
    ...(session === undefined ? {} : { session }),
  }
}

/** Mastra keeps parts inside of the content. */
function readMessage(message: Message | undefined): string {
  const content = message?.content
  const { parts } = Object(content)
  return readText(Array.isArray(parts) ? parts : content)
}
