/** Lists in every order, and the one that goes through all owners. */
import { expect, it } from 'vitest'
import { ROLES } from '../../../src/domain/access.ts'
import { openContext } from './operation-support.ts'

type Listed = {
  readonly data: readonly { readonly owner: string; readonly content: string }[]
  readonly next: string | null
  readonly owners?: number
}

const OWNERS = ['ada', 'bob', 'cy', 'zoë']

async function openHouse() {
  const { engine, call, clock } = openContext()
  for (const owner of OWNERS) {
    for (const importance of [3, 9, 6]) {
      await engine.remember(
        { owner, user: 'kim' },
        { content: `${owner} ${importance}`, importance },
      )
    }
  }
  const bin = await engine.remember({ owner: 'bob' }, { content: 'gone' })
  await engine.forget({ owner: 'bob' }, bin.memory.id)
  const pages = async (name: string, input: object, limit: number) => {
    const contents: string[][] = []
    for (let after: string | null | undefined; after !== null; ) {
      const position = after === undefined ? {} : { after }
      const page: Listed = await call(name, { ...input, limit, ...position })
      contents.push(page.data.map(({ content }) => content))
      after = page.next
    }
    return contents
  }
  return { engine, call, clock, pages }
}

it('[SU1] lists in the requested order across pages', async () => {
  const { call, pages } = await openHouse()
  const input = { order: 'importance' }
  expect(await pages('memory.list', input, 2)).toEqual([['ada 9', 'ada 6'], ['ada 3']])
  expect(await pages('memory.list', { order: 'leastUsed' }, 2)).toEqual([
    ['ada 3', 'ada 9'],
    ['ada 6'],
  ])
  for (const after of ['mem_1', 'nonsense', '5~']) {
    await expect(call('memory.list', { ...input, after })).rejects.toMatchObject({
      code: 'invalid_input',
    })
  }
})

it('[SU19] a superadmin is shown the memories of all owners, one owner after the other', async () => {
  const { call, pages } = await openHouse()
  const all = OWNERS.flatMap((owner) => [`${owner} 6`, `${owner} 9`, `${owner} 3`])
  const whole: Listed = await call('owner.memories', {})
  expect(whole.data.map(({ content }) => content)).toEqual(all)
  expect(whole.data.map(({ owner }) => owner)).toEqual(all.map((text) => text.split(' ')[0]))
  expect([whole.next, whole.owners]).toEqual([null, 4])
  for (const limit of [1, 2, 3, 5, 12]) {
    const found = await pages('owner.memories', {}, limit)
    expect(found.flat()).toEqual(all)
    expect(found.slice(0, -1).every((page) => page.length === limit)).toBe(true)
  }
  expect((await pages('owner.memories', { order: 'importance' }, 5)).flat()).toEqual(
    OWNERS.flatMap((owner) => [`${owner} 9`, `${owner} 6`, `${owner} 3`]),
  )
  expect((await pages('owner.memories', { q: 'B 9' }, 1)).flat()).toEqual(['bob 9'])
  expect((await pages('owner.memories', { status: 'forgotten' }, 2)).flat()).toEqual(['gone'])
})

it('[SU19] continues from its cursor, also when the owner was erased', async () => {
  const { engine, call } = await openHouse()
  const first: Listed = await call('owner.memories', { limit: 4 })
  await engine.admin.eraseOwner('bob', {})
  const rest: Listed = await call('owner.memories', { limit: 100, after: first.next })
  expect(rest.data.map(({ owner }) => owner)).toEqual([
    ...Array(3).fill('cy'),
    ...Array(3).fill('zoë'),
  ])
  for (const after of ['', 'bob', '[]', '["bob"]', '["cy","nonsense"]', '{"owner":"bob"}']) {
    await expect(call('owner.memories', { after })).rejects.toMatchObject({ code: 'invalid_input' })
  }
})

it('[SU19] shows other roles no list across owners, not even with their own', async () => {
  const { call } = await openHouse()
  for (const role of ROLES.filter((each) => each !== 'superadmin')) {
    const as = { role, home: 'ada', actsFor: ['bob'] }
    await expect(call('owner.memories', {}, as)).rejects.toMatchObject({ code: 'forbidden' })
  }
})
