/** Moving in from OpenClaw: the table of its LanceDB plugin, its memory index and its configuration. */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { foreignDrivers } from '../../src/app/foreign-drivers.ts'
import { parseScope } from '../../src/domain/scope.ts'
import { openImport } from '../../src/portability/import-source.ts'
import { importRecords } from '../../src/portability/record-import.ts'
import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { PluginMemoryTable, readPluginRows } from '../../src/storage/lancedb/plugin-memory-table.ts'
import { createCli } from '../e2e/cli/cli-host.ts'
import { countingIds, FakeClock } from '../fakes/clock.ts'
import { lancePart } from '../support/lancedb.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { createDatabase, createJson } from './moving-support.ts'

const INDEX = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
  CREATE TABLE files (path TEXT PRIMARY KEY, source TEXT NOT NULL DEFAULT 'memory', hash TEXT NOT NULL, mtime INTEGER NOT NULL, size INTEGER NOT NULL);
  CREATE TABLE chunks (id TEXT PRIMARY KEY, path TEXT NOT NULL, source TEXT NOT NULL DEFAULT 'memory', start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL, hash TEXT NOT NULL, model TEXT NOT NULL, text TEXT NOT NULL, embedding TEXT NOT NULL, updated_at INTEGER NOT NULL);
  INSERT INTO chunks VALUES ('x', 'memory/2026-05-01.md', 'memory', 3, 9, 'h', 'm', 'Met Clara in Rome.', '[0]', 1770000000000);
`
const CONFIG = {
  agents: {
    defaults: {
      userTimezone: 'Europe/Berlin',
      memorySearch: {
        ...{ provider: 'openai', model: 'text-embedding-3-small' },
        chunking: { tokens: 200, overlap: 400 },
        query: {
          ...{ maxResults: 8, minScore: 0.2 },
          hybrid: {
            vectorWeight: 0.7,
            candidateMultiplier: 4,
            mmr: { enabled: true, lambda: 0.6 },
            temporalDecay: { enabled: true, halfLifeDays: 14 },
          },
        },
        sync: {
          ...{ watch: false, watchDebounceMs: 900, onSearch: false, onSessionStart: true },
          intervalMinutes: 5,
          sessions: { deltaBytes: 5_000, deltaMessages: 10 },
        },
        cache: { enabled: false, maxEntries: 50_000 },
      },
      compaction: { reserveTokensFloor: 30_000, memoryFlush: { softThresholdTokens: 2_000 } },
    },
  },
  memory: {
    backend: 'qmd',
    citations: 'on',
    qmd: {
      searchMode: 'query',
      limits: { maxSnippetChars: 500, maxInjectedChars: 4_000, timeoutMs: 6_000 },
      update: { interval: '10m' },
    },
  },
  plugins: {
    entries: {
      'memory-lancedb': { config: { autoCapture: true, autoRecall: false, captureMaxChars: 900 } },
    },
  },
}

const lance = await lancePart()
const reason = lance.kind === 'installed' ? '' : ` (not run: ${lance.reason})`

describe.skipIf(lance.kind !== 'installed')(`the LanceDB plugin${reason}`, () => {
  it('[PO46] OpenClaw: the LanceDB table of the memory plugin is imported', async () => {
    if (lance.kind !== 'installed') return
    const folder = join(temporaryFolder(), 'lancedb')
    const ids = ['0f6f4f0e-1f65-4d0a-9c8e-0a1b2c3d4e51', '0f6f4f0e-1f65-4d0a-9c8e-0a1b2c3d4e52']
    const table = await PluginMemoryTable.open({
      ...{ folder, dimensions: 3, now: () => 1_770_000_000_000, load: lance.load },
      newId: () => ids.shift() ?? '',
    })
    const vector = new Float32Array([1, 0, 0])
    await table.store({
      text: 'Prefers aisle seats',
      vector,
      importance: 0.9,
      category: 'preference',
    })
    await table.store({ text: 'Ada works at Acme', vector, category: 'entity' })
    table.close()
    const drivers = {
      ...foreignDrivers,
      readLanceTable: async function* (path: string) {
        yield* await readPluginRows(path, lance.load)
      },
    }
    const source = await openImport({ source: folder }, drivers)
    if (source.kind !== 'records') throw new Error('A table holds records.')
    const store = createInMemoryStore()
    const ports = {
      store,
      clock: new FakeClock(1_900_000_000_000),
      ids: countingIds(),
      settings: {},
    }
    const scope = parseScope({ owner: 'ada' })
    expect(await importRecords(ports, scope, source.records)).toMatchObject({ imported: 2 })
    const { rows } = await store.find('memory', scope, { where: {}, limit: 9, order: 'oldest' })
    expect(
      rows.map(({ content, category, importance }) => [content, category, importance]).sort(),
    ).toEqual([
      ['Ada works at Acme', 'entity', 7],
      ['Prefers aisle seats', 'preference', 9],
    ])
  })
})

it('[PO23] OpenClaw: the chunks of the memory index are imported', async () => {
  const cli = createCli()
  const { json } = await cli(['import', createDatabase('main.sqlite', INDEX), '--json'])
  expect(json).toMatchObject({ format: 'openclaw-sqlite', imported: 1 })
  const { json: found } = await cli(['search', 'Clara in Rome', '--json'])
  expect(found.results[0]).toMatchObject({
    memory: { metadata: { path: 'memory/2026-05-01.md', startLine: 3, endLine: 9 } },
  })
})

it('[PO47] OpenClaw: `openclaw.json` becomes settings', async () => {
  const cli = createCli()
  const path = createJson('openclaw.json', CONFIG)
  const { json } = await cli(['import', path, '--json'])
  expect(json).toMatchObject({ format: 'openclaw-settings', failed: 0 })
  const reasons = json.skips.map(({ message }: { readonly message: string }) => message).join('\n')
  expect(reasons).toMatch(/hybrid\.vectorWeight/)
  expect(reasons).toMatch(/cache\.maxEntries/)
  expect(json.skips).toHaveLength(2)
  const { json: settings } = await cli(['settings', '--json'])
  expect(settings).toMatchObject({
    'files.chunkTokens': 200,
    'files.chunkOverlapTokens': 199,
    'files.resultsMax': 8,
    'files.minScore': 0.2,
    'files.mmrLambda': 0.6,
    'files.halfLifeDays': 14,
    'files.citations': 'on',
    'files.candidateMultiplier': 4,
    'files.watch': false,
    'files.watchDebounceMs': 900,
    'files.syncOnSearch': false,
    'files.syncOnSessionStart': true,
    'files.syncIntervalMinutes': 5,
    'files.sessionDeltaBytes': 5_000,
    'files.sessionDeltaMessages': 10,
    'files.vectorCacheEnabled': false,
    'files.snippetCharactersMax': 500,
    'files.resultCharactersMax': 4_000,
    'files.qmdTimeoutMs': 6_000,
    'files.qmdUpdateMinutes': 10,
    'learning.compactionReserveTokens': 32_000,
    'files.searchBackend': 'qmd',
    'files.qmdMode': 'query',
    'files.timeZone': 'Europe/Berlin',
    'hooks.captureEnabled': true,
    'hooks.recallEnabled': false,
    'hooks.captureCharactersMax': 900,
    'embedding.model': 'openai/text-embedding-3-small',
  })
})
