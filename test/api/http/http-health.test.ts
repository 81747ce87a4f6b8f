/** Readiness while the store takes no writes. */
import { expect, it } from 'vitest'
import { createEngine } from '../../../src/app/composition.ts'
import { AppError } from '../../../src/lib/errors.ts'
import { createInMemoryStore } from '../../../src/storage/in-memory/in-memory-store.ts'
import { start } from './http-support.ts'

it.each([
  ['disk_full', 'store_full'],
  ['read_only', 'store_read_only'],
  ['busy', 'store_busy'],
  ['unavailable', 'store_unreachable'],
] as const)(
  '[HT61] reports that writes fail with %s, and recovers by itself',
  async (code, reason) => {
    const store = createInMemoryStore()
    let failure: AppError | null = null
    const engine = await createEngine({
      embedding: false,
      store: {
        ...store,
        commit: async (changes) => {
          if (failure !== null) throw failure
          return store.commit(changes)
        },
      },
    })
    const { url } = await start({ engine })
    const ready = async () => {
      const response = await fetch(`${url}/health/ready`)
      return [response.status, ((await response.json()) as { codes: string[] }).codes]
    }
    expect(await ready()).toEqual([200, []])
    failure = new AppError(code, 'The write failed.')
    await expect(engine.remember({ owner: 'ada' }, { content: 'Tea' })).rejects.toThrow()
    await expect.poll(ready, { timeout: 5_000 }).toEqual([200, [reason]])
    failure = null
    await expect.poll(ready, { timeout: 5_000 }).toEqual([200, []])
  },
)
