import { expect, it } from 'vitest'
import { BoundedQueue } from './bounded-queue.ts'

function open(tasksMax: number, sizeMax = 1_000) {
  const queue = new BoundedQueue({ tasksMax, sizeMax })
  const done: string[] = []
  const add = (name: string, size = 1) =>
    queue.add({
      ...{ lane: name[0] ?? '', size },
      run: async () => {
        await Promise.resolve()
        done.push(name)
      },
    })
  return { queue, done, add }
}

it('runs the tasks of a lane in order, and not before the call returns', async () => {
  const { queue, done, add } = open(9)
  for (const name of ['a1', 'b1', 'a2', 'a3']) expect(add(name)).toBe(0)
  expect([done.length, queue.waiting]).toEqual([0, 4])
  await queue.drained()
  expect(done.filter((name) => name.startsWith('a'))).toEqual(['a1', 'a2', 'a3'])
  expect([done.length, queue.waiting]).toEqual([4, 0])
})

it('drops the oldest when too many wait, or when they are too large', async () => {
  const { queue, done, add } = open(2)
  add('a1')
  add('b1')
  expect(add('a2')).toBe(1)
  await queue.drained()
  expect(done.sort()).toEqual(['a2', 'b1'])
  const large = open(9, 10)
  large.add('a1', 4)
  large.add('a2', 4)
  expect(large.add('a3', 100)).toBe(2)
  await large.queue.drained()
  expect(large.done).toEqual(['a3'])
})

it('drops what waits in some lanes, and waits for some lanes', async () => {
  const { queue, done, add } = open(9)
  add('a1')
  add('b1')
  queue.dropAll((lane) => lane === 'a')
  await queue.drained((lane) => lane === 'b')
  expect(done).toEqual(['b1'])
})
