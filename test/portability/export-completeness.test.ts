/** What an export holds, and that all of it comes back: over stores, owners, versions and passphrases. */
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { settingEntryId } from '../../src/admin/stored-settings.ts'
import { exportLines, importLines } from '../../src/portability/export-import.ts'
import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import type { Change, Store } from '../../src/storage/store.ts'
import { countingIds, FakeClock } from '../fakes/clock.ts'
import { instant, memory, memoryId, owner, revision, session, user } from '../fakes/memories.ts'
import { openFreshStore, startPglite } from '../support/postgres-servers.ts'

const SYSTEM = { owner: owner('@system'), user: null, session: null }
const ADA = { owner: owner('ada') }

const portsOn = (store: Store) => ({
  store,
  clock: new FakeClock(),
  ids: countingIds(),
  settings: {},
})
const linesOf = async (store: Store, scope: { owner: ReturnType<typeof owner> } | null = null) => {
  const lines: string[] = []
  for await (const line of exportLines(portsOn(store), scope)) lines.push(line)
  return lines
}
const parsed = (lines: readonly string[]): unknown[] => lines.map((line) => JSON.parse(line))
async function* from(lines: readonly string[]) {
  yield* lines
}
const importInto = (store: Store, lines: readonly string[], options = {}) =>
  importLines(portsOn(store), from(lines), options)

const put = (change: object) => ({ op: 'put', expect: 'absent', ...change }) as Change // rows are made below
const turn = (id: string, place: object, content = 'hello') =>
  put({
    table: 'turn',
    row: {
      id: `turn_${id}`,
      place,
      version: 1,
      role: 'user',
      speaker: null,
      content,
      position: 0,
      saidAt: instant(5),
      disabled: false,
    },
  })
const setting = (about: string | null, body: object) =>
  put({
    table: 'entry',
    row: {
      id: settingEntryId(about === null ? null : owner(about)),
      place: SYSTEM,
      kind: 'setting',
      about,
      at: instant(1),
      expiresAt: null,
      version: 1,
      body,
    },
  })
const secret = (kind: string) =>
  put({
    table: 'entry',
    row: {
      id: `${kind}_1`,
      place: SYSTEM,
      kind,
      about: 'ada',
      at: instant(1),
      expiresAt: null,
      version: 1,
      body: { secret: 'hush' },
    },
  })

async function filled(store: Store): Promise<Store> {
  const ada = { owner: owner('ada'), user: null, session: session('s1') }
  const bob = { owner: owner('bob'), user: user('eve'), session: null }
  const first = memory({ place: ada, content: 'of ada' })
  const outcome = await store.commit([
    put({ table: 'memory', row: { ...first, version: 2 } }),
    put({ table: 'revision', row: revision(first) }),
    put({ table: 'memory', row: memory({ place: bob, content: 'of bob' }) }),
    turn('1', ada, 'said by ada'),
    turn('2', bob, 'said by bob'),
    setting(null, { 'retention.auditDays': 7 }),
    setting('ada', { 'recall.limit': 3 }),
    setting('lonely', { 'recall.limit': 4 }),
    ...['key', 'audit', 'answer', 'job'].map(secret),
  ])
  expect(outcome).toEqual({ kind: 'committed' })
  return store
}

const openReference = async () => createInMemoryStore()
const openSqlite = () => openSqliteStore({ path: ':memory:', now: Date.now })

it('[PO10] an export holds turns and settings, but no keys, logins or audit entries', async () => {
  const source = await filled(createInMemoryStore())
  const lines = await linesOf(source)
  const tables = lines.slice(1).map((line) => JSON.parse(line).table)
  expect(tables).toEqual([
    ...['memory', 'revision', 'turn'],
    ...['memory', 'turn'],
    ...['entry', 'entry', 'entry'],
  ])
  expect(lines.join('\n')).not.toContain('hush')
  const target = createInMemoryStore()
  expect(await importInto(target, lines)).toMatchObject({ imported: 8, failed: 0 })
  expect(parsed(await linesOf(target))).toEqual(parsed(lines))
  expect(await importInto(target, lines)).toMatchObject({ imported: 0, updated: 0, skipped: 8 })
})

it("[PO11] an owner's export holds no rows of others and no system settings", async () => {
  const lines = await linesOf(await filled(createInMemoryStore()), ADA)
  expect(lines.slice(1).map((line) => JSON.parse(line).table)).toEqual([
    'memory',
    'revision',
    'turn',
    'entry',
  ])
  expect(lines.join('\n')).not.toMatch(/bob|lonely|auditDays/)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ version: 2, owner: 'ada' })
})

it('[PO11] assigned to another owner, settings follow and system settings are dropped', async () => {
  const target = createInMemoryStore()
  const lines = await linesOf(await filled(createInMemoryStore()))
  const alone = lines.filter((line) => !line.includes('lonely'))
  const result = await importInto(target, alone, { owner: owner('grace') })
  expect(result).toMatchObject({ imported: 6, skipped: 1, failed: 0 })
  expect(result.skips).toEqual([
    { line: expect.any(Number), message: expect.stringContaining('nothing') },
  ])
  const [, ...moved] = await linesOf(target)
  expect(moved.join('\n')).not.toMatch(/"ada"|"bob"|auditDays/)
  expect(await target.get('entry', SYSTEM, settingEntryId(owner('grace')))).toMatchObject({
    about: 'grace',
    body: { 'recall.limit': 3 },
  })
})

it('[PO12] reads exports of version 1', async () => {
  const target = createInMemoryStore()
  const row = memory({ content: 'from before' })
  const lines = [
    '{"format":"recollect-export","version":1,"exportedAt":1}',
    JSON.stringify({ table: 'memory', row }),
  ]
  expect(await importInto(target, lines)).toMatchObject({ imported: 1, failed: 0 })
  expect(await target.get('memory', ADA, row.id)).toEqual(row)
})

it('[PO17] no file can write an entry among the keys, or settings at the wrong level', async () => {
  const target = createInMemoryStore()
  const [header = ''] = await linesOf(target)
  const entry = (fields: object) =>
    JSON.stringify({
      table: 'entry',
      row: { kind: 'setting', about: null, at: 1, version: 1, body: {}, ...fields },
    })
  const bad = [
    entry({ kind: 'key', id: 'key_1', body: { hash: 'x' } }),
    entry({ kind: 'audit' }),
    entry({ about: '@system' }),
    entry({ about: 'ada', body: { 'retention.auditDays': 7 } }),
    entry({ body: { noSuchSetting: 1 } }),
    entry({ body: { 'retention.auditDays': 'many' } }),
    entry({ body: null }),
    JSON.stringify({ table: 'constructor', row: {} }),
    JSON.stringify({
      table: 'turn',
      row: { ...JSON.parse('{}'), id: 'turn_1', place: SYSTEM, version: 1 },
    }),
  ]
  expect(await importInto(target, [header, ...bad])).toMatchObject({
    imported: 0,
    failed: bad.length,
  })
  // Whatever id and place it claims, it goes where the settings of its owner are.
  await importInto(target, [header, entry({ id: 'key_1', place: { owner: 'ada' } })])
  expect(await target.get('entry', SYSTEM, 'key_1' as never)).toBeNull()
  expect(await target.get('entry', SYSTEM, settingEntryId(null))).not.toBeNull()
})

const name = fc.constantFrom('ada', 'bob', 'carol')
const text = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 30 })
  .filter((value) => value.trim() !== '')
const when = fc.integer({ min: 0, max: 2 ** 40 })
const anyPlace = fc.record({
  owner: name,
  user: fc.option(name),
  session: fc.option(fc.constantFrom('s1', 's2')),
})
const anyMemory = fc.record({
  place: anyPlace,
  content: text,
  metadata: fc.dictionary(text, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 3 }),
  entities: fc.array(text, { maxLength: 3 }),
  pinned: fc.boolean(),
  importance: fc.integer({ min: 1, max: 10 }),
  // The driver of SQLite takes what is smaller than 1e-15 for 0.
  salience: fc.integer({ min: 0, max: 1_000_000 }).map((millionths) => millionths / 1_000_000),
  expiresAt: fc.option(when),
  createdAt: when,
  useCount: fc.nat(9),
  versions: fc.integer({ min: 1, max: 3 }),
})
const anyTurn = fc.record({
  place: anyPlace,
  content: text,
  role: fc.constantFrom('user', 'assistant', 'system', 'tool'),
  speaker: fc.option(text),
  position: fc.nat(99),
  saidAt: when,
  disabled: fc.boolean(),
})
const anyStore = fc.record({
  memories: fc.array(anyMemory, { maxLength: 8 }),
  turns: fc.array(anyTurn, { maxLength: 8 }),
  settings: fc.uniqueArray(fc.option(name), { maxLength: 3 }),
})

type Contents = typeof anyStore extends fc.Arbitrary<infer Value> ? Value : never

function changesFor({ memories, turns, settings }: Contents): readonly Change[] {
  return [
    ...memories.flatMap(({ versions, ...fields }, index) => {
      const now = memory({
        ...(fields as object), // plain values, made above
        id: memoryId(index),
        version: versions,
      })
      const past = Array.from({ length: versions - 1 }, (_, version) =>
        put({ table: 'revision', row: revision({ ...now, version: version + 1 }) }),
      )
      return [put({ table: 'memory', row: now }), ...past]
    }),
    ...turns.map((fields, index) =>
      put({ table: 'turn', row: { ...fields, id: `turn_${index}`, version: 1 } }),
    ),
    ...settings.map((about) => setting(about, { 'recall.limit': 5 })),
  ]
}

const server = await startPglite()
afterAll(() => server.stop())

describe.each([
  ['reference to reference', openReference, openReference, 60],
  ['sqlite to sqlite', openSqlite, openSqlite, 30],
  ['sqlite to reference', openSqlite, openReference, 15],
  ['postgres to sqlite', () => openFreshStore(server.url, { poolSize: 1 }), openSqlite, 4],
] as const)('%s', (_, openSource, openTarget, runs) => {
  it('[PO13] any store is equal after export and import, in the same order', async () => {
    await fc.assert(
      fc.asyncProperty(anyStore, async (contents) => {
        const [source, target] = [await openSource(), await openTarget()]
        try {
          expect(await source.commit(changesFor(contents))).toEqual({ kind: 'committed' })
          const lines = await linesOf(source)
          expect(await importInto(target, lines)).toMatchObject({
            imported: lines.length - 1,
            failed: 0,
          })
          expect(parsed(await linesOf(target))).toEqual(parsed(lines))
        } finally {
          await Promise.all([source.close(), target.close()])
        }
      }),
      { numRuns: runs },
    )
  })
})
