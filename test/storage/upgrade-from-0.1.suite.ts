/**
 * A database that version 0.1 wrote, opened by this version. Everything is looked at through the engine, as programs
 * see it. What the databases hold is listed in `test/fixtures/README.md`.
 */
import { expect, it, onTestFinished } from 'vitest'
import type { OwnerId } from '../../src/domain/ids.ts'
import { SYSTEM_OWNER } from '../../src/domain/scope.ts'
import { createEngineWith } from '../../src/engine/engine.ts'
import { createHashingEmbedder } from '../../src/models/embedders/hashing-embedder.ts'
import type { Store } from '../../src/storage/store.ts'
import type { VectorIndex } from '../../src/storage/vector-index.ts'
import { clientOf } from '../conversations/conversations-support.ts'
import { countingIds, FakeClock } from '../fakes/clock.ts'
import { ScriptedModel } from '../fakes/language-model.ts'

export type OpenUpgraded = () => Promise<Store & { readonly vectors: VectorIndex | null }>

/** When the databases were written. */
const WRITTEN_AT = 1_700_064_923_000
const HOUR_MS = 3_600_000
const ADA = { owner: 'ada' }
const NOTHING = { episode: null, facts: [] }

export type FixtureFacts = {
  /** Of the API key `key_00000001`. */
  readonly secret: string
  /** Which memories are cited depends a little on the store. */
  readonly receiptLines: number
}

export function describeUpgrade(open: OpenUpgraded, { secret, receiptLines }: FixtureFacts): void {
  const opened = async () => {
    const store = await open()
    const clock = new FakeClock(WRITTEN_AT)
    const model = new ScriptedModel(NOTHING)
    const ids = { ...countingIds() }
    const engine = createEngineWith({
      ...{ store, clock, ids, settings: {}, languageModel: model },
      ...(store.vectors === null ? {} : { vectors: store.vectors }),
      embedder: createHashingEmbedder({ dimensions: 16 }),
    })
    onTestFinished(() => engine.close())
    return { store, clock, engine, model, client: clientOf(engine) }
  }

  it('[ST19] leaves no entry under a kind of version 0.1, and nothing to repair', async () => {
    const { engine, store } = await opened()
    const { rows } = await engine.status()
    expect(rows).toMatchObject({ memory: 14, turn: 24, job: 17, signal: 12 })
    const kinds = new Map<string, number>()
    for (const owner of [SYSTEM_OWNER, 'ada', 'bob', 'carl', 'dan', '@shared'] as OwnerId[]) {
      const found = await store.find('entry', { owner }, { where: {}, limit: 1_000 })
      for (const { kind } of found.rows) kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
    }
    expect(Object.fromEntries(kinds)).toEqual({
      ...{ audit: 2, idempotency: 1, key: 3, login: 1, secret: 1, setting: 3, 'file-root': 3 },
      ...{ 'owner-lock': 2, 'model-budget': 2, 'consolidation-report': 1, 'turn-suppression': 3 },
      ...{ receipt: 12, 'receipt-line': receiptLines },
      ...{ 'session-link': 33, 'open-session': 4, 'response-owner': 2 },
    })
    expect(await engine.admin.checkIntegrity()).toEqual([])
  })

  it('[ST19] knows keys, logins, secrets and answers, and who did what', async () => {
    const { engine } = await opened()
    expect(await engine.admin.keys.verify(secret)).toMatchObject({
      ...{ name: 'laptop of Ada', home: 'ada', actsFor: ['bob'], role: 'user' },
      ...{ isManagement: false, createdAt: 1_700_000_000_000, lastUsedAt: 1_700_000_000_000 },
    })
    expect((await engine.admin.keys.list()).map(({ id, home }) => [id, home]).sort()).toEqual([
      ['key_00000001', 'ada'],
      ['key_00000002', 'bob'],
      ['key_management', 'default'],
    ])
    expect(await engine.admin.keys.ensureManagement()).toBeNull()
    expect(await engine.admin.keys.logins.get('a'.repeat(64))).toMatchObject({
      key: 'key_00000001',
    })
    expect(await engine.admin.replication.qdrant()).toMatchObject({ maskedKey: '***1234' })
    const repeated = () => {
      throw new Error('It must not be done again.')
    }
    const request = 'POST /api/memories {}'
    expect(await engine.admin.idempotency.runOnce('key-of-a-request', request, repeated)).toEqual({
      answer: { status: 200, body: { id: 'mem_1' } },
      isRepeated: true,
    })
    const { rows } = await engine.admin.audit.list({ operation: 'memory.emptyTrash' })
    expect(rows).toMatchObject([
      { actor: 'key_00000001', owner: 'ada', targets: ['mem_1', 'mem_2'], targetCount: 2 },
    ])
    expect((await engine.admin.audit.list({ owner: 'bob' })).rows).toMatchObject([
      { actor: null, operation: 'review.resolve' },
    ])
  })

  it('[ST19] has settings in force under their present names', async () => {
    const { engine } = await opened()
    expect(await engine.admin.settings.getStored(null)).toEqual({
      ...{ 'gateway.enabled': true, 'learning.extractionModel': 'test/core' },
      ...{ 'gateway.gateModel': '', 'retention.trashDays': 45, 'retention.auditDays': 30 },
      ...{ 'server.requestsPerMinute': 0, 'recall.sharedMemoryEnabled': true },
      ...{ 'embedding.source': 'remote', 'embedding.model': 'openai/text-embedding-3-small' },
    })
    expect(await engine.admin.settings.resolve('ada' as OwnerId)).toMatchObject({
      ...{ 'gateway.enabled': true, 'retention.trashDays': 45, 'recall.limit': 7 },
      ...{ 'recall.vectorWeight': 0.6, 'recall.minTopSimilarity': 0.05 },
      ...{ 'recall.minSimilarity': 0.02, 'gateway.contextTimeoutMs': 20_000 },
      ...{ 'learning.debounceSeconds': 60, 'gateway.contextTokensMax': 900 },
      ...{ 'memory.similarMemoriesMax': 12, 'learning.modelTokensPerDay': 50_000 },
      ...{ 'retention.receiptDays': 20, 'files.chunkTokens': 300, 'files.redactEmails': true },
      ...{ 'files.timeZone': 'Europe/Berlin', 'gateway.memoryToolsEnabled': false },
    })
    expect(await engine.admin.settings.getStored('bob' as OwnerId)).toEqual({
      'gateway.dryRun': true,
    })
  })

  it('[ST19] recalls memories, with their history, conflicts and trash', async () => {
    const { engine } = await opened()
    const { memories } = await engine.recall(ADA, { text: 'What do I prefer to drink?' })
    const tea = memories.find(({ memory }) => memory.key === 'drink')
    expect(tea?.memory).toMatchObject({ content: 'I prefer green tea over coffee.', key: 'drink' })
    const history = await engine.memories.history(ADA, tea?.memory.id ?? '')
    expect(history.map(({ memory }) => memory.content)).toContain('I prefer tea over coffee.')
    expect((await engine.learning.review.listConflicts(ADA)).rows).toMatchObject([
      { memory: { content: expect.stringContaining('on Tuesday') } },
    ])
    const { rows: trash } = await engine.list(ADA, { statuses: ['forgotten'] })
    expect(trash.map(({ content }) => content).sort()).toEqual([
      'Ada travels to Rome with her sister Clara in June',
      'The alarm code is 1234.',
    ])
    // What was erased leaves a tombstone: said before, it stays forgotten.
    const observedAt = 1_700_000_000_000
    await expect(
      engine.remember(ADA, { content: 'My favourite color is blue.', observedAt }),
    ).rejects.toMatchObject({ code: 'forgotten' })
    const [forgotten] = trash.filter(({ content }) => content.includes('Clara'))
    const { rows: disabled } = await engine.conversations.turns.list({ ...ADA, session: 'trip' })
    expect(disabled.filter((turn) => turn.disabled)).toHaveLength(2)
    await engine.restore(ADA, forgotten?.id ?? '')
    const { rows: restored } = await engine.conversations.turns.list({ ...ADA, session: 'trip' })
    expect(restored.filter((turn) => turn.disabled)).toEqual([])
  })

  it('[ST19] shows receipts with the lines that they cite', async () => {
    const { engine } = await opened()
    const { rows } = await engine.conversations.receipts.list({ ...ADA, session: 'trip' })
    expect(rows).toHaveLength(2)
    const [second] = rows
    expect(second).toMatchObject({
      ...{ requestId: 'req_2', skipped: null, answer: 'complete', dryRun: null },
      gate: { mode: 'off', by: 'off', section: 'all', reason: 'Every message is looked up.' },
      usage: { input: 10, output: 5, cached: null },
    })
    const stages = rows.flatMap(({ results }) => results.flatMap(({ trail }) => trail))
    const names = new Set(stages.map(({ stage }) => stage))
    expect([...names].sort()).toEqual([
      'boost',
      'fusion',
      'keyword',
      'question-match',
      'threshold',
      'vector',
    ])
    const detail = await engine.conversations.receipts.get(ADA, second?.id ?? '')
    expect(detail?.block).toContain('I prefer green tea over coffee.')
    expect(detail?.lines.map(({ redaction }) => redaction)).toContain(null)
    const [bobs] = (await engine.conversations.receipts.list({ owner: 'bob' })).rows
    expect(bobs).toMatchObject({ injected: null, format: 'chat' })
  })

  it('[ST19] continues known conversations', async () => {
    const { engine, client } = await opened()
    const sessions = async () =>
      (await engine.conversations.sessions.list(ADA)).rows.map(({ place }) => place.session)
    const before = await sessions()
    const query = { previousResponseId: 'resp_2' }
    const request = { asked: query, format: 'responses' as const }
    await client.ask(['And where does Rex sleep when it rains outside?'], 'Inside.', request)
    expect((await sessions()).sort()).toEqual(before.sort())
    expect(await engine.conversations.getResponseOwner(ADA, 'resp_1')).toBe('own')
    expect(await engine.conversations.getResponseOwner({ owner: 'bob' }, 'resp_1')).toBe('foreign')
  })

  it('[ST19] converts jobs and signals by their kind', async () => {
    const { engine } = await opened()
    const { rows: jobs } = await engine.jobs.list({ limit: 100 })
    const told = (wanted: string) =>
      jobs
        .flatMap(({ kind, owner, status }) => (status === wanted ? [`${kind} ${owner}`] : []))
        .sort()
    expect(told('running')).toEqual(['distill ada', 'distill dan'])
    expect(told('dead')).toEqual(['consolidate bob'])
    expect(told('cancelled')).toEqual(['distill bob'])
    expect(told('done')).toHaveLength(5)
    expect(told('waiting')).toEqual([
      ...['consolidate @shared', 'consolidate ada', 'consolidate bob', 'consolidate dan'],
      ...['distill ada', 'distill ada', 'distill carl', 'maintenance null'],
    ])
    expect(jobs.find(({ status }) => status === 'dead')).toMatchObject({
      ...{ dueAt: null, statusChangedAt: WRITTEN_AT - 61_000, attempts: 1, lostLeases: 10 },
      ...{ lastError: 'lease_lost', cancelledRun: 'job_00000050', expiresAt: null },
      ...{ key: 'asked', input: { asked: true, user: 'eve' } },
    })
    const [upkeep] = jobs.filter(({ kind }) => kind === 'maintenance')
    expect(upkeep).toMatchObject({ everyMs: HOUR_MS, outcome: { owners: 4 } })
    expect(await engine.jobs.get(upkeep?.id ?? '')).toEqual(upkeep)
    const report = async (owner: string) =>
      (await engine.learning.signals.report({ owner })).signals
    expect(await report('ada')).toEqual({ pending: 4, processed: 2, dead: 1, forgotten: 1 })
    expect(await report('dan')).toEqual({ pending: 1, processed: 0, dead: 1, forgotten: 0 })
    const [bees] = (await engine.learning.signals.list({ owner: 'dan' }, { status: 'dead' })).rows
    expect(bees).toMatchObject({
      ...{ attempts: 3, error: 'bad_gateway', isPatternScanned: true, isHistory: false },
      ...{ place: { session: 'bees' }, createdAt: 1_700_028_862_000, expiresAt: null },
    })
    expect(bees?.turns).toHaveLength(2)
  })

  it('[ST19] runs jobs, those that a killed worker held included, and learns from signals', async () => {
    const { engine, clock, model } = await opened()
    clock.advance(HOUR_MS)
    expect(await engine.jobs.runDue()).toBeGreaterThan(5)
    const { rows: jobs } = await engine.jobs.list({ limit: 100, statuses: ['running'] })
    expect(jobs).toEqual([])
    expect(model.prompts.join('\n')).toContain('stamps and old maps')
    expect((await engine.learning.signals.report(ADA)).signals).toMatchObject({
      pending: 0,
      processed: 6,
    })
    const { rows } = await engine.jobs.list({ kind: 'maintenance' })
    expect(rows).toHaveLength(1)
    expect(rows).toMatchObject([{ status: 'waiting', dueAt: clock.now() + HOUR_MS }])
    clock.advance(24 * HOUR_MS)
    await engine.jobs.runDue()
    expect(await engine.learning.listConsolidations(ADA)).toHaveLength(2)
    expect(await engine.admin.checkIntegrity()).toEqual([])
  })

  it('[ST19] shows reports of consolidation and what models have cost', async () => {
    const { engine } = await opened()
    expect(await engine.learning.listConsolidations(ADA)).toMatchObject([
      {
        ...{ isDryRun: false, isPurgeSkipped: false, memories: 9, narrativesWritten: 1 },
        ...{ adjudicated: 0, trashPurged: 0, expiredEntriesDeleted: 0, actionsTotal: 1 },
        actions: [
          {
            kind: 'update-narrative',
            reason: 'What is known about who the person is has changed.',
            undo: 'impossible',
          },
        ],
        durationsMs: { 'update-narratives': 0, adjudicate: 0 },
      },
    ])
    expect((await engine.learning.status(ADA)).usageToday).toMatchObject({
      calls: 7,
      input: 700,
      output: 70,
    })
  })

  it('[ST19] erases an owner with all that was upgraded', async () => {
    const { engine, store } = await opened()
    await engine.admin.eraseOwner('ada')
    const places = (await store.listPlaces()).map(({ owner }) => owner)
    expect(places).not.toContain('ada')
    expect((await engine.jobs.list({ owner: 'ada' })).rows).toEqual([])
    const about = await store.find(
      'entry',
      { owner: SYSTEM_OWNER },
      { where: { about: 'ada' as OwnerId }, limit: 9 },
    )
    expect(about.rows.map(({ kind }) => kind)).toEqual(['audit'])
  })
}
