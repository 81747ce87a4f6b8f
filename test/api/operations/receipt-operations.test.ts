/** Receipts, narrowed and counted. */
import { expect, it } from 'vitest'
import type { OwnerId } from '../../../src/domain/ids.ts'
import { answerOf, outcomeOf, requestOf } from '../../conversations/conversations-support.ts'
import { openContext } from './operation-support.ts'

const HOUR_MS = 3_600_000

type Listed = {
  readonly receipts: readonly { readonly id: string; readonly model: string }[]
  readonly next: string | null
}
type Counted = { readonly days: readonly object[]; readonly total: object }

async function openReceipts() {
  const opened = openContext()
  const { engine, call } = opened
  await engine.admin.settings.change('ada' as OwnerId, {
    'gateway.enabled': true,
    'gateway.contextTimeoutMs': 30_000,
  })
  const dog = await engine.remember({ owner: 'ada' }, { content: 'The dog of Ada is called Rex' })
  return {
    ...opened,
    dog: dog.memory.id,
    asked: async (
      text: string,
      {
        model = 'gpt',
        status = 200,
        user,
      }: { model?: string; status?: number; user?: string } = {},
    ) => {
      const scope = { owner: 'ada', ...(user === undefined ? {} : { user }) }
      const request = requestOf([text], { model, scope, wants: { extract: false } })
      const prepared = await engine.conversations.prepare(request)
      const usage = { input: 100, output: 20, cached: 5 }
      const answer = answerOf('Yes.', { usage })
      engine.conversations.recordOutcome(prepared, outcomeOf(prepared, answer, { status }))
      await engine.conversations.flush()
      return prepared
    },
    listed: async (input: object = {}) => (await call('receipt.list', input)) as Listed,
    counted: async (input: object = {}) => (await call('receipt.stats', input)) as Counted,
  }
}
const ABOUT_DOG = 'What is the dog of Ada called?'

it('[SP5] receipts are narrowed by model, by memory and by reason', async () => {
  const { asked, listed, dog } = await openReceipts()
  const result = await asked(ABOUT_DOG)
  const other = await asked(ABOUT_DOG, { model: 'claude' })
  const unrelated = await asked('Zzyzx qwertz?')
  const ids = async (input: object) => (await listed(input)).receipts.map(({ id }) => id)
  expect(await ids({ model: 'claude' })).toEqual([other.receipt])
  expect(await ids({ skipped: 'no-relevant-memories' })).toEqual([unrelated.receipt])
  expect(await ids({ skipped: 'none', model: 'gpt' })).toEqual([result.receipt])
  expect(await ids({ model: 'nobody' })).toEqual([])
  expect(await ids({ memory: dog })).toEqual([other.receipt, result.receipt])
  expect(await ids({ memory: 'mem_unknown' })).toEqual([])
  await expect(listed({ skipped: 'bored' })).rejects.toMatchObject({
    details: [{ field: 'skipped' }],
  })
})

it('[RC13] only a single receipt has texts', async () => {
  const { asked, listed, call, dog, engine } = await openReceipts()
  const { receipt, block } = await asked(ABOUT_DOG)
  const piece = { kind: 'memory', id: dog, version: 1 }
  const { receipts } = await listed()
  expect(receipts).toMatchObject([{ lines: [piece] }])
  expect(JSON.stringify(receipts)).not.toMatch(/Rex|block"|text"/)
  const line = expect.stringContaining('The dog of Ada is called Rex')
  expect(await call('receipt.get', { id: receipt })).toMatchObject({
    receipt: { lines: [{ ...piece, text: line, redaction: null }], block },
  })
  await engine.memories.erase({ owner: 'ada' }, dog)
  expect(await call('receipt.get', { id: receipt })).toMatchObject({
    receipt: {
      lines: [{ ...piece, text: null, redaction: 'erased' }],
      block: expect.stringContaining('- [erased]'),
    },
  })
})

it('[SP5] pages of what was narrowed go on without gaps or repetitions', async () => {
  const { asked, listed } = await openReceipts()
  const made: string[] = []
  for (let index = 0; index < 9; index++) {
    const { receipt } = await asked(`${ABOUT_DOG} ${index}`, { model: index % 2 ? 'a' : 'b' })
    if (index % 2 === 0) made.unshift(receipt ?? '')
  }
  const seen: string[] = []
  let after: string | null = null
  do {
    const page: Listed = await listed({
      model: 'b',
      limit: 2,
      ...(after === null ? {} : { after }),
    })
    expect(page.receipts.length).toBeLessThanOrEqual(2)
    seen.push(...page.receipts.map(({ id }) => id))
    after = page.next
  } while (after !== null)
  expect(seen).toEqual(made)
})

it('[SP6] requests are counted by day and model', async () => {
  const { asked, counted, clock } = await openReceipts()
  // 22:13 in UTC: the next hours belong to two days there, and to one in Tokyo.
  const { tokens } = await asked(ABOUT_DOG)
  await asked('Zzyzx qwertz?', { model: 'claude', status: 500 })
  clock.advance(3 * HOUR_MS)
  await asked(ABOUT_DOG, { user: 'bo' })
  const once = { requests: 1, input: 100, output: 20, cached: 5, learned: 0 }
  const first = [
    { day: '2023-11-14', model: 'claude', ...once, withMemories: 0, failed: 1, memory: 0 },
    { day: '2023-11-14', model: 'gpt', ...once, withMemories: 1, failed: 0, memory: tokens },
  ]
  const all = await counted()
  expect(all.days).toMatchObject([...first, { day: '2023-11-15', model: 'gpt', ...once }])
  expect(all).toMatchObject({
    total: { requests: 3, input: 300, failed: 1 },
    skipped: { 'no-relevant-memories': 2 },
    isComplete: true,
  })
  expect((await counted({ timeZone: 'Asia/Tokyo' })).days).toMatchObject([
    { day: '2023-11-15', model: 'claude', requests: 1 },
    { day: '2023-11-15', model: 'gpt', requests: 2, input: 200 },
  ])
  expect(await counted({ user: 'bo' })).toMatchObject({ total: { requests: 1 } })
  expect(await counted({ since: clock.now() })).toMatchObject({ total: { requests: 1 } })
  expect(await counted({ owner: 'bob' })).toMatchObject({ total: { requests: 0 }, days: [] })
  await expect(counted({ timeZone: 'Mars/Olympus' })).rejects.toMatchObject({
    code: 'invalid_input',
  })
})
