import { expect, it } from 'vitest'
import { toReplicaError } from './lancedb-driver.ts'

it('[LC12] reports a full disk and a read-only folder as such, without what LanceDB quotes', () => {
  const told = (message: string) => toReplicaError(new Error(message))
  for (const [message, meaning] of [
    ["LanceError(IO): No space left on device (os error 28), where owner = 'ada'", 'full'],
    ["Permission denied (os error 13) at owner = 'ada'", 'cannot be written'],
  ] as const) {
    expect(told(message)).toMatchObject({ code: 'unavailable' })
    expect(told(message).message).toContain(meaning)
    expect(told(message).message).not.toContain('ada')
  }
})
