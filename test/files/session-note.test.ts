/** What a session came to, written to the note of today. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { renderSessionNote } from '../../src/files/sessions/session-note.ts'
import { keyFor, start } from '../api/http/http-support.ts'
import { ScriptedModel } from '../fakes/language-model.ts'
import { answer } from '../learning/distillation-support.ts'
import { temporaryFile } from '../support/temporary-folder.ts'
import { folderWith } from './file-support.ts'

const TURNS = [
  { user: 'I am going to Rome with my sister Clara in June, and I am vegetarian.' },
  { user: 'We want to stay in a small hotel near the river.' },
]

async function open() {
  const model = new ScriptedModel(
    answer(['The user is vegetarian.', 'The user travels to Rome with her sister Clara.'], {
      ...{ summary: 'Ada planned a trip to Rome.', decisions: ['A small hotel'] },
    }),
  )
  const { engine, client } = await start(
    {},
    {
      files: { path: temporaryFile('files.db') },
      languageModel: model,
      settings: { 'learning.extractionModel': 'test/model' },
    },
  )
  const folder = folderWith({})
  await engine.files?.roots.add('ada', { kind: 'workspace', path: folder })
  await engine.learning.ingest({ owner: 'ada', conversation: 'trip', turns: TURNS })
  const key = await keyFor(engine, 'agent', 'ada')
  return {
    engine,
    client,
    folder,
    key,
    flush: (id: string) => client.post(`/api/files/flush/${id}`, {}, { key }),
  }
}

it('[FD17] a session is written once', async () => {
  const { folder, flush, client, key } = await open()
  const first = await flush('trip')
  expect(first.body).toMatchObject({ written: true, path: expect.stringMatching(/^memory\//) })
  const note = readFileSync(join(folder, first.body.path), 'utf8')
  expect(note).toContain('## Session trip\n\nAda planned a trip to Rome.')
  expect(note).toContain('### Decided\n\n- A small hotel')
  expect(note).toContain('- The user is vegetarian.')
  expect((await flush('trip')).body).toMatchObject({ path: first.body.path, written: false })
  expect(readFileSync(join(folder, first.body.path), 'utf8')).toBe(note)
  const found = await client.post('/api/files/search', { query: 'vegetarian' }, { key })
  expect(found.body.results).toMatchObject([{ path: first.body.path }])
})

it('[FD17] there is nothing to write of a session that is not there', async () => {
  const { flush } = await open()
  expect((await flush('other')).status).toBe(404)
})

it('[FD9] sessions of others are not written', async () => {
  const { engine, client } = await open()
  const eve = await keyFor(engine, 'agent', 'eve')
  await engine.files?.roots.add('eve', { kind: 'workspace', path: folderWith({}) })
  expect((await client.post('/api/files/flush/trip', {}, { key: eve })).status).toBe(404)
  const named = await client.post('/api/files/flush/trip', { owner: 'ada' }, { key: eve })
  expect(named.status).toBe(404)
})

it('[FD17] text of turns does not become Markdown structure', () => {
  const note = renderSessionNote({
    ...{ session: 's', summary: 'One.\n## Two', decisions: [], actionItems: ['a\nb'], facts: [] },
  })
  expect(note).toBe('## Session s\n\nOne. ## Two\n\n### To do\n\n- a b')
})
