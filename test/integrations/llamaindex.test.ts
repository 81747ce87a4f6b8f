/** `recollect/llamaindex` with the real package, where it can be installed. */
import { describe, expect, it } from 'vitest'
import { RecollectMemoryBlock } from '../../src/integrations/llamaindex.ts'
import { importPart, installPart } from '../support/part.ts'
import { KINDS, openMemoryOf } from './integration-support.ts'

const missing = await installPart('clients', '@llamaindex/core')

type Message = { readonly role: string; readonly content: unknown }
/** What the tests use of the package. */
type Memory = {
  add(message: Message): Promise<void>
  getLLM(): Promise<readonly Message[]>
  manageMemoryBlocks(): Promise<void>
}

async function createMemory(block: RecollectMemoryBlock): Promise<Memory> {
  const { createMemory: create } = await importPart<{ createMemory(options: object): Memory }>(
    'clients',
    '@llamaindex/core/memory',
  )
  // So few tokens that every message leaves the short-term memory.
  return create({ memoryBlocks: [block], tokenLimit: 200, shortTermTokenLimitRatio: 0.01 })
}

describe.skipIf(missing !== null)(
  `@llamaindex/core${missing === null ? '' : `: ${missing}`}`,
  () => {
    describe.each(KINDS)('with %s', (kind) => {
      it('[IG6.1] [IG6.2] a block records what leaves the memory and brings back what is relevant', async () => {
        const { memory, engine } = await openMemoryOf(kind)
        const open = (session: string, user = 'ada') =>
          createMemory(new RecollectMemoryBlock({ memory, user, session }))
        const monday = await open('monday')
        await monday.add({ role: 'user', content: 'We painted the kitchen sage green.' })
        await monday.add({ role: 'assistant', content: 'A calm color.' })
        await monday.manageMemoryBlocks()
        const { rows } = await engine.conversations.turns.list({
          ...{ owner: 'default', user: 'ada', session: 'monday' },
        })
        expect(rows.map(({ content }) => content)).toEqual([
          'We painted the kitchen sage green.',
          'A calm color.',
        ])
        const ask = async (each: Memory) => {
          await each.add({ role: 'user', content: 'Which color is the kitchen?' })
          return JSON.stringify(await each.getLLM())
        }
        expect(await ask(await open('tuesday'))).toContain('sage green')
        expect(await ask(await open('tuesday', 'bob'))).not.toContain('sage green')
      })
    })
  },
)
