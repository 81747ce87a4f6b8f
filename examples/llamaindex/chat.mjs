/** A memory block of LlamaIndex.TS: what leaves the short-term memory is recorded, and what is relevant comes back. */
import { createMemory } from '@llamaindex/core/memory'
import { createEngine } from 'recollect'
import { RecollectMemoryBlock } from 'recollect/llamaindex'

const [session = 'monday', ...words] = process.argv.slice(2)
const content = words.join(' ') || 'Which color is the kitchen?'

const memory = await createEngine({ path: process.env.DATABASE ?? 'memory.db' })
const block = new RecollectMemoryBlock({ memory, user: 'ada', session })
// Such a small window that every message leaves it.
const chat = createMemory({
  memoryBlocks: [block],
  tokenLimit: 200,
  shortTermTokenLimitRatio: 0.01,
})
await chat.add({ role: 'user', content })
for (const message of await chat.getLLM()) {
  process.stdout.write(`${message.role}: ${JSON.stringify(message.content)}\n`)
}
await chat.manageMemoryBlocks()
await memory.close()
