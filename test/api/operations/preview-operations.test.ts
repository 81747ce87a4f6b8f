/** What recall and the gateway would do, shown without doing it. */
import { expect, it } from 'vitest'
import type { OwnerId } from '../../../src/domain/ids.ts'
import { requestOf } from '../../conversations/conversations-support.ts'
import { openContext } from './operation-support.ts'

const ADA = { owner: 'ada' }
const ada = 'ada' as OwnerId
const QUESTION = 'What is the dog of the user called?'

type Previewed = {
  readonly memories: readonly Record<string, unknown>[]
  readonly retrievers: Record<string, { readonly state: string }>
  readonly resolution: Record<string, unknown>
}
type Injection = {
  readonly block: string
  readonly tokens: number
  readonly skipped: string | null
  readonly reason: string | null
  readonly gate: { readonly mode: string; readonly section: string } | null
  readonly memories: readonly string[]
  readonly identityIds: readonly string[]
  readonly omitted: readonly string[]
  readonly requests: readonly {
    readonly format: string
    readonly placement: string
    readonly before: string
    readonly after: string
  }[]
}

async function openPreviews() {
  const opened = openContext()
  const { engine, call } = opened
  await engine.admin.settings.change(ada, {
    'gateway.enabled': true,
    'gateway.contextTimeoutMs': 30_000,
  })
  const dog = await engine.remember(ADA, { content: 'The dog of the user is called Rex' })
  const who = await engine.remember(ADA, {
    content: 'The user is called Ada',
    category: 'identity',
    pinned: true,
  })
  return {
    ...opened,
    dog: dog.memory,
    who: who.memory,
    recalled: async (input: object = {}) =>
      (await call('memory.preview', { query: QUESTION, ...input })) as Previewed,
    injected: async (input: object = {}) =>
      (await call('memory.previewContext', { query: QUESTION, ...input })) as Injection,
  }
}

it('[SP1] a preview of recall filters like a search, and reports its steps', async () => {
  const { engine, recalled, dog, clock } = await openPreviews()
  clock.advance(60_000)
  const before = clock.now()
  clock.advance(60_000)
  const later = await engine.remember(ADA, {
    content: 'The dog of the user is ill',
    category: 'event',
    type: 'episodic',
  })
  const found = await recalled({ fusion: 'rrf' })
  expect(found.memories.map(({ id }) => id)).toContain(later.memory.id)
  expect(found.memories[0]).toMatchObject({ id: dog.id, tier: 'fts5', coverage: 1, user: null })
  expect(found.retrievers).toMatchObject({
    keyword: { state: 'searched' },
    vector: { state: 'skipped', reason: 'there is no embedding model' },
    rerank: { state: 'skipped' },
  })
  expect(found).toMatchObject({ abstained: false, topSimilarity: null, timeExpression: null })
  expect(found.resolution).toMatchObject({ fusionUsed: 'rrf', strategyUsed: 'hybrid' })
  expect((await recalled()).resolution).toMatchObject({ fusionUsed: 'adaptive' })
  const only = async (input: object) => (await recalled(input)).memories.map(({ id }) => id)
  expect(await only({ category: ['event'] })).toEqual([later.memory.id])
  expect(await only({ type: 'episodic' })).toEqual([later.memory.id])
  expect(await only({ asOf: before })).not.toContain(later.memory.id)
  expect(await only({ user: 'somebody' })).toEqual([])
})

it('[SP2] a preview of an injection is what the gateway gives, in every format', async () => {
  const { engine, injected, dog, who } = await openPreviews()
  const preview = await injected()
  const prepared = await engine.conversations.prepare(requestOf([QUESTION]))
  expect(preview.block).toBe(prepared.block)
  expect(preview.block).toContain('called Rex')
  expect(preview).toMatchObject({
    tokens: prepared.tokens,
    skipped: null,
    reason: null,
    memories: [who.id, dog.id],
    identityIds: [who.id],
    gate: { mode: 'off', section: 'all' },
  })
  const formats = ['chat', 'responses', 'messages', 'gemini']
  expect(preview.requests.map(({ format }) => format)).toEqual(formats)
  for (const { format, before, after, placement } of preview.requests) {
    expect(before).not.toContain('recollect-memory')
    expect(placement).toBe('turn-end')
    if (format === 'gemini') {
      const part = JSON.stringify({ text: preview.block })
      expect(after.replace(`,${part}`, '')).toBe(before)
      continue
    }
    const written = JSON.stringify(`${QUESTION}\n\n${preview.block}`)
    expect(after).toBe(before.replace(JSON.stringify(QUESTION), () => written))
  }
})

it('[SP2] gate, budget, strategy and place can be tried', async () => {
  const { injected, dog, who } = await openPreviews()
  const gated = await injected({ query: 'How tall is Everest?', gateMode: 'heuristic' })
  expect(gated).toMatchObject({
    gate: { mode: 'heuristic', section: 'none' },
    memories: [who.id],
  })
  const small = await injected({ maxTokens: 1 })
  expect(small).toMatchObject({ contextTokensMax: 1 })
  expect(small.memories).not.toHaveLength(0)
  const placed = await injected({ position: 'system' })
  for (const { after, placement, format } of placed.requests) {
    expect(placement).toBe('system')
    const { messages, instructions, system, systemInstruction } = JSON.parse(after)
    const result =
      format === 'chat' ? messages[0].content : (instructions ?? system ?? systemInstruction)
    expect(JSON.stringify(result)).toContain('called Rex')
  }
  const newest = await injected({ query: 'Unrelated words entirely', strategy: 'recent' })
  expect(newest.memories).toContain(dog.id)
})

it('[SP3] previews change nothing', async () => {
  const { engine, recalled, injected, dog, clock } = await openPreviews()
  const settings = await engine.admin.settings.resolve(ada)
  await recalled()
  await injected({ gateMode: 'heuristic', maxTokens: 50 })
  clock.advance(60_000)
  await engine.memories.recordUse(ADA, []) // writes what was counted
  expect(await engine.get(ADA, dog.id)).toEqual(dog)
  expect(await engine.admin.settings.resolve(ada)).toEqual(settings)
  expect((await engine.conversations.receipts.list(ADA)).rows).toEqual([])
})

it('[SP4] shows withheld memories with the reason', async () => {
  const { engine, injected } = await openPreviews()
  for (const [change, reason] of [
    [{ 'gateway.dryRun': true }, 'dry-run'],
    [{ 'gateway.contextEnabled': false }, 'context-disabled'],
    [{ 'gateway.enabled': false }, 'off'],
  ] as const) {
    await engine.admin.settings.change(ada, change)
    const preview = await injected()
    expect(preview).toMatchObject({ skipped: reason, reason: expect.stringMatching(/\.$/) })
    expect(preview.block).toContain('called Rex')
  }
})

it('[SP4] without a block, returns the reason and leaves requests unchanged', async () => {
  const { engine, injected, call } = await openPreviews()
  await engine.admin.settings.change('bob' as OwnerId, { 'gateway.enabled': true })
  const nothing = await injected({ owner: 'bob' })
  expect(nothing).toMatchObject({ block: '', tokens: 0, skipped: 'no-relevant-memories' })
  for (const { before, after } of nothing.requests) expect(after).toBe(before)
  expect(await injected({ owner: 'bob', query: 'Thanks!', gateMode: 'heuristic' })).toMatchObject({
    skipped: 'not-needed',
  })
  expect(await injected({ query: '   ' })).toMatchObject({ skipped: 'no-user-message', gate: null })
  await engine.admin.settings.change(ada, { 'gateway.contextTokensMax': 0 })
  expect(await injected()).toMatchObject({ skipped: 'no-budget' })
  await expect(
    call('memory.previewContext', { query: 'x', owner: 'bob' }, { role: 'user' }),
  ).rejects.toMatchObject({ code: 'not_found' })
})
