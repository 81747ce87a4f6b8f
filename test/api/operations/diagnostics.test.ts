/** Trying the parts that memory is made of, and what people who set it up want to know besides. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { Caller } from '../../../src/api/operations/authorization.ts'
import { findOperation } from '../../../src/api/operations/index.ts'
import { performOperation } from '../../../src/api/operations/operation.ts'
import { readProviders } from '../../../src/app/config/providers-file.ts'
import { openProviderAccess } from '../../../src/app/models/provider-connections.ts'
import { SETTINGS } from '../../../src/domain/settings/settings.ts'
import { createEngineWith } from '../../../src/engine/engine.ts'
import type { EngineDependencies } from '../../../src/engine/engine-dependencies.ts'
import { AppError } from '../../../src/lib/errors.ts'
import type { Embedder } from '../../../src/models/embedder.ts'
import { createHashingEmbedder } from '../../../src/models/embedders/hashing-embedder.ts'
import { createProviderLanguageModel } from '../../../src/models/llm/provider-language-model.ts'
import { createUpstream } from '../../../src/models/providers/provider-upstream.ts'
import type { Reranker } from '../../../src/models/reranker.ts'
import { createInMemoryStore } from '../../../src/storage/in-memory/in-memory-store.ts'
import { countingIds, FakeClock } from '../../fakes/clock.ts'
import { ScriptedModel } from '../../fakes/language-model.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

type Answer = Readonly<Record<string, unknown>>

function openWith(parts: Partial<EngineDependencies> = {}) {
  const clock = new FakeClock()
  const ports = { store: createInMemoryStore(), clock, ids: countingIds(), settings: {} }
  const engine = createEngineWith({ ...ports, ...parts })
  onTestFinished(() => engine.close())
  const call = async (name: string, input: object = {}, as: Partial<Caller> = {}) => {
    const operation = findOperation(name)
    const context = {
      engine,
      version: '1.2.3',
      signal: new AbortController().signal,
      embeddingProviders: [],
      caller: { key: null, role: 'superadmin', home: 'ada', actsFor: [], ...as } as const,
    }
    return operation.output.parse(await performOperation(operation, context, input)) as Answer
  }
  return { engine, call, clock }
}

it('[SG1] lists every setting as declared in the table', async () => {
  const { call } = openWith()
  const { settings } = (await call('settings.describe', {}, { role: 'reader' })) as {
    settings: { name: string; help: string }[]
  }
  expect(settings.map(({ name }) => name)).toEqual(Object.keys(SETTINGS))
  const named = (name: string) => settings.find((setting) => setting.name === name)
  expect(named('recall.limit')).toEqual({
    ...{ name: 'recall.limit', kind: 'number', default: 10, min: 1, max: 100, isWhole: true },
    ...{ choices: [], scope: 'owner', appliesAt: 'once', isClamped: false },
    help: SETTINGS['recall.limit'].help,
  })
  expect(named('embedding.source')).toMatchObject({
    ...{ kind: 'choice', choices: SETTINGS['embedding.source'].choices, min: null },
    ...{ scope: 'system', appliesAt: 'start' },
  })
  expect(named('learning.extractionModel')).toMatchObject({ kind: 'text', default: null })
  expect(named('retention.minSalience')).toMatchObject({ isClamped: true, isWhole: false })
})

/** Counts what it embeds, so that a cache before it would be noticed. */
function counting(embedder: Embedder): Embedder & { readonly seen: string[] } {
  const seen: string[] = []
  return {
    ...embedder,
    seen,
    embed: async (texts, options) => {
      seen.push(...texts)
      return embedder.embed(texts, options)
    },
  }
}

it('[SG2] an embedding model is tried with a text that was never embedded before', async () => {
  const embedder = counting(createHashingEmbedder())
  const { call } = openWith({ embedder })
  const { dimensions, source, model } = await embedder.describe()
  for (let time = 0; time < 2; time++) {
    expect(await call('memory.embeddingTest', { text: 'I prefer tea' })).toMatchObject({
      ...{ works: true, error: null, source, model, dimensions, similarity: null },
      latencyMs: expect.any(Number),
    })
  }
  expect(new Set(embedder.seen).size).toBe(2)
})

it('[SG2] returns the similarity of two texts', async () => {
  const { call } = openWith({ embedder: createHashingEmbedder() })
  const near = async (other: string) =>
    Number((await call('memory.embeddingTest', { text: 'I prefer tea', other })).similarity)
  expect(await near('I prefer tea')).toBeCloseTo(1)
  expect(await near('I prefer green tea')).toBeGreaterThan(await near('Rent is due on Monday'))
})

it('[SG2] reports why an embedding model does not work', async () => {
  const broken: Embedder = {
    ...createHashingEmbedder(),
    embed: async () => {
      throw new AppError('unavailable', 'The model is asleep.')
    },
  }
  const { call } = openWith({ embedder: broken })
  expect(await call('memory.embeddingTest')).toMatchObject({
    ...{ works: false, dimensions: null },
    error: { code: 'unavailable', message: 'The model is asleep.', retryAt: null },
  })
})

it('[SG2] does not report a bug as a result', async () => {
  const broken: Embedder = {
    ...createHashingEmbedder(),
    embed: async () => {
      throw new TypeError('secret is undefined')
    },
  }
  const { call } = openWith({ embedder: broken })
  await expect(call('memory.embeddingTest')).rejects.toMatchObject({ code: 'internal' })
})

const ranking = (scoreOf: (text: string) => number): Reranker => ({
  name: 'judge',
  rerank: async (_, texts) => texts.map((text, index) => ({ index, score: scoreOf(text) })),
  close: async () => {},
})

it('[SG3] a reranker is tried with a question that one text answers', async () => {
  const good = openWith({ reranker: ranking((text) => (text.includes('Lisbon') ? 1 : 0)) })
  expect(await good.call('memory.rerankTest')).toMatchObject({
    ...{ works: true, model: 'judge', isCorrect: true },
  })
  const bad = openWith({ reranker: ranking((text) => (text.includes('kettle') ? 1 : 0)) })
  expect(await bad.call('memory.rerankTest')).toMatchObject({ works: true, isCorrect: false })
  const none = openWith()
  expect(await none.call('memory.rerankTest')).toMatchObject({
    ...{ works: false, isCorrect: null, error: { code: 'missing_part' } },
  })
})

it('[SG4] sends one question to a language model, and returns its answer, time and tokens', async () => {
  const languageModel = new ScriptedModel(' ready\n')
  const { call, engine } = openWith({ languageModel })
  expect(await call('model.test', { model: 'test/fast' })).toMatchObject({
    ...{ works: true, model: 'test/fast', answer: 'ready', error: null },
    tokens: { input: 100, output: 10 },
  })
  expect(languageModel.requests).toMatchObject([{ model: 'test/fast', json: false }])
  expect((await engine.learning.signals.report({ owner: 'ada' })).usageToday).toMatchObject({
    calls: 1,
  })
  await call('settings.change', { 'learning.extractionModel': 'test/core' })
  expect(await call('model.test')).toMatchObject({ works: true, model: 'test/core' })
})

it('[SG4] without a name there must be a core model', async () => {
  const { call } = openWith({ languageModel: new ScriptedModel('ready') })
  await expect(call('model.test')).rejects.toMatchObject({ code: 'invalid_input' })
})

it('[SG4] reports the failure, and calls no model over budget', async () => {
  const languageModel = new ScriptedModel(new AppError('unavailable', 'Nobody answers.'), 'ready')
  const { call, clock } = openWith({ languageModel })
  expect(await call('model.test', { model: 'test/core' })).toMatchObject({
    ...{ works: false, answer: null, tokens: null },
    error: { code: 'unavailable', message: 'Nobody answers.', retryAt: null },
  })
  await call('settings.change', { 'learning.modelTokensPerDay': 50 })
  expect(await call('model.test', { model: 'test/core' })).toMatchObject({ works: true })
  const tomorrow = (Math.floor(clock.now() / 86_400_000) + 1) * 86_400_000
  expect(await call('model.test', { model: 'test/core' })).toMatchObject({
    works: false,
    error: { code: 'too_many_requests', retryAt: new Date(tomorrow).toISOString() },
  })
  expect(languageModel.requests).toHaveLength(2)
  // Another owner has a budget of its own.
  expect(await call('model.test', { model: 'test/core', owner: 'bob' })).toMatchObject({
    works: true,
  })
})

it('[SG4] skips a model that failed several times, and reports until when', async () => {
  const languageModel = new ScriptedModel(new AppError('unavailable', 'Nobody answers.'))
  const { call } = openWith({ languageModel })
  for (let time = 0; time < 5; time++) await call('model.test', { model: 'test/core' })
  expect(await call('model.test', { model: 'test/core' })).toMatchObject({
    error: { code: 'unavailable', retryAt: expect.stringMatching(/^20\d\d-/) },
  })
  expect(languageModel.requests).toHaveLength(5)
})

const PROVIDERS = {
  providers: {
    house: {
      kind: 'openai',
      baseUrl: 'http://127.0.0.1:9/v1',
      key: 'sk-hidden',
      models: [{ id: 'small' }],
    },
    cellar: { kind: 'openai', baseUrl: 'http://127.0.0.1:9/v1' },
    play: { kind: 'demo' },
  },
  aliases: { quick: 'house/small' },
}

it('[SG5] providers are listed without their keys, and without the demo', async () => {
  const path = join(temporaryFolder(), 'providers.json')
  writeFileSync(path, JSON.stringify(PROVIDERS), { mode: 0o600 })
  const registry = readProviders({ path, isNamed: true, environment: {} })
  const upstream = createUpstream()
  onTestFinished(() => upstream.close())
  const languageModel = createProviderLanguageModel({ registry, upstream, clock: new FakeClock() })
  const { call } = openWith({ languageModel })
  const response = await call('model.list')
  expect(response).toEqual({
    providers: [
      { name: 'house', kind: 'openai', hasKey: true, models: ['house/small'] },
      { name: 'cellar', kind: 'openai', hasKey: false, models: [] },
      { name: 'ollama', kind: 'ollama', hasKey: true, models: [] },
    ],
    aliases: ['quick'],
    error: null,
  })
  expect(JSON.stringify(response)).not.toContain('sk-hidden')
})

it('[SG5] reports an invalid providers file', async () => {
  const path = join(temporaryFolder(), 'providers.json')
  writeFileSync(path, '{ "providers": ')
  const gateway = { providersFile: path, hasExplicitProvidersFile: true } as never // the rest is not looked at
  const { languageModel } = openProviderAccess({ gateway }, {})
  const { call } = openWith({ languageModel })
  expect(await call('model.list')).toMatchObject({
    providers: [],
    error: expect.stringContaining('not valid JSON'),
  })
})

type Entry = { readonly id: string; readonly operation: string; readonly actor: string | null }

async function auditPages(call: ReturnType<typeof openWith>['call'], query: object) {
  const pages: (readonly Entry[])[] = []
  let after: unknown = null
  do {
    const page = await call('audit.list', { ...query, ...(after === null ? {} : { after }) })
    pages.push(page.entries as readonly Entry[])
    after = page.next
  } while (after !== null)
  return pages
}

it('[SG6] the audit log is narrowed by who, what and to what, page by page', async () => {
  const { call, engine } = openWith()
  const { key } = await engine.admin.keys.create({ name: 'app', defaultOwner: 'ada' })
  for (let n = 0; n < 7; n++) {
    const by = n % 2 === 0 ? { key: key.id } : {}
    await call('memory.add', { content: `Note ${n}` }, by)
  }
  const { rows } = await engine.list({ owner: 'ada' })
  const target = rows[0]?.id ?? ''
  await call('memory.forget', { id: target })
  await call('settings.change', { 'recall.limit': 5 })

  const everything = (await auditPages(call, {})).flat()
  const narrowed = async (query: object, limit = 2) => {
    const pages = await auditPages(call, { ...query, limit })
    expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true)
    return pages.flat().map(({ id }) => id)
  }
  const those = (fits: (entry: Entry) => boolean) => everything.filter(fits).map(({ id }) => id)
  expect(await narrowed({ actor: key.id })).toEqual(those(({ actor }) => actor === key.id))
  expect(await narrowed({ actor: 'none' })).toEqual(those(({ actor }) => actor === null))
  expect(await narrowed({ operation: 'memory.forget' })).toHaveLength(1)
  expect(await narrowed({ operation: 'memory' })).toHaveLength(8)
  expect(await narrowed({ operation: 'mem' })).toEqual([])
  expect(await narrowed({ target })).toHaveLength(2)
  expect(await narrowed({ target, actor: 'none', operation: 'memory.forget' })).toHaveLength(1)
  expect(await narrowed({ operation: 'memory', owner: 'bob' })).toEqual([])
})

it('[SG7] what the store says of itself is for superadmins', async () => {
  const store = createInMemoryStore()
  const facts = { encrypted: true }
  const { call } = openWith({
    store: { ...store, getReport: async () => ({ ...(await store.getReport()), facts }) },
  })
  expect(await call('system.status')).toMatchObject({ store: { facts } })
  expect(await call('system.status', {}, { role: 'user' })).toMatchObject({ store: { facts: {} } })
})
