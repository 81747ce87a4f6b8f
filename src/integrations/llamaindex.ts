/** Memory for LlamaIndex.TS: a memory block. It imports nothing of LlamaIndex. */
import { recordMessages } from './conversation-log.ts'
import { readText } from './exchanges.ts'
import { type MemoryScope, openMemory } from './memory-access.ts'

export type { Memory, MemoryScope } from './memory-access.ts'

export type MemoryBlockOptions = MemoryScope & {
  readonly session: string
  /** Of several blocks, those with a low number keep their place when tokens are scarce; 0 always does. Default: 0. */
  readonly priority?: number
}

type BlockMessage = { readonly role: string; readonly content: unknown }

const SOURCE = 'llamaindex'

/**
 * A block for `createMemory`: messages that leave the short-term memory are recorded, and what is relevant for the last
 * message of the user comes back, also from other sessions.
 *
 * @example
 * import { createEngine } from 'recollect'
 * import { RecollectMemoryBlock } from 'recollect/llamaindex'
 *
 * const memory = await createEngine({ path: 'memory.db' })
 * const block = new RecollectMemoryBlock({ memory, user: 'ada', session: 'monday' })
 * const messages = await block.get([{ role: 'user', content: 'What should I drink?' }])
 */
export class RecollectMemoryBlock {
  readonly id = 'recollect'
  readonly priority: number
  readonly isLongTerm = true
  readonly #options: MemoryBlockOptions

  constructor(options: MemoryBlockOptions) {
    this.#options = options
    this.priority = options.priority ?? 0
  }

  /**
   * The context for the last message of the user; empty when nothing is relevant.
   *
   * @example
   * import type { RecollectMemoryBlock } from 'recollect/llamaindex'
   *
   * declare const block: RecollectMemoryBlock
   * const [context] = await block.get([{ role: 'user', content: 'What should I drink?' }])
   */
  async get(messages: readonly BlockMessage[] = []) {
    const text = readText(messages.findLast(({ role }) => role === 'user')?.content)
    const content = text === '' ? '' : await openMemory(this.#options).buildContext(text)
    return content === '' ? [] : [{ id: this.id, role: 'memory' as const, content }]
  }

  /**
   * Records messages and learns from them.
   *
   * @example
   * import type { RecollectMemoryBlock } from 'recollect/llamaindex'
   *
   * declare const block: RecollectMemoryBlock
   * await block.put([{ role: 'user', content: 'I prefer tea.' }])
   */
  async put(messages: readonly BlockMessage[]): Promise<void> {
    const said = messages.map(({ role, content }) => ({ role, text: readText(content) }))
    await recordMessages(this.#options, SOURCE, said)
  }
}
