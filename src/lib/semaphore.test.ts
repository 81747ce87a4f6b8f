import { expect, it } from 'vitest'
import { type QueueOrder, Semaphore } from './semaphore.ts'

const NEVER = new AbortController().signal

async function orderOf(order: QueueOrder): Promise<readonly string[]> {
  const slots = new Semaphore(1, order)
  const begun: string[] = []
  await Promise.all(
    ['a', 'b', 'c', 'd'].map((name) =>
      slots.run(NEVER, async () => {
        begun.push(name)
      }),
    ),
  )
  return begun
}

it('[PL15] serves those that wait in their order, or the newest first', async () => {
  expect(await orderOf('fifo')).toEqual(['a', 'b', 'c', 'd'])
  expect(await orderOf('lifo')).toEqual(['a', 'd', 'c', 'b'])
})

it('[PL15] skips callers that stopped waiting', async () => {
  const slots = new Semaphore(1, 'lifo')
  const gone = new AbortController()
  const begun: string[] = []
  const use = (name: string, signal: AbortSignal) =>
    slots.run(signal, async () => {
      begun.push(name)
    })
  const running = [use('a', NEVER), use('b', NEVER)]
  const stopped = use('c', gone.signal)
  gone.abort()
  await expect(stopped).rejects.toMatchObject({ code: 'cancelled' })
  await Promise.all(running)
  expect(begun).toEqual(['a', 'b'])
})
