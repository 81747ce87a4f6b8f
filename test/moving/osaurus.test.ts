/** Moving in from Osaurus: its database, plain and encrypted, and its configuration. */
import { renameSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  describeMissingCipher,
  openSqlcipher,
} from '../../src/storage/sqlite/connection/sqlite-driver.ts'
import { createCli } from '../e2e/cli/cli-host.ts'
import { temporaryFile } from '../support/temporary-folder.ts'
import {
  createDatabase,
  createJson,
  type House,
  OSAURUS_SCHEMA,
  openHouse,
} from './moving-support.ts'

const DATA = `${OSAURUS_SCHEMA}
  INSERT INTO identity VALUES (1, 'Ada is a gardener in Bern.', '["My name is Ada"]', 3, 1, 'm', '2026-04-01T00:00:00Z');
  INSERT INTO pinned_facts (id, agent_id, content, salience, created_at, tags_csv) VALUES
    ('7b6f4f0e-1f65-4d0a-9c8e-0a1b2c3d4e5f', 'garden', 'Grows roses', 0.9, '2026-04-02T00:00:00Z', 'plants'),
    ('8b6f4f0e-1f65-4d0a-9c8e-0a1b2c3d4e5f', 'work', 'Uses Postgres at work', 0.6, '2026-04-02T00:00:00Z', NULL);
  INSERT INTO episodes (agent_id, conversation_id, summary, topics_csv, decisions, action_items, conversation_at, created_at)
    VALUES ('garden', 'c1', 'Planned the rose garden.', 'roses,garden', 'More roses', 'Buy soil', '2026-04-03T00:00:00Z', '2026-04-03T01:00:00Z');
  INSERT INTO transcript (agent_id, conversation_id, chunk_index, role, content, created_at) VALUES
    ('garden', 'c1', 0, 'user', 'More roses?', '2026-04-03T00:00:00Z'), ('garden', 'c1', 1, 'assistant', 'Yes.', '2026-04-03T00:00:05Z'),
    ('garden', 'c2', 0, 'user', 'I am allergic to bees.', '2026-04-05T00:00:00Z'), ('garden', 'c2', 1, 'assistant', 'Noted.', '2026-04-05T00:00:05Z');
  INSERT INTO pending_signals (agent_id, conversation_id, user_message, assistant_message, status, created_at) VALUES
    ('garden', 'c2', 'I am allergic to bees.', 'Noted.', 'pending', '2026-04-05T00:00:05Z'),
    ('garden', 'c1', 'More roses?', 'Yes.', 'processed', '2026-04-03T00:00:05Z');
`
const CONFIG = {
  ...{ enabled: true, embeddingBackend: 'none', embeddingModel: 'nomic-embed-text-v1.5' },
  ...{ extractionMode: 'manual', relevanceGateMode: 'off', memoryBudgetTokens: 9_000 },
  ...{ summaryDebounceSeconds: 120, consolidationIntervalHours: 48, salienceFloor: 0.3 },
  episodeRetentionDays: 90,
}

describe('an Osaurus database', () => {
  let house: House
  beforeAll(async () => {
    house = await openHouse()
    const cli = await house.cli()
    const { json } = await cli(['import', createDatabase('memory.sqlite', DATA), '--json'])
    expect(json).toMatchObject({ failed: 0, owners: ['garden', 'work'], counts: { signals: 1 } })
    return () => house.close()
  })

  it('[PO42] Osaurus: each agent becomes an owner, with its pinned facts', async () => {
    const { body } = await house.client.get('/agents')
    const facts = body.agents.map((agent: { readonly id: string }) => agent.id).sort()
    expect(facts).toEqual(expect.arrayContaining(['garden', 'work']))
    const { rows } = await house.engine.list({ owner: 'work' }, { categories: ['fact'] })
    expect(rows.map(({ content }) => content)).toEqual(['Uses Postgres at work'])
  })

  it('[PO44] Osaurus: episodes are listed by `/api/episodes` and found by `search_memory`', async () => {
    const { body } = await house.client.get('/api/episodes?owner=garden')
    expect(body.episodes).toMatchObject([
      {
        summary: 'Planned the rose garden.',
        topics: ['roses', 'garden'],
        decisions: ['More roses'],
        actionItems: ['Buy soil'],
        sessionId: 'c1',
      },
    ])
    const found = await house.engine.recall(
      { owner: 'garden' },
      { text: 'rose garden', include: 'facts', categories: ['episode'] },
    )
    expect(found.memories.map(({ memory }) => memory.content)).toEqual(['Planned the rose garden.'])
  })

  it('[PO44] Osaurus: identity overrides and the narrative become the identity of every agent', async () => {
    for (const owner of ['garden', 'work']) {
      const { body } = await house.client.get(`/api/identity?owner=${owner}`)
      expect(body.identities).toMatchObject([
        {
          overrides: [{ content: 'My name is Ada', pinned: true }],
          narrative: { content: 'Ada is a gardener in Bern.', pinned: true },
        },
      ])
    }
  })

  it('[PO44] Osaurus: pending signals wait to be learned from; the distilled transcript does not', async () => {
    const { body } = await house.client.get('/api/signals?owner=garden&status=pending')
    expect(body.signals).toHaveLength(1)
    const turns = await house.engine.conversations.turns.list({ owner: 'garden', session: 'c2' })
    expect(turns.rows.map(({ content }) => content)).toEqual(['I am allergic to bees.', 'Noted.'])
  })
})

it('[PO47] Osaurus: `config/memory.json` becomes settings', async () => {
  const cli = createCli()
  const { json } = await cli(['import', createJson('memory.json', CONFIG), '--json'])
  expect(json).toMatchObject({ format: 'osaurus-settings', failed: 0, counts: { settings: 9 } })
  expect(json.skips[0].message).toMatch(/`embeddingModel`/)
  const { json: settings } = await cli(['settings', '--json'])
  expect(settings).toMatchObject({
    'learning.extractionMode': 'manual',
    'gateway.gateMode': 'off',
    'learning.debounceSeconds': 120,
    'retention.minSalience': 0.3,
    'retention.episodeDays': 90,
  })
})

const missing = describeMissingCipher()
describe.skipIf(missing !== null)(
  `SQLCipher${missing === null ? '' : ` (not run: ${missing})`}`,
  () => {
    it('[PO45] Osaurus: SQLCipher databases open with `--key-file` or a prompt', async () => {
      const hex = 'ab'.repeat(32)
      for (const [key, text] of [
        [{ kind: 'raw', hex } as const, hex],
        [{ kind: 'passphrase', passphrase: "it's a secret" } as const, "it's a secret"],
      ] as const) {
        const path = temporaryFile('memory.sqlite')
        const database = await openSqlcipher(path, key)
        database.exec(DATA)
        database.close()
        const cli = createCli()
        const locked = await cli(['import', path, '--from', 'osaurus'], { stdin: '' })
        expect(locked.err).toContain('--key-file')
        const { writeFileSync } = await import('node:fs')
        const keyFile = temporaryFile('osaurus.key')
        writeFileSync(keyFile, `${text}\n`)
        const { json } = await cli([
          'import',
          path,
          '--from',
          'osaurus',
          '--key-file',
          keyFile,
          '--json',
        ])
        expect(json).toMatchObject({ failed: 0, owners: ['garden', 'work'] })
        const asked = await createCli()(['import', path, '--from', 'osaurus'], {
          ...{ answers: [text], columns: 80 },
        })
        expect(asked.out).toMatch(/^Imported \d+/)
        writeFileSync(keyFile, 'wrong')
        const wrong = await cli(['import', path, '--from', 'osaurus', '--key-file', keyFile])
        expect(wrong.err).toContain('cannot be decrypted')
        renameSync(path, `${path}.done`)
      }
    })
  },
)
