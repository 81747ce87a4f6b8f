/**
 * The exact items of a conversation in their order, as frameworks hand them over. Each is a disabled memory: kept word
 * for word, and out of recall. What people and models said is recorded as a conversation besides.
 */
import { randomUUID } from 'node:crypto'
import { Mutex } from '../lib/mutex.ts'
import type { MemoryAccess, StoredItem } from './memory-access.ts'

export interface ItemLog<Item> {
  read(): Promise<readonly Item[]>
  append(items: readonly Item[]): Promise<void>
  /** Removes and returns the last item. */
  pop(): Promise<Item | undefined>
  clear(): Promise<void>
}

export function createItemLog<Item>(access: MemoryAccess, source: string): ItemLog<Item> {
  const mutex = new Mutex()
  const list = async () => {
    const items = await access.list({ source, status: 'disabled' })
    return [...items].sort((a, b) => positionOf(a) - positionOf(b))
  }
  const parse = (stored: StoredItem): Item => JSON.parse(stored.content)
  return {
    read: async () => (await list()).map(parse),
    append: (items) =>
      mutex.run(async () => {
        let position = positionOf((await list()).at(-1)) + 1
        for (const item of items) {
          const { item: stored } = await access.remember({
            content: JSON.stringify(item),
            source,
            // A key names an identity, so that equal items stay apart.
            key: `${source}:${randomUUID()}`,
            metadata: { position },
          })
          await access.disable(stored.id)
          position++
        }
      }),
    pop: () =>
      mutex.run(async () => {
        const last = (await list()).at(-1)
        if (last === undefined) return undefined
        await access.forget(last.id)
        return parse(last)
      }),
    clear: () =>
      mutex.run(async () => {
        for (const { id } of await list()) await access.forget(id)
      }),
  }
}

function positionOf(item: StoredItem | undefined): number {
  const position = item?.metadata.position
  return typeof position === 'number' ? position : 0
}
