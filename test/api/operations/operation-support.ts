/** Operations on a store in memory, done by whoever a test says. */
import { expect, onTestFinished } from 'vitest'
import type { Caller } from '../../../src/api/operations/authorization.ts'
import { findOperation } from '../../../src/api/operations/index.ts'
import { type OperationContext, performOperation } from '../../../src/api/operations/operation.ts'
import { createFilesFactory } from '../../../src/app/file-composition.ts'
import { createEngineWith } from '../../../src/engine/engine.ts'
import type { Embedder } from '../../../src/models/embedder.ts'
import { createInMemoryStore } from '../../../src/storage/in-memory/in-memory-store.ts'
import { createInMemoryVectorIndex } from '../../../src/storage/in-memory/in-memory-vector-index.ts'
import { countingIds, FakeClock } from '../../fakes/clock.ts'
import { folderWith } from '../../files/file-support.ts'
import { temporaryFile } from '../../support/temporary-folder.ts'

export function openContext(caller: Partial<Caller> = {}, embedder?: Embedder) {
  const clock = new FakeClock()
  const store = createInMemoryStore()
  const engine = createEngineWith({
    store,
    ...(embedder === undefined ? {} : { embedder, vectors: createInMemoryVectorIndex(store) }),
    clock,
    ids: countingIds(),
    settings: {},
    files: createFilesFactory({ path: temporaryFile('files.db') }, {}),
  })
  onTestFinished(() => engine.close())
  const context: OperationContext = {
    engine,
    version: '1.2.3',
    signal: new AbortController().signal,
    embeddingProviders: [{ provider: 'openai', hasKey: false, models: [] }],
    caller: { key: null, role: 'superadmin', home: 'ada', actsFor: [], ...caller },
  }
  const call = async (name: string, input: unknown, as: Partial<Caller> = {}) => {
    const operation = findOperation(name)
    const output = await performOperation(
      operation,
      { ...context, caller: { ...context.caller, ...as } },
      input,
    )
    // Strictly: a field that is answered but not declared would be missing in the documents.
    return operation.output.parse(output) as never
  }
  return { engine, call, clock }
}

/** What is to be learned from the one exchange of a session, which waits. */
export async function signalsOf(
  done: (name: string, input?: unknown) => Promise<unknown>,
  sessionId: string,
) {
  expect(await done('learning.status')).toMatchObject({ model: null, signals: { dead: 0 } })
  expect(await done('signal.retry')).toEqual({ signals: [] })
  const { signals } = (await done('signal.list', { sessionId })) as { signals: { id: string }[] }
  const [signal] = signals
  expect(await done('signal.get', { id: signal?.id })).toEqual({ signal })
  await expect(done('signal.forget')).rejects.toMatchObject({ code: 'invalid_input' })
  const forgotten = { ...signal, status: 'forgotten' }
  expect(await done('signal.forget', { sessionId })).toEqual({ signals: [forgotten] })
  expect(await done('signal.forget', { ids: [signal?.id] })).toEqual({ signals: [] })
  expect(await done('signal.retry', { ids: [signal?.id] })).toEqual({ signals: [signal] })
}

/** What people look at and put right: who has memories, digests, who somebody is, and what was said. */
export async function keptOf(done: (name: string, input?: unknown) => Promise<unknown>) {
  const { agents } = (await done('agent.list')) as { agents: readonly object[] }
  expect(agents[0]).toMatchObject({ id: 'ada', is_built_in: false })
  const { id } = (await done('memory.add', {
    ...{ content: 'Ada planned a trip.', category: 'episode', key: 'episode:x' },
    metadata: { topics: ['travel'], decisions: ['Go'] },
  })) as { id: string }
  const layer = { scope: 'episodes', query: 'planned trip' }
  expect(await done('memory.searchLayer', layer)).toMatchObject({
    scope: 'episodes',
    results: [{ id, topics: ['travel'], decisions: ['Go'] }],
  })
  expect(await done('episode.list', { topic: 'travel' })).toMatchObject({ episodes: [{ id }] })
  expect(await done('episode.get', { id })).toMatchObject({ episode: { id }, facts: [] })
  const edit = { id, summary: 'Ada planned two trips.', decisions: ['Stay'] }
  expect(await done('episode.edit', edit)).toMatchObject({
    episode: { summary: 'Ada planned two trips.', topics: ['travel'], decisions: ['Stay'] },
  })
  for (const [name, status] of [
    ['episode.disable', 'disabled'],
    ['episode.restore', 'active'],
    ['episode.forget', 'forgotten'],
  ] as const) {
    expect(await done(name, { id })).toMatchObject({ episode: { status } })
  }
  const added = await done('identity.add', { content: 'I am a pilot.' })
  const { memory } = added as { memory: { id: string } }
  expect(await done('identity.list')).toMatchObject({
    identities: [
      {
        ...{ owner: 'ada', user: null },
        overrides: expect.arrayContaining([expect.objectContaining({ id: memory.id })]),
      },
    ],
  })
  const statement = { id: memory.id, content: 'I am a diver.' }
  expect(await done('identity.edit', statement)).toMatchObject({
    memory: { content: 'I am a diver.' },
  })
  expect(await done('identity.get', { id: memory.id })).toMatchObject({
    memory: { content: 'I am a diver.', version: 2 },
  })
  for (const [name, status] of [
    ['identity.disable', 'disabled'],
    ['identity.restore', 'active'],
    ['identity.forget', 'forgotten'],
  ] as const) {
    expect(await done(name, { id: memory.id })).toMatchObject({ memory: { status } })
  }
  expect(await done('session.list', { limit: 100 })).toMatchObject({
    sessions: expect.arrayContaining([expect.objectContaining({ id: 'trip', turns: 2 })]),
  })
  const { turns } = (await done('session.turns', { id: 'trip' })) as { turns: { id: string }[] }
  const [turn] = turns
  expect(await done('turn.get', { id: turn?.id })).toEqual({ turn })
  expect(await done('turn.edit', { id: turn?.id, content: 'I go to Oslo.' })).toMatchObject({
    turn: { content: 'I go to Oslo.', version: 2 },
  })
  for (const [name, disabled] of [
    ['turn.disable', true],
    ['turn.restore', false],
  ] as const) {
    expect(await done(name, { id: turn?.id })).toMatchObject({ turn: { disabled } })
  }
  expect(await done('turn.forget', { id: turn?.id })).toMatchObject({ id: turn?.id, learned: [] })
  expect(await done('memory.sources', { id })).toEqual({ turns: [], deletedTurns: [] })
  expect(await done('session.forget', { id: 'trip', memories: true })).toMatchObject({ turns: 1 })
}

/** Memory in files: where they are, what is in them, and adding to them. */
export async function filesDone(done: (name: string, input?: unknown) => Promise<unknown>) {
  const path = folderWith({ 'MEMORY.md': 'The kettle is blue.\n' })
  const added = await done('files.addRoot', { kind: 'workspace', path })
  const { root } = added as { root: { id: string } }
  expect(await done('files.roots')).toEqual({ roots: [root] })
  expect(await done('files.sync')).toMatchObject({ added: 1, problems: [] })
  expect(await done('files.status', { probe: true })).toMatchObject({ roots: [{ files: 1 }] })
  expect(await done('files.list', { root: root.id })).toMatchObject({
    files: [{ path: 'MEMORY.md', state: 'indexed', chunks: 1 }],
  })
  expect(await done('files.chunks', { path: 'MEMORY.md' })).toMatchObject({
    chunks: [{ startLine: 1, endLine: 1, text: expect.stringContaining('The kettle is blue.') }],
  })
  expect(await done('files.search', { query: 'blue kettle' })).toMatchObject({
    results: [{ path: 'MEMORY.md', citation: 'MEMORY.md#L1' }],
  })
  expect(await done('files.get', { path: 'MEMORY.md', lines: 1 })).toMatchObject({
    text: 'The kettle is blue.',
  })
  expect(await done('files.append', { text: 'The cup is red.' })).toMatchObject({
    path: expect.stringMatching(/^memory\//),
  })
  expect(await done('files.memoryTool', { command: 'view', path: '/memories' })).toMatchObject({
    content: expect.stringContaining('.md'),
  })
  const digest = { content: 'Ada cleaned the kettle.', category: 'episode', sessionId: 'kettle' }
  await done('memory.add', digest)
  expect(await done('files.writeSessionNote', { id: 'kettle' })).toMatchObject({ written: true })
  expect(await done('files.removeRoot', { id: root.id })).toMatchObject({ id: root.id })
}

/** A vector store beside the memories, where there is none. */
export async function vectorStoreDone(done: (name: string, input?: unknown) => Promise<unknown>) {
  const changes = { host: 'qdrant.local', port: 6_334, quantization: 'int8', collection: 'mine' }
  expect(await done('settings.changeQdrant', changes)).toMatchObject({
    ...changes,
    url: 'http://qdrant.local:6334',
    hasApiKey: false,
    replica: { state: 'off', servedBy: 'primary' },
  })
  expect(await done('settings.changeQdrant', { url: null })).toMatchObject({ enabled: false })
  expect(await done('settings.qdrant')).toMatchObject({ url: null, quantization: 'int8' })
  expect(await done('settings.qdrantHealth')).toMatchObject({ ok: false, error: 'not_configured' })
  expect(await done('settings.qdrantSearch', { query: 'tea' })).toMatchObject({ ok: false })
  expect(await done('settings.qdrantCleanup')).toMatchObject({ ok: false, deletedCount: 0 })
  expect(await done('settings.qdrantModels')).toEqual({ models: [] })
}
