/** Vectors of files by batches of a service: words are found at once, meaning when the batch is done. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/app/system-clock.ts'
import { openBatchLedger } from '../../src/models/embedders/batch-api/batch-ledger.ts'
import { openEmbeddingBatches } from '../../src/models/embedders/batch-api/batch-providers.ts'
import { openProviderBatchEmbedder } from '../../src/models/embedders/batch-api/provider-batch-embedder.ts'
import { withEmbeddingCache } from '../../src/models/embedders/embedding-cache.ts'
import {
  hashRemoteAccount,
  type RemoteEmbedderConfig,
} from '../../src/models/embedders/remote/embedding-providers.ts'
import { openSqliteEmbeddingCache } from '../../src/models/embedders/sqlite-embedding-cache.ts'
import { scriptedEmbedder } from '../fakes/embedder.ts'
import { startBatchService } from '../models/embedders/batch-services.ts'
import { temporaryFile, temporaryFolder } from '../support/temporary-folder.ts'
import { folderWith, pause } from './file-support.ts'
import { ADA, openFiles, sections } from './index-support.ts'

async function open({ textsMin = 2 } = {}) {
  const service = await startBatchService('openai')
  const config: RemoteEmbedderConfig = {
    ...{ provider: 'openai', model: 'text-embedding-3-small', apiKey: 'sk-secret' },
    ...{ baseUrl: service.url, clock: systemClock },
  }
  const identity = { account: hashRemoteAccount(config), isPurposeSpecific: false }
  const cache = openSqliteEmbeddingCache({ path: temporaryFile('vectors.db'), clock: systemClock })
  onTestFinished(() => cache.close())
  const plain = scriptedEmbedder()
  const batches = openEmbeddingBatches(config)
  if (batches === null) throw new Error('it has batches')
  const filling = openProviderBatchEmbedder({
    embedder: withEmbeddingCache(plain, { cache, ...identity }),
    ...{ identity, cache, batches, clock: systemClock },
    ledger: openBatchLedger(temporaryFolder()),
    limits: { textsMin, pollMs: 5 },
  })
  const opened = await openFiles({ embedder: filling.embedder, prefill: filling })
  const folder = folderWith({ 'a.md': sections(4, 'topic'), 'b.md': sections(3, 'other') })
  await opened.files.roots.add(ADA, { kind: 'path', path: folder })
  const documents = () =>
    plain.calls.filter(({ purpose }) => purpose === 'document').flatMap(({ texts }) => texts)
  const embedded = async () => {
    while ((await opened.files.status(ADA)).withoutVector > 0) await pause(5)
  }
  return { ...opened, service, documents, embedded }
}

const HELD = Number.MAX_SAFE_INTEGER

describe('[EB10] pieces of files', () => {
  it('[EB10] are found by words while the batch is under way, and by meaning afterwards', async () => {
    const { files, service, documents, embedded } = await open()
    service.polls = HELD
    const { chunks } = await files.sync(ADA)
    const before = await files.search(ADA, { text: 'topic number 2' })
    expect(before.hits.length).toBeGreaterThan(0)
    while (service.uploads.length === 0) await pause(5)
    const { facts, withoutVector } = await files.status(ADA)
    expect(withoutVector).toBe(chunks)
    expect(facts).toMatchObject({ batchApiEnabled: true, batchApiFailures: 0 })
    service.polls = 0
    await embedded()
    expect(service.uploads.flat()).toHaveLength(chunks)
    // None but those that measure the model.
    expect(documents().some((text) => text.includes('speaks at length'))).toBe(false)
    const after = await files.search(ADA, { text: 'topic number 2' })
    expect(after).toMatchObject({ mode: 'hybrid', fallbackReason: null })
  })

  it('[EB10] that a service fails to embed are embedded as usual, and the status says why', async () => {
    const { files, service, documents, embedded } = await open()
    service.change = () => []
    const { chunks } = await files.sync(ADA)
    await embedded()
    const plain = documents().filter((text) => text.includes('speaks at length'))
    expect(plain).toHaveLength(chunks)
    expect((await files.status(ADA)).facts).toMatchObject({ batchApiFailures: 1 })
  })
})

describe('[EB11] no batch', () => {
  it('[EB11] is made for a few pieces', async () => {
    const { files, service, embedded } = await open({ textsMin: 100 })
    await files.sync(ADA)
    await embedded()
    expect(service.asked).toEqual([])
  })

  it('[EB11] is waited for by closing', async () => {
    const { files, service } = await open()
    service.polls = HELD
    await files.sync(ADA)
    while (service.uploads.length === 0) await pause(5)
    await files.close()
  })
})
