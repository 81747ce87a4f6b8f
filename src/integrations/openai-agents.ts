/** Memory for the OpenAI Agents SDK: a session, and tools. */
import type { AgentInputItem, FunctionTool, Session } from '@openai/agents-core'
import { tool } from '@openai/agents-core'
import type { z } from 'zod'
import { groupExchanges, readText } from './exchanges.ts'
import { createItemLog, type ItemLog } from './item-log.ts'
import { type MemoryAccess, type MemoryScope, openMemory } from './memory-access.ts'
import { createMemoryTools, type MemoryTool } from './memory-tool-set.ts'

export type { Memory, MemoryScope } from './memory-access.ts'

const SOURCE = 'openai-agents'

/**
 * A session that keeps the items of a conversation exactly, and records what was said to learn from and recall.
 *
 * @example
 * import { createEngine } from 'recollect'
 * import { RecollectSession } from 'recollect/openai-agents'
 *
 * const memory = await createEngine({ path: 'memory.db' })
 * const session = new RecollectSession({ memory, user: 'ada', session: 'monday' })
 * const items = await session.getItems(20)
 */
export class RecollectSession implements Session {
  readonly #access: MemoryAccess
  readonly #session: string
  readonly #log: ItemLog<AgentInputItem>

  constructor(options: MemoryScope & { readonly session: string }) {
    this.#access = openMemory(options)
    this.#session = options.session
    this.#log = createItemLog(this.#access, SOURCE)
  }

  async getSessionId(): Promise<string> {
    return this.#session
  }

  async getItems(limit?: number): Promise<AgentInputItem[]> {
    const items = await this.#log.read()
    return limit === undefined ? [...items] : items.slice(Math.max(0, items.length - limit))
  }

  async addItems(items: AgentInputItem[]): Promise<void> {
    await this.#log.append(items)
    const history = await this.#log.read()
    const exchanges = groupExchanges(history.map(toSpokenMessage))
    if (exchanges.length > 0) await this.#access.ingest(this.#session, exchanges)
  }

  async popItem(): Promise<AgentInputItem | undefined> {
    return this.#log.pop()
  }

  async clearSession(): Promise<void> {
    await this.#log.clear()
  }
}

type MemoryFunctionTool = FunctionTool<unknown, z.ZodObject, unknown>

/**
 * Tools by which an agent searches, saves and forgets memories.
 *
 * @example
 * import { createEngine } from 'recollect'
 * import { memoryTools } from 'recollect/openai-agents'
 *
 * const memory = await createEngine({ path: 'memory.db' })
 * const tools = memoryTools({ memory, user: 'ada' })
 */
export function memoryTools(scope: MemoryScope): MemoryFunctionTool[] {
  const tools = createMemoryTools(scope)
  return [
    toAgentTool(tools.memory_search),
    toAgentTool(tools.memory_save),
    toAgentTool(tools.memory_forget),
  ]
}

/**
 * The context block for a message, to append to the instructions of an agent; empty when nothing is relevant.
 *
 * @example
 * import { createEngine } from 'recollect'
 * import { recallContext } from 'recollect/openai-agents'
 *
 * const memory = await createEngine({ path: 'memory.db' })
 * const instructions = `Be brief. ${await recallContext({ memory, user: 'ada' }, 'What should I drink?')}`
 */
export function recallContext(scope: MemoryScope, message: string): Promise<string> {
  return openMemory(scope).buildContext(message)
}

function toAgentTool<Input extends z.ZodObject>({
  name,
  description,
  input,
  run,
}: MemoryTool<Input>): MemoryFunctionTool {
  return tool({
    ...{ name, description },
    parameters: input as z.ZodObject,
    execute: async (given) => JSON.stringify(await run(input.parse(given))),
  })
}

/** Tool calls and reasoning have no role. */
function toSpokenMessage(item: AgentInputItem) {
  const { role, content }: { readonly role?: unknown; readonly content?: unknown } = item as object // messages have both
  return { role: String(role ?? ''), text: readText(content) }
}
