/** Erasure leaves no byte of names or words in any file of the data folder, and in no table of PostgreSQL. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { createEngine } from '../../src/app/composition.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { runSql, startPglite } from '../support/postgres-servers.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const CANARIES = ['canary-owner', 'zoe.canary@example.com', 'canary-session', 'xyzzyplugh']

function findTraces(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((name) => {
    const path = join(folder, name)
    if (!statSync(path).isFile()) return []
    const bytes = readFileSync(path)
    return CANARIES.filter((canary) => bytes.includes(canary)).map((canary) => `${name}: ${canary}`)
  })
}

const OWNER = 'canary-owner'
const ZOE = { owner: OWNER, user: 'zoe.canary@example.com' }

/** Another owner, so that pages and indexes are shared. */
async function fill(engine: Engine): Promise<void> {
  for (let n = 0; n < 40; n++) {
    await engine.remember({ owner: 'berta', user: 'carl' }, { content: `Lighthouse number ${n}` })
    await engine.remember(ZOE, { content: `The xyzzyplugh number ${n} of Zoe is broken` })
  }
  await engine.learning.ingest({
    ...ZOE,
    conversation: 'canary-session',
    turns: [{ user: 'My xyzzyplugh is at the repair shop.', assistant: 'A xyzzyplugh, I see.' }],
  })
  await engine.remember({ ...ZOE, session: 'canary-session' }, { content: 'I own one xyzzyplugh' })
  const { memories } = await engine.recall(ZOE, { text: 'Where is my xyzzyplugh?' })
  expect(memories.length).toBeGreaterThan(0)
}

it('[SY11] erasing an owner leaves no trace of its names and words in any file', async () => {
  const folder = temporaryFolder()
  const engine = await createEngine({
    path: join(folder, 'memory.db'),
    embedding: { source: 'static' },
  })
  await fill(engine)
  expect(findTraces(folder)).not.toEqual([])
  await engine.admin.eraseOwner(OWNER)
  expect(findTraces(folder)).toEqual([])
  const places = await engine.admin.listPlaces()
  expect(places.map(({ owner }) => owner)).toEqual(['berta'])
  await engine.remember(ZOE, { content: 'I am back with a new xyzzyplugh' })
  expect((await engine.list(ZOE)).rows.map(({ content }) => content)).toEqual([
    'I am back with a new xyzzyplugh',
  ])
  await engine.close()
})

it('[SY11] a second process that knew the owner writes to the right place afterwards', async () => {
  const path = join(temporaryFolder(), 'memory.db')
  const open = () => createEngine({ path, embedding: { source: 'none' } })
  const [first, second] = [await open(), await open()]
  await second.remember(ZOE, { content: 'The xyzzyplugh is mine' })
  await first.admin.eraseOwner(OWNER)
  await second.remember(ZOE, { content: 'A new beginning' })
  for (const engine of [first, second]) {
    expect((await engine.list(ZOE)).rows.map(({ content }) => content)).toEqual(['A new beginning'])
  }
  await first.close()
  await second.close()
})

const server = await startPglite()
afterAll(() => server.stop())

async function findTracesInTables(url: string): Promise<readonly string[]> {
  const tables = await runSql<{ name: string }>(
    url,
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
     WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
  )
  const found: string[] = []
  for (const { name } of tables) {
    for (const { text } of await runSql<{ text: string }>(
      url,
      `SELECT t::text AS text FROM ${name} AS t`,
    )) {
      found.push(
        ...CANARIES.filter((each) => text.includes(each)).map((each) => `${name}: ${each}`),
      )
    }
  }
  return found
}

it('[SY11] erasing an owner leaves no trace in any table of PostgreSQL', async () => {
  const open = () =>
    createEngine({
      postgres: server.url,
      postgresOptions: { poolSize: 1 },
      embedding: { source: 'static' },
    })
  const filled = await open()
  await fill(filled)
  await filled.close()
  expect(await findTracesInTables(server.url)).not.toEqual([])
  const engine = await open()
  await engine.admin.eraseOwner(OWNER)
  expect((await engine.admin.listPlaces()).map(({ owner }) => owner)).toEqual(['berta'])
  await engine.close()
  expect(await findTracesInTables(server.url)).toEqual([])
})
