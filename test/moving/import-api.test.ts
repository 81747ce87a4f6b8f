/** Imports over REST, dry runs, and what is learned from imported conversations. */
import { readFileSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import { keyFor, start } from '../api/http/http-support.ts'
import { createCli } from '../e2e/cli/cli-host.ts'
import { createDatabase, createJson, OMNIROUTE_SCHEMA, openHouse } from './moving-support.ts'

const LIST = [
  { id: 'a', apiKeyId: 'key-a', key: 'k', content: 'prefers tea' },
  { id: 'b', apiKeyId: 'key-b', key: 'k', content: 'uses vim' },
  { id: 'c', apiKeyId: 'key-b', content: '  ' },
  { id: 'd', apiKeyId: 'key-b', content: 'bad', createdAt: 'yesterday' },
]

it('[PO50] All: `POST /api/import` takes raw bodies and multipart forms, with progress', async () => {
  const { url, admin, engine, client } = await start()
  const send = (
    path: string,
    body: NonNullable<RequestInit['body']>,
    headers: Record<string, string> = {},
  ) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${admin}`, ...headers },
      body,
    })
  const raw = await client.call('POST', '/api/import', { raw: JSON.stringify(LIST) })
  expect([raw.status, raw.body]).toMatchObject([
    200,
    { format: 'omniroute-json', imported: 2, skipped: 1, failed: 1, owners: ['key-a', 'key-b'] },
  ])
  const form = new FormData()
  form.set('owner', 'merged')
  form.set('dryRun', 'false')
  form.set('file', new Blob([JSON.stringify(LIST)]), 'memories.json')
  const merged = await send('/api/import', form)
  expect(await merged.json()).toMatchObject({ imported: 2, owners: ['merged'] })
  const database = createDatabase(
    'storage.sqlite',
    `${OMNIROUTE_SCHEMA} INSERT INTO memory (id, apiKeyId, content) VALUES ('x', 'key-c', 'from a database');`,
  )
  const streamed = await send('/api/import?from=omniroute-sqlite', readFileSync(database), {
    accept: 'application/x-ndjson',
    'content-type': 'application/octet-stream',
  })
  const lines = (await streamed.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines[0]).toMatchObject({ progress: { of: 'records' } })
  expect(lines.at(-1)).toMatchObject({ result: { imported: 1 } })
  for (const body of ['', 'no known format', '--x']) {
    expect((await send('/api/import', body)).status).toBe(400)
  }
  const broken = await send(
    '/api/import',
    '--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n[',
    {
      'content-type': 'multipart/form-data; boundary=b',
    },
  )
  expect(broken.status).toBe(400)
  const user = await keyFor(engine, 'user', 'ada')
  const own = await client.call('POST', '/api/import', { raw: JSON.stringify(LIST), key: user })
  expect(own.body).toMatchObject({ owners: ['ada'] })
  const all = await client.call('POST', '/api/import?ownerPerKey=true', { raw: '[]', key: user })
  expect(all.status).toBe(403)
})

it('[PO51] All: a dry run shows what would be imported and what would be skipped and why', async () => {
  const cli = createCli()
  const path = createJson('memories.json', LIST)
  const { out, exit } = await cli(['import', path, '--dry-run'])
  expect(exit).toBe(2)
  expect(out).toBe(
    [
      'Would import 2, update 0, skip 1, reject 1.',
      '  line 4: `createdAt` must be a time; got "yesterday".',
      '  skipped line 3: The record holds nothing to import.',
      '  memory of key-a: prefers tea',
      '  memory of key-b: uses vim',
      'Owners: key-a, key-b',
      '',
    ].join('\n'),
  )
  expect((await cli(['list', '--json'])).json.data).toEqual([])
  await cli(['import', path])
  const again = await cli(['import', path, '--dry-run'])
  expect(again.out).toMatch(/^Would import 0, update 0, skip 3, reject 1\./)
})

it('[PO52] All: imported conversations are recallable at once and learned from in the background', async () => {
  const house = await openHouse()
  onTestFinished(() => house.close())
  const conversations = [
    {
      uuid: 'talk',
      chat_messages: [
        {
          uuid: '1',
          sender: 'human',
          text: 'I live in Lisbon and my sister is called Ana.',
          created_at: '2026-05-01T10:00:00Z',
        },
        {
          uuid: '2',
          sender: 'assistant',
          text: 'Good to know.',
          created_at: '2026-05-01T10:00:05Z',
        },
      ],
    },
  ]
  const path = createJson('conversations.json', conversations)
  const { engine } = house
  const source = await engine.admin.openImport({ source: path })
  const scope = { owner: 'ada' }
  expect(await engine.admin.importSource(scope, source)).toMatchObject({
    counts: { turns: 2, signals: 1 },
  })
  const found = await engine.recall(scope, {
    text: 'Where do I live? Lisbon',
    include: 'conversations',
  })
  expect(found.memories.map(({ memory }) => memory.content)).toContain(
    'I live in Lisbon and my sister is called Ana.',
  )
  await engine.jobs.runDue()
  const learned = async () => (await engine.list(scope)).rows.map(({ content }) => content)
  expect((await learned()).join('\n')).toMatch(/Lisbon/)
  const facts = await learned()
  const again = await engine.admin.openImport({ source: path })
  expect(await engine.admin.importSource(scope, again)).toMatchObject({
    imported: 0,
    counts: { signals: 0 },
  })
  await engine.jobs.runDue()
  expect(await learned()).toEqual(facts)
})
