/** Copies from one owner to another in the same store, and files made to harm: nothing of others changes or is told. */
import { describe, expect, it } from 'vitest'
import { createIdGenerator } from '../../src/app/id-generator.ts'
import type { MemoryId } from '../../src/domain/ids.ts'
import type { Memory } from '../../src/domain/memory.ts'
import { parseScope } from '../../src/domain/scope.ts'
import { createEngineWith, type Engine } from '../../src/engine/engine.ts'
import { deriveId } from '../../src/portability/id-mapping.ts'
import { importRecords } from '../../src/portability/record-import.ts'
import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import type { Change, Store } from '../../src/storage/store.ts'
import { countingIds, FakeClock } from '../fakes/clock.ts'
import {
  ADA as AT_ADA,
  BOB as AT_BOB,
  instant,
  memory,
  owner,
  revision,
} from '../fakes/memories.ts'
import { openEngine } from '../memory/memories.suite.ts'

const ADA = { owner: 'ada' }
const CAROL = { owner: 'carol' }
const HEADER = JSON.stringify({ format: 'recollect-export', version: 2 })
const INSTANT_MAX = 8_640_000_000_000_000

async function* from(lines: readonly string[]) {
  yield* lines
}
const linesOf = async (engine: Engine, scope: { owner: string } | null = null) => {
  const lines: string[] = []
  for await (const line of engine.admin.export(scope)) lines.push(line)
  return lines
}

/** Everything but the header, which tells the time. */
const rowsOf = async (engine: Engine, scope: { owner: string } | null = null) =>
  (await linesOf(engine, scope)).slice(1)
const line = (table: string, row: object) => JSON.stringify({ table, row })
const turnRow = (fields: object = {}) => ({
  id: 'turn_000001',
  place: AT_ADA,
  version: 1,
  role: 'user',
  speaker: null,
  content: 'said',
  position: 0,
  saidAt: 5,
  disabled: false,
  ...fields,
})
const contentsOf = async (engine: Engine, scope: { owner: string }) => {
  const { rows } = await engine.list(scope, { statuses: ['active', 'superseded', 'forgotten'] })
  return rows.map(({ content, status }) => `${content} (${status})`)
}
const contentOf = async (engine: Engine, scope: { owner: string }, id: string | null | undefined) =>
  (await engine.get(scope, id ?? ''))?.content
const found = async (engine: Engine, content: string) => {
  const { rows } = await engine.list(CAROL, { statuses: ['active', 'superseded', 'forgotten'] })
  return rows.find((row) => row.content === content)
}

describe.each([
  ['reference', async () => createInMemoryStore()],
  ['sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now })],
] as const)('%s', (_, open) => {
  /** Ada has a history, a chain, turns, settings and something in the bin; Bob is a bystander. */
  async function opened() {
    const { store, clock } = await openEngine(async () => open())
    const drawn = createIdGenerator()
    const engine = createEngineWith({ store, clock, ids: drawn, settings: {} })
    const turns = [0, 1].map((position) =>
      turnRow({ id: drawn.next('turn', clock.now()), position, content: `turn ${position}` }),
    )
    await store.commit(
      turns.map((row) => ({ op: 'put', table: 'turn', row, expect: 'absent' }) as Change), // made above
    )
    const first = await engine.remember(ADA, {
      content: 'The sky is blue',
      key: 'sky',
      provenance: { turns: [turns[0]?.id, 'message 7'] as never },
    })
    clock.advance(1_000)
    const edited = await engine.edit(ADA, first.memory.id, { content: 'The sky is grey' })
    const liked = await engine.remember(ADA, { content: 'I like Python' })
    clock.advance(1_000)
    await engine.remember(ADA, { content: "I don't like Python" })
    const binned = await engine.remember({ ...ADA, user: 'eve' }, { content: 'in the bin' })
    await engine.forget(ADA, binned.memory.id)
    await engine.admin.settings.change(owner('ada'), { 'recall.limit': 3 })
    await engine.remember({ owner: 'bob' }, { content: 'of bob', key: 'sky' })
    return { engine, store, clock, turns, first: first.memory, edited, liked: liked.memory }
  }

  it('[PO31] an owner is copied to another in the same store, with all that belongs together', async () => {
    const { engine, store, turns, first, edited, liked } = await opened()
    const before = await rowsOf(engine)
    const lines = await linesOf(engine, ADA)
    const result = await engine.admin.import(from(lines), CAROL)
    expect(result).toMatchObject({ updated: 0, failed: 0, failures: [] })
    expect(await contentsOf(engine, CAROL)).toEqual(await contentsOf(engine, ADA))
    expect((await rowsOf(engine)).filter((row) => !row.includes('"carol"'))).toEqual(before)
    const copied = (await rowsOf(engine, CAROL)).join('\n')
    for (const { id } of [first, liked, ...turns]) expect(copied).not.toContain(id)

    const sky = await found(engine, 'The sky is grey')
    expect(sky).toMatchObject({ key: 'sky', version: 2, createdAt: first.createdAt })
    expect(sky?.id.slice(0, 14)).toBe(first.id.slice(0, 14))
    expect(sky?.id).toMatch(/^mem_[0-9a-hjkmnp-tv-z]{22}$/)
    const history = await engine.memories.history(CAROL, sky?.id ?? '')
    expect(history.map((entry) => entry.memory.content)).toEqual([
      'The sky is grey',
      'The sky is blue',
    ])
    const { rows: said } = await store.find('turn', parseScope(CAROL), { where: {}, limit: 9 })
    expect(said.map(({ content }) => content)).toEqual(['turn 1', 'turn 0'])
    expect(sky?.provenance.turns).toEqual([said[1]?.id, 'message 7'])
    const old = await found(engine, 'I like Python')
    expect(old?.status).toBe('superseded')
    expect(await contentOf(engine, CAROL, old?.supersededBy)).toBe("I don't like Python")
    expect(await engine.admin.settings.resolve(owner('carol'))).toMatchObject({ 'recall.limit': 3 })

    expect(sky?.change).not.toBe(edited.change)
    await engine.undo(CAROL, sky?.change ?? '')
    expect(await contentOf(engine, CAROL, sky?.id)).toBe('The sky is blue')
    expect((await rowsOf(engine)).filter((row) => !row.includes('"carol"'))).toEqual(before)
  })

  it('[PO31] copying again only brings new rows', async () => {
    const { engine, first } = await opened()
    const lines = await linesOf(engine, ADA)
    await engine.admin.import(from(lines), CAROL)
    const copied = await rowsOf(engine)
    expect(await engine.admin.import(from(lines), CAROL)).toMatchObject({
      imported: 0,
      updated: 0,
      skipped: lines.length - 1,
      failed: 0,
    })
    expect(await rowsOf(engine)).toEqual(copied)
    await engine.edit(ADA, first.id, { content: 'The sky is clear' })
    const later = await engine.admin.import(from(await linesOf(engine, ADA)), CAROL)
    expect(later).toMatchObject({ imported: 1, updated: 1, failed: 0 })
    expect((await found(engine, 'The sky is clear'))?.version).toBe(3)
  })

  it('[PO31] a copy of a copy is another copy, and a copy imported again is none', async () => {
    const { engine } = await opened()
    await engine.admin.import(from(await linesOf(engine, ADA)), CAROL)
    const carol = await rowsOf(engine, CAROL)
    expect(await contentsOf(engine, CAROL)).toHaveLength(4)
    await engine.admin.import(from(await linesOf(engine, CAROL)), { owner: 'dave' })
    expect(await contentsOf(engine, { owner: 'dave' })).toEqual(await contentsOf(engine, CAROL))
    const own = (await linesOf(engine)).filter((each) => !/"(?:bob|dave|ada)"/.test(each))
    const again = await engine.admin.import(from(own), CAROL)
    expect(again).toMatchObject({ imported: 0, updated: 0, failed: 0 })
    expect(await rowsOf(engine, CAROL)).toEqual(carol)
  })

  it('[PO32] rows of the same owner come back under their own ids, with tombstones', async () => {
    const { engine } = await opened()
    const { engine: empty } = await openEngine(async () => open())
    const lines = await linesOf(engine, ADA)
    const result = await empty.admin.import(from(lines), ADA)
    expect(result).toMatchObject({ imported: lines.length - 1, failed: 0 })
    const parsed = (rows: readonly string[]): unknown[] => rows.map((row) => JSON.parse(row))
    expect(parsed(await rowsOf(empty, ADA))).toEqual(parsed(lines.slice(1)))
    expect(lines.some((each) => each.startsWith('{"table":"tombstone"'))).toBe(true)
  })

  it('[PO33] foreign ids are remapped wherever a file names them, without revealing it', async () => {
    const { engine, first, liked, turns } = await opened()
    const before = await rowsOf(engine)
    const at = { ...AT_BOB, owner: owner('mallory') }
    const forged = (fields: Partial<Memory>) => memory({ ...fields, place: at })
    const one = forged({ id: first.id, supersededBy: liked.id, status: 'superseded', version: 9 })
    const two = forged({
      id: liked.id,
      conflictsWith: first.id,
      provenance: { ...one.provenance, turns: [turns[0]?.id] as never },
    })
    const lines = [
      HEADER,
      line('memory', one),
      line('memory', two),
      line('revision', revision({ ...one, version: 8 })),
      line('turn', turnRow({ id: turns[0]?.id, place: at })),
    ]
    const mallory = { owner: 'mallory' }
    const result = await engine.admin.import(from(lines), mallory)
    expect(result).toMatchObject({ imported: 4, failed: 0 })
    expect((await rowsOf(engine)).filter((row) => !row.includes('"mallory"'))).toEqual(before)
    const { rows } = await engine.list(mallory, { statuses: ['active', 'superseded'] })
    const [chained, newer] = [one, two].map(({ content }) =>
      rows.find((row) => row.content === content),
    )
    expect(chained?.supersededBy).toBe(newer?.id)
    expect(newer?.conflictsWith).toBe(chained?.id)
    expect(await engine.memories.history(mallory, chained?.id ?? '')).toHaveLength(2)
    const taken = (await rowsOf(engine, mallory)).join('\n')
    for (const { id } of [first, liked, ...turns]) expect(taken).not.toContain(`"${id}"`)
    const after = await rowsOf(engine)
    expect(await engine.admin.import(from(lines), mallory)).toMatchObject({
      imported: 0,
      skipped: 4,
    })
    expect(await rowsOf(engine)).toEqual(after)
  })

  it('[PO33] an id of another user of the owner is remapped as well, even within one file', async () => {
    const { engine } = await openEngine(async () => open())
    const [eve, bob] = ['eve', 'bob'].map((user) =>
      memory({ id: 'mem_same' as MemoryId, place: { ...AT_ADA, user: user as never } }),
    )
    const lines = [HEADER, line('memory', eve ?? {}), line('memory', bob ?? {})]
    expect(await engine.admin.import(from(lines))).toMatchObject({ imported: 2, failed: 0 })
    const after = await rowsOf(engine)
    expect(await engine.admin.import(from(lines))).toMatchObject({
      ...{ imported: 0, skipped: 2, failed: 0 },
      skips: [{ line: 2, message: expect.stringContaining('already stored') }, { line: 3 }],
    })
    expect(await rowsOf(engine)).toEqual(after)
  })

  it('[PO33] when even the derived ids are taken, the message reveals nothing', async () => {
    const { engine, first } = await opened()
    const mallory = owner('mallory')
    let id = deriveId(mallory, first.id)
    const squatters: string[] = []
    for (let n = 0; n < 5; n++) {
      squatters.push(line('memory', memory({ id, place: AT_BOB })))
      id = deriveId(mallory, id)
    }
    await engine.admin.import(from([HEADER, ...squatters]))
    const before = await rowsOf(engine)
    const forged = memory({ id: first.id, place: { ...AT_BOB, owner: mallory } })
    const result = await engine.admin.import(from([HEADER, line('memory', forged)]))
    expect(result).toMatchObject({ imported: 0, failed: 1 })
    expect(result.failures[0]?.message).toBe(
      'The row conflicts with existing data and cannot be imported.',
    )
    expect(await rowsOf(engine)).toEqual(before)
  })

  it('[PO33] foreign records whose ids are taken elsewhere are imported all the same', async () => {
    const record = (n: number) => ({
      ...({
        kind: 'memory',
        system: 'mem0',
        at: 1,
        name: `n${n}`,
        content: `record ${n}`,
      } as const),
      earlier: [{ content: 'before', since: instant(1) }],
    })
    const said = {
      kind: 'turn',
      system: 'claude',
      at: 2,
      name: 't',
      session: 's',
      role: 'user',
      content: 'said',
      position: 0,
      saidAt: instant(9),
    } as const
    const take = (store: Store) =>
      importRecords(
        { store, clock: new FakeClock(), ids: countingIds(), settings: {} },
        parseScope(ADA),
        [record(1), said],
      )
    const source = await openEngine(async () => open())
    await take(source.store)
    const squatted = (await linesOf(source.engine)).map((each) => each.replaceAll('"ada"', '"bob"'))
    const { engine, store } = await openEngine(async () => open())
    await engine.admin.import(from(squatted))
    const before = await rowsOf(engine)
    expect(await take(store)).toMatchObject({ imported: 2, failed: 0 })
    expect((await rowsOf(engine)).filter((row) => row.includes('"bob"'))).toEqual(before)
    const [row] = (await engine.list(ADA)).rows
    expect(await engine.memories.history(ADA, row?.id ?? '')).toHaveLength(2)
    expect(await take(store)).toMatchObject({ imported: 0, skipped: 2, failed: 0 })
  })

  it('[PO34] revisions need their memory, and the message is the same wherever that is', async () => {
    const { engine } = await openEngine(async () => open())
    const { memory: first } = await engine.remember(ADA, { content: 'of ada' })
    const before = await rowsOf(engine)
    const place = { ...AT_ADA, owner: owner('mallory') }
    const lone = [first.id, 'mem_nobodys'].map((id) =>
      line('revision', revision(memory({ id: id as MemoryId, place }))),
    )
    const result = await engine.admin.import(from([HEADER, ...lone]), { owner: 'mallory' })
    expect(result).toMatchObject({ imported: 0, failed: 2 })
    expect(new Set(result.failures.map(({ message }) => message)).size).toBe(1)
    const otherUser = revision({ ...first, place: { ...first.place, user: 'eve' as never } })
    expect(await engine.admin.import(from([HEADER, line('revision', otherUser)]))).toMatchObject({
      failed: 1,
    })
    expect(await rowsOf(engine)).toEqual(before)
  })

  it('[PO34] revisions are refused with their memory in the same file', async () => {
    const { engine } = await opened()
    const rival = memory({ key: 'sky' })
    const result = await engine.admin.import(
      from([HEADER, line('memory', rival), line('revision', revision(rival))]),
    )
    expect(result).toMatchObject({ imported: 0, failed: 2 })
    expect(result.failures[0]?.message).toContain('same key')
  })

  it('[PO30] refuses numbers and times out of range in every table, and everything can still be erased', async () => {
    const { engine } = await openEngine(async () => open())
    const fine = memory({
      version: 2 ** 31 - 1,
      useCount: 2 ** 31 - 1,
      createdAt: instant(-INSTANT_MAX),
    })
    const setting = {
      kind: 'setting',
      about: 'ada',
      at: 1,
      version: 1,
      body: { 'recall.limit': 5 },
    }
    const tombstone = { id: 'tmb_1', place: AT_ADA, version: 1, forgottenAt: 1 }
    const counts = [Number.MAX_SAFE_INTEGER, 2 ** 31, 2 ** 53, -1, 1.5]
    const times = [INSTANT_MAX + 1, -INSTANT_MAX - 1, 1.5]
    const spoilt = (field: string, values: readonly number[], make: (fields: object) => string) =>
      values.map((value) => make({ [field]: value }))
    const ofMemory = (fields: object) => line('memory', { ...memory(), ...fields })
    const ofPast = (fields: object) =>
      line('revision', { ...revision(fine), memory: { ...fine, ...fields } })
    const bad = [
      ...['version', 'useCount', 'sourceCount'].flatMap((field) => [
        ...spoilt(field, counts, ofMemory),
        ...spoilt(field, counts, ofPast),
      ]),
      ...['createdAt', 'updatedAt', 'lastUsedAt', 'validFrom', 'validUntil', 'expiresAt'].flatMap(
        (field) => [...spoilt(field, times, ofMemory), ...spoilt(field, times, ofPast)],
      ),
      ...spoilt('replacedAt', times, (f) => line('revision', { ...revision(fine), ...f })),
      ...spoilt('version', counts, (f) => line('tombstone', { ...tombstone, ...f })),
      ...spoilt('forgottenAt', times, (f) => line('tombstone', { ...tombstone, ...f })),
      ...spoilt('version', counts, (f) => line('turn', turnRow(f))),
      ...spoilt('position', counts, (f) => line('turn', turnRow(f))),
      ...spoilt('saidAt', times, (f) => line('turn', turnRow(f))),
      ...spoilt('version', counts, (f) => line('entry', { ...setting, ...f })),
      ...spoilt('at', times, (f) => line('entry', { ...setting, ...f })),
    ]
    const result = await engine.admin.import(from([HEADER, line('memory', fine), ...bad]))
    expect(result).toMatchObject({ imported: 1, failed: bad.length })
    await engine.edit(ADA, fine.id, { content: 'changed' })
    await engine.memories.recordUse(ADA, [fine.id])
    expect(await engine.admin.checkIntegrity()).toEqual([])
    for (const row of (await engine.list(ADA)).rows) new Date(row.createdAt).toISOString()
    expect((await engine.admin.eraseOwner('ada')).rows).toMatchObject({ memory: 1, revision: 1 })
  })
})

it('[PO31] derived ids keep their order, prefix and number', () => {
  const carol = owner('carol')
  const ids = createIdGenerator()
  const drawn = Array.from({ length: 50 }, () => ids.next('turn', instant(1_700_000_000_000)))
  const derived = drawn.map((id) => deriveId(carol, id))
  expect([...derived].sort()).toEqual(derived)
  expect(new Set([...derived, ...drawn]).size).toBe(100)
  for (const id of derived) expect(id).toMatch(/^turn_[0-9a-hjkmnp-tv-z]{22}$/)
  expect(deriveId(owner('dave'), drawn[0] ?? '')).not.toBe(derived[0])
  const numbered = ['0000', '0001', '0002'].map((n) => deriveId(carol, `rev_${'a'.repeat(22)}${n}`))
  expect([...numbered].sort()).toEqual(numbered)
})
