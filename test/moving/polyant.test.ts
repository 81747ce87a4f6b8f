/** Moving in from Polyant: its PostgreSQL database and saved pages of its REST API. */
import { expect, it, onTestFinished } from 'vitest'
import { createCli } from '../e2e/cli/cli-host.ts'
import { runSql, startPglite } from '../support/postgres-servers.ts'
import { createJson, openHouse } from './moving-support.ts'

const FIRST = '3d6f4f0e-1f65-4d0a-9c8e-0a1b2c3d4e51'
const SECOND = '3d6f4f0e-1f65-4d0a-9c8e-0a1b2c3d4e52'
/** The described table; its vector column is text where pgvector is not installed. */
const SCHEMA = `
  CREATE TABLE memories (id uuid PRIMARY KEY, instance_id text NOT NULL, content text NOT NULL,
    category text NOT NULL DEFAULT 'general', importance integer NOT NULL DEFAULT 5, source_conversation_id uuid,
    embedding text NOT NULL, created_at timestamptz NOT NULL DEFAULT now(), updated_at timestamptz NOT NULL DEFAULT now())`
const ROWS = `INSERT INTO memories VALUES
  ('${FIRST}', 'support-bot', 'Alice prefers tables.', 'preference', 8, NULL, '[0.1]', '2026-05-01T10:00:00Z', '2026-05-02T10:00:00Z'),
  ('${SECOND}', 'sales-bot', 'Demo with Acme in May.', 'event', 5, NULL, '[0.2]', '2026-05-01T10:00:00Z', '2026-05-01T10:00:00Z')`

it('[PO48] Polyant: memories are read from its PostgreSQL database, read-only', async () => {
  const server = await startPglite()
  if (server.kind !== 'server') throw new Error('PGlite always starts.')
  onTestFinished(() => server.stop())
  await runSql(server.url, SCHEMA)
  await runSql(server.url, ROWS)
  const cli = createCli()
  const from = ['--from', 'polyant-postgres', '--json']
  const { json } = await cli(['import', server.url, ...from])
  expect(json).toMatchObject({ imported: 2, failed: 0, owners: ['sales-bot', 'support-bot'] })
  const again = await cli(['import', server.url, ...from])
  expect(again.json).toMatchObject({ imported: 0, skipped: 2 })
  const { json: list } = await cli(['list', '--owner', 'support-bot', '--json'])
  expect(list.data).toMatchObject([
    { content: 'Alice prefers tables.', category: 'preference', importance: 8 },
  ])
})

const page = (offset: number, memory: object) => ({
  total: 2,
  limit: 1,
  offset,
  memories: [memory],
})
const common = {
  sourceConversationId: null,
  createdAt: '2026-05-01T10:00:00Z',
  updatedAt: '2026-05-01T10:00:00Z',
}
const PAGES = [
  page(0, {
    id: FIRST,
    instanceId: 'support-bot',
    content: 'Alice prefers tables.',
    category: 'preference',
    importance: 8,
    ...common,
  }),
  page(1, {
    id: SECOND,
    instanceId: 'sales-bot',
    content: 'Demo with Acme.',
    category: 'anything',
    importance: 5,
    ...common,
  }),
]

it('[PO48] Polyant: saved pages of `GET /memories` are imported', async () => {
  const { json } = await createCli()(['import', createJson('pages.json', PAGES), '--json'])
  expect(json).toMatchObject({
    format: 'polyant',
    imported: 2,
    owners: ['sales-bot', 'support-bot'],
  })
})

it('[PO54] Polyant: `GET /memories?instanceId=` lists imported memories with category and importance', async () => {
  const house = await openHouse()
  onTestFinished(() => house.close())
  const cli = await house.cli()
  await cli(['import', createJson('pages.json', PAGES)])
  const { body } = await house.client.get('/memories?instanceId=support-bot&limit=20&offset=0')
  expect(body).toMatchObject({
    ...{ total: 1, limit: 20, offset: 0 },
    memories: [{ instanceId: 'support-bot', category: 'preference', importance: 8 }],
  })
  expect((await house.client.get('/memories')).status).toBe(400)
})
