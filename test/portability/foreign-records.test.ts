/** What becomes of foreign records: rows of ours, once each, however often and however far an import runs. */
import { describe, expect, it } from 'vitest'
import { parseScope } from '../../src/domain/scope.ts'
import { exportLines, importLines } from '../../src/portability/export-import.ts'
import type {
  ImportedMemory,
  ImportedTurn,
  ImportRecord,
} from '../../src/portability/importers/foreign-record.ts'
import { importRecords } from '../../src/portability/record-import.ts'
import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import type { Store } from '../../src/storage/store.ts'
import { countingIds } from '../fakes/clock.ts'
import { failingAt } from '../fakes/faulty-store.ts'
import { instant } from '../fakes/memories.ts'
import { openEngine } from '../memory/memories.suite.ts'

const ADA = parseScope({ owner: 'ada' })
const MAY = instant(Date.parse('2026-05-01T00:00:00Z'))
const NOW = instant(Date.parse('2026-06-01T00:00:00Z'))

const clock = { now: () => NOW, sleep: async () => {} }
const portsOn = (store: Store) => ({ store, clock, ids: countingIds(), settings: {} })

const remembered = (name: string, fields: Partial<ImportedMemory> = {}): ImportedMemory => ({
  kind: 'memory',
  system: 'omniroute',
  at: 1,
  name,
  content: `content of ${name}`,
  createdAt: MAY,
  ...fields,
})
const said = (position: number, fields: Partial<ImportedTurn> = {}): ImportedTurn => ({
  kind: 'turn',
  system: 'chatgpt',
  at: 1,
  name: `c1:${position}`,
  session: 'c1',
  role: 'user',
  content: `turn ${position}`,
  position,
  saidAt: MAY,
  ...fields,
})
const take = (store: Store, records: readonly ImportRecord[], options = {}) =>
  importRecords(portsOn(store), ADA, records, options)
const rowsOf = async (store: Store) => {
  const rows: unknown[] = []
  for await (const line of exportLines(portsOn(store), null)) rows.push(JSON.parse(line))
  // The change that brought a row in differs from run to run.
  return JSON.parse(JSON.stringify(rows).replace(/"chg_\w+"/g, '"chg"'))
}
const memories = async (store: Store, scope = ADA) =>
  (await store.find('memory', scope, { where: {}, limit: 100, order: 'oldest' })).rows

describe.each([
  ['reference', async () => createInMemoryStore()],
  ['sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now })],
] as const)('%s', (_, open) => {
  const MANY: readonly ImportRecord[] = [
    ...Array.from({ length: 40 }, (_, n) => remembered(`m${n}`, { key: `k${n % 30}` })),
    remembered('with history', { earlier: [{ content: 'before', since: MAY }] }),
    ...Array.from({ length: 40 }, (_, n) => said(n)),
  ]

  it('[PO19] imports text, times, user, session and origin; a second import changes nothing', async () => {
    const store = await open()
    const record = remembered('id-1', {
      owner: 'key-1',
      user: 'eve',
      session: 's',
      key: 'a key',
      type: 'procedural',
      category: 'decision',
      importance: 8,
      metadata: { a: [1] },
      updatedAt: instant(MAY + 5),
      expiresAt: instant(NOW + 5),
      useCount: 3,
      lastUsedAt: instant(MAY + 3),
    })
    expect(await take(store, [record, said(0)])).toMatchObject({ imported: 2, failed: 0 })
    const [memory] = await memories(store)
    expect(memory).toMatchObject({
      place: { owner: 'ada', user: 'eve', session: 's' },
      key: 'a key',
      content: 'content of id-1',
      type: 'procedural',
      category: 'decision',
      importance: 8,
      trust: 'import',
      provenance: { source: 'import' },
      metadata: { a: [1], imported: { from: 'omniroute', id: 'id-1', owner: 'key-1' } },
      createdAt: MAY,
      updatedAt: MAY + 5,
      expiresAt: NOW + 5,
      useCount: 3,
      lastUsedAt: MAY + 3,
      version: 1,
    })
    const { rows: turns } = await store.find('turn', ADA, { where: {}, limit: 9 })
    expect(turns).toMatchObject([
      { place: { session: 'c1' }, role: 'user', content: 'turn 0', position: 0, saidAt: MAY },
    ])
    const before = await rowsOf(store)
    expect(await take(store, [record, said(0)])).toMatchObject({ imported: 0, skipped: 2 })
    expect(await rowsOf(store)).toEqual(before)
    await store.close()
  })

  it('[PO19] ids sort by time and differ for every owner', async () => {
    const store = await open()
    const later = [said(1), said(0), said(2, { saidAt: instant(MAY - 1) })]
    await take(store, [...later, remembered('x'), remembered('y', { createdAt: instant(MAY - 9) })])
    await importRecords(portsOn(store), parseScope({ owner: 'bob' }), [remembered('x')])
    const { rows } = await store.find('turn', ADA, { where: {}, limit: 9, order: 'oldest' })
    expect(rows.map(({ position }) => position)).toEqual([2, 0, 1])
    expect((await memories(store)).map(({ content }) => content)).toEqual([
      'content of y',
      'content of x',
    ])
    expect(await memories(store, parseScope({ owner: 'bob' }))).toHaveLength(1)
    await store.close()
  })

  it('[PO16] a stopped import resumes without duplicates', async () => {
    const store = await open()
    const stop = new AbortController()
    const many = Array.from({ length: 400 }, (_, n) => remembered(`n${n}`))
    const stopped = take(store, many, {
      signal: stop.signal,
      onProgress: () => stop.abort(),
    })
    await expect(stopped).rejects.toMatchObject({ code: 'cancelled' })
    expect((await store.getReport()).rows.memory).toBe(250)
    expect(await take(store, many)).toMatchObject({ imported: 150, skipped: 250, failed: 0 })
    expect((await store.getReport()).rows.memory).toBe(400)
    await store.close()
  })

  it('[PO16] whichever store call fails, running the import again yields the same result', async () => {
    const whole = await open()
    await take(whole, MANY)
    const expected = await rowsOf(whole)
    await whole.close()
    for (const when of ['before', 'after'] as const) {
      for (let call = 1; call < 200; call += 7) {
        const store = await open()
        const broken = failingAt(store, { call, when })
        const isBroken = await take(broken, MANY).then(
          () => false,
          () => true,
        )
        await take(store, MANY)
        expect(await rowsOf(store), `call ${call}, ${when}`).toEqual(expected)
        await store.close()
        if (!isBroken) break
      }
    }
  })

  it('[PO20] imports newer versions with their history and keeps local changes', async () => {
    const store = await open()
    await take(store, [remembered('a'), remembered('b')])
    const newer = { content: 'newer', updatedAt: instant(MAY + 10) }
    expect(await take(store, [remembered('a', newer)])).toMatchObject({ updated: 1 })
    expect(await take(store, [remembered('a', newer)])).toMatchObject({ updated: 0, skipped: 1 })
    const [first, second] = await memories(store)
    const a = [first, second].find((memory) => memory?.content === 'newer')
    expect(a).toMatchObject({ version: 2, createdAt: MAY, updatedAt: MAY + 10 })
    const { rows } = await store.find('revision', ADA, { where: {}, limit: 9 })
    expect(rows).toMatchObject([{ memory: { content: 'content of a' }, replacedAt: MAY + 10 }])
    // Changed here after it was changed there.
    const b = [first, second].find((memory) => memory?.content !== 'newer')
    if (b === undefined) throw new Error('it was imported above')
    const edited = { ...b, content: 'edited here', version: 2, updatedAt: instant(MAY + 20) }
    await store.commit([{ op: 'put', table: 'memory', row: edited, expect: { version: 1 } }])
    expect(await take(store, [remembered('b', newer)])).toMatchObject({ updated: 0, skipped: 1 })
    expect(await store.get('memory', ADA, b.id)).toEqual(edited)
    await store.close()
  })

  it('[PO21] leaves a taken key with its holder and imports the memory without it', async () => {
    const store = await open()
    const records = [remembered('a', { key: 'k' }), remembered('b', { key: 'k' })]
    expect(await take(store, records)).toMatchObject({ imported: 2, failed: 0 })
    const found = await memories(store)
    expect(found.map(({ key }) => key).sort()).toEqual(['k', null])
    const bare = found.find(({ key }) => key === null)
    expect(bare?.metadata).toMatchObject({ imported: { id: 'b', key: 'k' } })
    expect(await take(store, records)).toMatchObject({ imported: 0, skipped: 2 })
    await store.close()
  })

  it('[PO24] earlier wordings become revisions', async () => {
    const store = await open()
    const earlier = [
      { content: 'first', since: MAY },
      { content: 'second', since: instant(MAY + 1) },
    ]
    await take(store, [remembered('a', { content: 'third', updatedAt: instant(MAY + 2), earlier })])
    const [memory] = await memories(store)
    const { rows } = await store.find('revision', ADA, { where: {}, limit: 9, order: 'oldest' })
    expect(memory).toMatchObject({ content: 'third', version: 3 })
    expect(
      rows.map(({ memory: { content, version }, replacedAt }) => [content, version, replacedAt]),
    ).toEqual([
      ['first', 1, MAY + 1],
      ['second', 2, MAY + 2],
    ])
    await store.close()
  })
})

it('[PO20] erased memories stay erased, and memories in the trash stay there', async () => {
  const { engine, store } = await openEngine(async () => createInMemoryStore())
  await take(store, [remembered('a'), remembered('b')])
  const [a, b] = await memories(store)
  await engine.memories.erase(ADA, a?.id ?? '')
  await engine.forget(ADA, b?.id ?? '')
  const again = [remembered('a'), remembered('b')].map((record) => ({
    ...record,
    createdAt: instant(1_600_000_000_000),
    name: `${record.name}, from another export`,
  }))
  const result = await take(store, again)
  expect(result).toMatchObject({ imported: 0, failed: 2 })
  expect(result.failures[0]?.message).toContain('forgotten')
  expect((await engine.list(ADA)).rows).toEqual([])
})

it('[PO19] can keep everyone’s data apart', async () => {
  const store = createInMemoryStore()
  const records = [
    remembered('a', { owner: 'key-1' }),
    remembered('b', { owner: 'key-2' }),
    remembered('c'),
  ]
  await take(store, records, { keepOwners: true })
  expect((await store.listPlaces()).map(({ owner }) => owner)).toEqual(['ada', 'key-1', 'key-2'])
  const result = await take(store, [remembered('d', { owner: '@system' })], { keepOwners: true })
  expect(result).toMatchObject({ imported: 0, failed: 1 })
})

it('[PO19] records without a time take that of the file, never one in the future', async () => {
  const store = createInMemoryStore()
  await take(store, [remembered('a', { createdAt: null })], { observedAt: MAY + 0.7 })
  await take(store, [remembered('b', { createdAt: null })], { observedAt: NOW + 9_999 })
  expect((await memories(store)).map(({ createdAt }) => createdAt).sort()).toEqual([MAY, NOW])
})

it('[PO29] hostile records are reported one by one and break nothing; blank ones are skipped', async () => {
  const store = createInMemoryStore()
  let deep: unknown = 'x'
  for (let level = 0; level < 100_000; level++) deep = { deep }
  const bad: readonly Partial<ImportedMemory>[] = [
    { content: 'x'.repeat(10_000_000) },
    { content: 'x'.repeat(50_001) },
    { key: 'k'.repeat(201) },
    { metadata: { deep } as never },
    { metadata: { long: 'x'.repeat(20_000) } },
    { user: 'a\0b' },
    { session: ' s' },
    { importance: 1.5 },
    { importance: 11 },
    { createdAt: Number.NaN as never },
    { entities: ['x'.repeat(300)] },
    { useCount: -1 },
  ]
  const records: ImportRecord[] = bad.map((fields, index) =>
    remembered(`bad ${index}`, { ...fields, at: index + 1 }),
  )
  const result = await take(store, [
    ...records,
    said(0, { content: 'x'.repeat(500_001), at: bad.length + 1 }),
    said(0.5, { at: bad.length + 2 }),
    { kind: 'fault', at: bad.length + 3, message: 'No text.' },
    remembered('blank', { content: ' \n ' }),
    remembered('fine', {
      content: 'NUL \0 and \ud800 are text',
      metadata: JSON.parse('{"__proto__":{"a":1}}'),
    }),
  ])
  expect(result).toMatchObject({ imported: 1, skipped: 1, failed: bad.length + 3 })
  expect(result.failures.map(({ line }) => line)).toEqual(
    Array.from({ length: bad.length + 3 }, (_, index) => index + 1),
  )
  for (const { message } of result.failures) expect(message).not.toContain('xxxx')
  expect(({} as Record<string, unknown>).a).toBeUndefined()
  const [fine] = await memories(store)
  expect(fine?.content).toBe('NUL \0 and \ud800 are text')
})

it('[PO16] a stopped import of an own export resumes as well', async () => {
  const source = createInMemoryStore()
  await take(
    source,
    Array.from({ length: 400 }, (_, n) => remembered(`n${n}`)),
  )
  const target = createInMemoryStore()
  const stop = new AbortController()
  const run = (options = {}) =>
    importLines(portsOn(target), exportLines(portsOn(source), null), options)
  const stopped = run({ signal: stop.signal, onProgress: () => stop.abort() })
  await expect(stopped).rejects.toMatchObject({ code: 'cancelled' })
  expect((await target.getReport()).rows.memory).toBe(250)
  expect(await run()).toMatchObject({ imported: 150, skipped: 250, failed: 0 })
  expect(await rowsOf(target)).toEqual(await rowsOf(source))
})
