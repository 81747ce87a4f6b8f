import { expect } from 'vitest'
import type { Store } from '../../src/storage/store.ts'

/** What `doctor` does, for the end of a test that made something fail: what is derived is what it should be. */
export async function expectSound(
  ...stores: readonly Pick<Store, 'checkIntegrity'>[]
): Promise<void> {
  for (const store of stores) expect(await store.checkIntegrity({ repair: false })).toEqual([])
}
