import { existsSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Engine } from '../../src/engine/engine.ts'
import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import { COMMITTED, create } from '../conformance/store/store.suite.ts'
import { memory } from '../fakes/memories.ts'
import { openEngine } from '../memory/memories.suite.ts'

const ADA = { owner: 'ada' }
const NAUGHTY_STRINGS = '../shared/evals/adversarial/naughty-strings.json'

const lines = async (engine: Engine) => {
  const all: string[] = []
  for await (const line of engine.admin.export(null)) all.push(line)
  return all
}
async function* from(list: readonly string[]) {
  yield* list
}
/** Everything but the header, which tells the time. */
const rows = async (engine: Engine): Promise<unknown[]> =>
  (await lines(engine)).slice(1).map((line) => JSON.parse(line))

const openReference = async () => createInMemoryStore()
const openSqlite = () => openSqliteStore({ path: ':memory:', now: Date.now })

describe.each([
  ['reference to sqlite', openReference, openSqlite],
  ['sqlite to reference', openSqlite, openReference],
  ['sqlite to sqlite', openSqlite, openSqlite],
] as const)('%s', (_, openSource, openTarget) => {
  it('[PO1] an export round-trips completely: revisions, tombstones, every owner and user', async () => {
    const { engine: source, clock } = await openEngine(openSource)
    const { engine: target } = await openEngine(openTarget)
    const { memory } = await source.remember(ADA, {
      content: 'one',
      key: 'k',
      metadata: { a: [1] },
    })
    await source.remember(ADA, { content: 'two', key: 'k' })
    await source.remember({ owner: 'ada', user: 'eve', session: 's' }, { content: 'of eve' })
    await source.remember({ owner: 'bob' }, { content: 'of bob' })
    await source.forget(ADA, memory.id)
    const gone = await source.remember({ owner: 'carol' }, { content: 'only a tombstone stays' })
    await source.memories.erase({ owner: 'carol' }, gone.memory.id)
    const exported = await lines(source)
    const result = await target.admin.import(from(exported))
    expect(result).toMatchObject({ imported: exported.length - 1, failed: 0 })
    expect(await rows(target)).toEqual(await rows(source))
    const again = await target.admin.import(from(exported))
    expect(again).toMatchObject({ imported: 0, updated: 0, skipped: exported.length - 1 })
    clock.advance(1)
    await source.restore(ADA, memory.id)
    expect(await target.admin.import(from(await lines(source)))).toMatchObject({
      updated: 1,
      failed: 0,
    })
    expect(await target.get(ADA, memory.id)).toEqual(await source.get(ADA, memory.id))
  })

  it.skipIf(!existsSync(NAUGHTY_STRINGS))(
    '[PO1] any text makes the round trip unchanged (skipped where the public list is not)',
    async () => {
      const { engine: source, store } = await openEngine(openSource)
      const { engine: target } = await openEngine(openTarget)
      const naughty = JSON.parse(readFileSync(NAUGHTY_STRINGS, 'utf8')) as string[] // see its README
      const texts = naughty.filter((text) => text.trim() !== '')
      const all = texts.map((content) => memory({ content, metadata: { content } }))
      expect(await store.commit(all.map(create))).toEqual(COMMITTED)
      await target.admin.import(from(await lines(source)))
      expect(await rows(target)).toEqual(await rows(source))
    },
  )
})

describe.each([
  ['reference', openReference],
  ['sqlite', openSqlite],
] as const)('%s', (_, open) => {
  it('[PO1] ten thousand random texts make the round trip unchanged', async () => {
    const { engine: source, store } = await openEngine(open)
    const { engine: target } = await openEngine(open)
    const texts = fc
      .sample(fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }), 10_000)
      .filter((text) => text.trim() !== '')
    const all = texts.map((content) => memory({ content, metadata: { [content]: content } }))
    for (let start = 0; start < all.length; start += 1_000) {
      await store.commit(all.slice(start, start + 1_000).map(create))
    }
    const result = await target.admin.import(from(await lines(source)))
    expect(result).toMatchObject({ imported: texts.length, failed: 0 })
    expect(await rows(target)).toEqual(await rows(source))
  })
})

describe('import', () => {
  const exported = async () => {
    const { engine } = await openEngine(openReference)
    await engine.remember(ADA, { content: 'fine' })
    return lines(engine)
  }

  it('[PO2] reports every invalid line and imports the others', async () => {
    const { engine } = await openEngine(openSqlite)
    const [header = '', row = ''] = await exported()
    const bad = [
      'not json',
      '[]',
      '{"table":"user","row":{}}',
      '{"table":"memory"}',
      row.replace('"importance":5', '"importance":50'),
      row.replace('"content":"fine"', '"content":" "'),
      row.replace('"version":1', '"version":0'),
      row.replace('"status":"active"', '"status":"gone"'),
      row.replace('"mem_', '"other_'),
      row.replace('"importance":5', '"importance":5,"extra":1'),
      row.replace('"key":null,', ''),
    ]
    const result = await engine.admin.import(from([header, ...bad, row, '']))
    expect(result).toMatchObject({ imported: 1, failed: bad.length })
    expect(result.failures.map(({ line }) => line)).toEqual(bad.map((_, index) => index + 2))
    for (const { message } of result.failures) expect(message).not.toContain('fine')
  })

  it('[PO2] refuses other files and exports of a newer version', async () => {
    const { engine } = await openEngine(openSqlite)
    const attempt = (...list: string[]) => expect(engine.admin.import(from(list))).rejects
    await attempt().toMatchObject({ code: 'invalid_input' })
    await attempt('hello').toMatchObject({ code: 'invalid_input' })
    await attempt('{"some":"json"}').toThrow('header')
    await attempt('', '{"some":"json"}').toThrow('header')
    await attempt('', ' ').toMatchObject({ code: 'invalid_input' })
    await attempt('{"format":"recollect-export","version":3}').toThrow('version 3')
  })

  it('[PO3] never takes a row over from another owner', async () => {
    const { engine } = await openEngine(openSqlite)
    const list = await exported()
    await engine.admin.import(from(list))
    const before = await rows(engine)
    const stolen = list.map((line) => line.replaceAll('"owner":"ada"', '"owner":"mallory"'))
    expect(await engine.admin.import(from(stolen))).toMatchObject({ imported: 1, failed: 0 })
    expect((await rows(engine)).slice(0, before.length)).toEqual(before)
    const [copy] = (await engine.list({ owner: 'mallory' })).rows
    expect(copy?.content).toBe('fine')
    expect(await engine.get(ADA, copy?.id ?? '')).toBeNull()
  })

  it('[PO4] does not restore memories that were erased since the export', async () => {
    const { engine, clock } = await openEngine(openSqlite)
    const { memory } = await engine.remember(ADA, { content: 'secret' })
    await engine.edit(ADA, memory.id, { content: 'more secret' })
    const stored = await engine.remember(ADA, { content: 'kept' })
    const list = await lines(engine)
    clock.advance(1)
    await engine.memories.erase(ADA, memory.id)
    const result = await engine.admin.import(from(list))
    expect(result).toMatchObject({ imported: 0, skipped: 1, failed: 2 })
    expect(result.failures[0]?.message).toContain('forgotten')
    expect((await engine.list(ADA)).rows.map((row) => row.id)).toEqual([stored.memory.id])
  })

  it('[PO3] can assign everything to another owner', async () => {
    const { engine } = await openEngine(openSqlite)
    await engine.admin.import(from(await exported()), { owner: 'grace' })
    expect((await engine.list({ owner: 'grace' })).rows).toMatchObject([{ content: 'fine' }])
  })
})
