/** The engine, as the person sees it who runs the server. */
import { describe, expect, it, onTestFinished } from 'vitest'
import type { OwnerId } from '../../src/domain/ids.ts'
import { AppError } from '../../src/lib/errors.ts'
import type { Embedder } from '../../src/models/embedder.ts'
import { createHashingEmbedder } from '../../src/models/embedders/hashing-embedder.ts'
import type { Reranker } from '../../src/models/reranker.ts'
import { openConnection } from '../../src/storage/sqlite/connection/sqlite-driver.ts'
import { keyFor } from '../api/http/http-support.ts'
import { ScriptedModel } from '../fakes/language-model.ts'
import { type QdrantStandIn, startQdrant } from '../support/qdrant/fake-server.ts'
import {
  BROWSER_TEST_MS,
  eventually,
  failing,
  missing,
  openStudio,
  REFUSED,
  violationsIn,
} from './studio-support.ts'

const HOME = 'default' as OwnerId
/** By then the page has looked again several times, and a vector store was tried and filled, on the busiest machine. */
const TRIED_MS = 40_000

/** As a copy that was forgotten when its memory went. */
async function leaveStray({ url, collectionNames }: QdrantStandIn, key: string): Promise<void> {
  const payload = { owner: HOME, user: '', session: '', type: 'semantic' }
  const point = {
    id: crypto.randomUUID(),
    vector: {},
    payload: { ...payload, memory: 'mem_stray', text_hash: 'stray' },
  }
  for (const name of collectionNames()) {
    const answer = await fetch(`${url}/collections/${name}/points?wait=true`, {
      method: 'PUT',
      headers: { 'api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ points: [point] }),
    })
    expect(answer.status, name).toBe(200)
  }
}

describe.skipIf(missing !== null)(
  `the page of the engine (skipped when ${missing ?? 'nothing is missing'})`,
  { timeout: BROWSER_TEST_MS },
  () => {
    it('[SG8] shows each part with its state, and warns while memory is on without models', async () => {
      const { visit, engine } = await openStudio()
      const page = await visit('engine')
      const part = (name: string) => page.getByRole('listitem', { name, exact: true }).innerText()
      await eventually(() => part('Keyword search')).toMatch(/Healthy\s+FTS5/)
      expect(await part('Store')).toMatch(/Healthy\s+SQLite .* · 0 memories · 0 turns/)
      expect(await part('Qdrant')).toContain('Not configured')
      expect(await part('Embedding')).toMatch(/Off\s+Keyword search only/)
      expect(await part('Vector store')).toContain('Off')
      expect(await part('Reranker')).toContain('Not configured')
      await eventually(() => part('Language models')).toContain('Not configured')
      await eventually(() => part('Background jobs')).toContain('0 running')
      expect(await page.getByText('Memory is enabled for default').count()).toBe(0)
      await engine.admin.settings.change(HOME, { 'gateway.enabled': true })
      await page.getByText('no embedding model is available').waitFor()
      await page.getByText('no extraction model is configured').waitFor()
      await page.getByText('up to 800 tokens of memories').waitFor()
      expect(await violationsIn(page)).toEqual([])
      const settings = await visit('settings')
      await settings.getByText('up to 800 tokens of memories').waitFor()
      await engine.admin.settings.change(HOME, { 'gateway.dryRun': true })
      await page.getByText('up to 800 tokens of memories').waitFor({ state: 'detached' })
      await page.getByRole('link', { name: 'Configure: Reranker' }).click()
      const card = page.getByRole('region', { name: 'Reranker' })
      await eventually(async () => (await card.boundingBox())?.y ?? -1).toBeLessThan(900)
      await card.getByText('RECOLLECT_RERANK_URL').waitFor()
    })

    it('[SG8] says when it can’t be told what memory costs and lacks', async () => {
      const { visit, engine } = await openStudio()
      await engine.admin.settings.change(HOME, { 'gateway.enabled': true })
      const page = await visit('engine')
      await page.getByText('no embedding model is available').waitFor()
      await failing(page, '**/api/learning/status*')
      await page.reload()
      await page.getByText(REFUSED).first().waitFor()
      const warning = page.getByText('no embedding model is available')
      await eventually(() => warning.count()).toBe(0)
      await page.unrouteAll()
      const again = page.getByRole('button', { name: 'Retry' }).first()
      // The page may have looked again by itself in the meantime.
      await again.click({ timeout: 500 }).catch(() => null)
      await warning.waitFor({ timeout: TRIED_MS })
    })

    it('[SG8] says why a part fails', async () => {
      const asleep: Embedder = {
        ...createHashingEmbedder(),
        report: () => ({
          ...createHashingEmbedder().report(),
          state: { kind: 'failing', reason: 'The model is asleep.' },
        }),
        embed: async () => {
          throw new AppError('unavailable', 'The model is asleep.')
        },
      }
      const { visit } = await openStudio({}, { embedding: asleep })
      const page = await visit('engine')
      const embedding = page.getByRole('listitem', { name: 'Embedding' })
      await eventually(() => embedding.innerText()).toMatch(/Failing\s+The model is asleep/)
      const card = page.getByRole('region', { name: 'Embedding' })
      await card.getByRole('button', { name: 'Test' }).click()
      await card.getByText('The model is asleep.').waitFor()
    })

    it('[SG8] is for superadmins', async () => {
      const { visit, engine } = await openStudio()
      const page = await visit('engine', { key: await keyFor(engine, 'user', 'ada') })
      await page.getByText('Only superadmins can access this page.').waitFor()
      expect(await page.getByRole('link', { name: 'Engine' }).count()).toBe(0)
    })

    it('[SG9] tries the embedding model and tells its dimensions and how near two texts are', async () => {
      const { visit } = await openStudio({}, { embedding: createHashingEmbedder() })
      const page = await visit('engine')
      const card = page.getByRole('region', { name: 'Embedding' })
      await card.getByLabel('Text', { exact: true }).fill('I prefer tea')
      await card.getByLabel('Compare with').fill('I prefer tea')
      await card.getByRole('button', { name: 'Test' }).click()
      const { dimensions } = await createHashingEmbedder().describe()
      await card.getByText(`${dimensions} dimensions in`).waitFor()
      await card.getByText('Similarity: 1.').waitFor()
    })

    it('[SG9] chooses where vectors come from, says what the next start changes, and takes it back', async () => {
      const { visit, engine } = await openStudio({}, { embedding: createHashingEmbedder() })
      const page = await visit('engine')
      const card = page.getByRole('region', { name: 'Embedding' })
      await card.getByRole('radio', { name: /^Static model/ }).click()
      await eventually(
        async () => (await engine.admin.settings.resolve(null))['embedding.source'],
      ).toBe('static')
      await card.getByText('Configured: static').waitFor()
      expect(await card.getByLabel('Allow the local model').count()).toBe(0)
      await page.getByRole('button', { name: 'Undo' }).click()
      await eventually(
        async () => (await engine.admin.settings.getStored(null))['embedding.source'],
      ).toBe(undefined)
      await card.getByLabel('Allow the static model').click()
      await eventually(
        async () => (await engine.admin.settings.resolve(null))['embedding.staticEnabled'],
      ).toBe(false)
      await card.getByLabel('Allow the local model').click()
      await eventually(
        async () => (await engine.admin.settings.resolve(null))['embedding.localEnabled'],
      ).toBe(false)
      await card.getByRole('combobox', { name: 'Remote model' }).fill('cohere/embed-v4.0')
      await page.keyboard.press('Enter')
      await eventually(
        async () => (await engine.admin.settings.resolve(null))['embedding.model'],
      ).toBe('cohere/embed-v4.0')
    })

    it('[SG9] makes vectors anew, after asking', async () => {
      const { visit, engine } = await openStudio({}, { embedding: createHashingEmbedder() })
      for (let n = 0; n < 30; n++) {
        await engine.remember({ owner: 'default' }, { content: `Note ${n}` })
      }
      await engine.admin.reindex()
      const page = await visit('engine')
      const card = page.getByRole('region', { name: 'Vector index' })
      await card.getByText('All memories and turns are embedded.').waitFor()
      expect(await card.getByRole('button', { name: 'Embed now' }).isDisabled()).toBe(true)
      await card.getByRole('button', { name: 'Rebuild index' }).click()
      const asked = page.getByRole('alertdialog')
      await asked.getByRole('button', { name: 'Rebuild index' }).click()
      await card.getByText('30 vectors created.').waitFor()
    })

    it('[SG9] makes the vectors that are missing, and shows how far it is', async () => {
      const whole = createHashingEmbedder()
      let work: () => Promise<void> = async () => {
        throw new AppError('unavailable', 'The model is asleep.')
      }
      const embedding: Embedder = {
        ...whole,
        embed: async (...given) => {
          await work()
          return whole.embed(...given)
        },
      }
      const { visit, engine } = await openStudio({}, { embedding })
      for (let n = 0; n < 30; n++) {
        await engine.remember({ owner: 'default' }, { content: `Note ${n}` })
      }
      const page = await visit('engine')
      const card = page.getByRole('region', { name: 'Vector index' })
      const now = card.getByRole('button', { name: 'Embed now' })
      await card.getByText('30 memories and turns are not embedded yet.').waitFor()
      let release = () => {}
      const held = new Promise<void>((resolve) => {
        release = resolve
      })
      work = () => held
      await eventually(() => now.isDisabled()).toBe(false)
      await now.click()
      await card.getByRole('progressbar').waitFor()
      await card.getByText(/of 30/).waitFor()
      release()
      await card.getByRole('progressbar').waitFor({ state: 'detached' })
      await eventually(async () => (await engine.status()).index?.withoutVector).toBe(0)
    })

    it('[SG9] turns the reranker on and off, says how much it reads, and tries it', async () => {
      let isRight = true
      const rerank: Reranker = {
        name: 'test/reader',
        rerank: async (_, texts) =>
          texts.map((_text, index) => ({ index, score: isRight ? -index : index })),
        close: async () => {},
      }
      const { visit, engine } = await openStudio({}, { rerank })
      const page = await visit('engine')
      const card = page.getByRole('region', { name: 'Reranker' })
      const inForce = () => engine.admin.settings.resolve(null)
      const before = (await inForce())['recall.rerankEnabled']
      await card.getByLabel('Enable reranking').click()
      await eventually(async () => (await inForce())['recall.rerankEnabled']).toBe(!before)
      await card.getByLabel('Candidates to rerank').fill('7')
      await page.keyboard.press('Enter')
      await eventually(async () => (await inForce())['recall.rerankCandidates']).toBe(7)
      await page
        .getByText(/recall\.rerankCandidates/)
        .first()
        .waitFor()
      await card.getByLabel('Candidates to rerank').fill('101')
      await page.keyboard.press('Enter')
      await eventually(() => card.getByRole('alert').innerText()).toContain(
        'recall.rerankCandidates',
      )
      await card.getByRole('button', { name: 'Test' }).click()
      await card.getByText('test/reader ranked the correct text first').waitFor()
      isRight = false
      await card.getByRole('button', { name: 'Test' }).click()
      await card.getByText('ranked the wrong text first').waitFor()
      await card.getByText('set in the environment of the server').waitFor()
      expect(await violationsIn(page)).toEqual([])
    })

    it('[SG9] sets the core model and asks it', async () => {
      const languageModel = new ScriptedModel(
        'ready',
        new AppError('unavailable', 'Nobody answers.'),
      )
      const { visit, engine } = await openStudio({}, { languageModel })
      const page = await visit('engine')
      const card = page.getByRole('region', { name: 'Language models' })
      const test = card.getByRole('button', { name: 'Test: Extraction model' })
      expect(await test.isDisabled()).toBe(true)
      await card.getByRole('combobox', { name: 'Extraction model' }).fill('test/core')
      await page.keyboard.press('Enter')
      await eventually(
        async () => (await engine.admin.settings.resolve(null))['learning.extractionModel'],
      ).toBe('test/core')
      await eventually(() => test.isDisabled()).toBe(false)
      await test.click()
      await card.getByText('“ready” in').waitFor()
      await card.getByText('110 of 500,000 tokens in 1 call').waitFor()
      await test.click()
      await card.getByText('Nobody answers.').waitFor()
      expect(languageModel.requests).toHaveLength(2)
      const fast = card.getByRole('combobox', { name: 'Gate model' })
      await fast.fill('test/fast')
      await page.keyboard.press('Enter')
      await card.getByRole('button', { name: 'Test: Gate model' }).click()
      await eventually(async () => languageModel.requests.at(-1)?.model).toBe('test/fast')
      await card.getByText('No providers are configured.').waitFor()
    })

    it('[SG5] lists providers with whether their key is here', async () => {
      const languageModel = Object.assign(new ScriptedModel('ready'), {
        providers: async () => ({
          providers: [
            { name: 'house', kind: 'openai', hasKey: true, models: ['small'] },
            { name: 'cellar', kind: 'openai', hasKey: false, models: [] },
          ],
          aliases: [],
        }),
      })
      const { visit } = await openStudio({}, { languageModel })
      const page = await visit('engine')
      const rows = page.getByRole('region', { name: 'Providers' }).getByRole('row')
      await eventually(() => rows.nth(1).innerText()).toMatch(/house\s+openai\s+available\s+1/)
      expect(await rows.nth(2).innerText()).toMatch(/cellar\s+openai\s+missing\s+0/)
    })

    it('[VT16] sets Qdrant up, tries it, and shows its state and what fails, but never its key', async () => {
      const key = 'a-key-that-nobody-may-see'
      const qdrant = await startQdrant({ apiKey: key })
      onTestFinished(() => qdrant.stop())
      const { visit, engine } = await openStudio({}, { embedding: createHashingEmbedder() })
      await engine.remember({ owner: 'default' }, { content: 'I prefer tea' })
      await engine.admin.reindex()
      const page = await visit('engine')
      const card = page.getByRole('region', { name: 'Qdrant' })
      await card.getByLabel('URL').fill(qdrant.url)
      await card.getByLabel('API key').fill('a-wrong-key-altogether')
      await card.getByRole('button', { name: 'Save and enable' }).click()
      await card.getByText('Misconfigured', { exact: true }).waitFor()
      await card.getByLabel('API key').fill(key)
      await card.getByLabel('Collection prefix').fill('household')
      await card.getByLabel('Quantization').selectOption('int8')
      await card.getByRole('button', { name: 'Save and enable' }).click()
      await expect.poll(() => card.innerText(), { timeout: TRIED_MS }).toContain('Active')
      await card.getByText('Stored: ***-see').waitFor()
      expect(await page.content()).not.toContain(key)
      expect(
        (await engine.admin.settings.resolve(null))['vectorStore.qdrantCollectionPrefix'],
      ).toBe('household')
      await card.getByRole('button', { name: 'Test connection' }).click()
      await card.getByText('Connected to').waitFor()
      await card.getByRole('button', { name: 'Clean up' }).click()
      await card.getByText('0 vectors removed.').waitFor()
      await leaveStray(qdrant, key)
      await card.getByRole('button', { name: 'Clean up' }).click()
      const ask = page.getByRole('alertdialog')
      await ask.getByText('1 vector has expired or belongs to no memory').waitFor()
      await ask.getByRole('button', { name: 'Clean up' }).click()
      await card.getByText('1 vector removed.').waitFor()
      await card.getByLabel('Test query').fill('what do I drink?')
      await card.getByRole('button', { name: 'Search Qdrant' }).click()
      await card.getByText('1 memory found.').waitFor()
      await card.getByRole('link', { name: 'I prefer tea' }).waitFor()
      const part = page.getByRole('listitem', { name: 'Qdrant' })
      await eventually(() => part.innerText()).toContain('Active')
      expect(await violationsIn(page)).toEqual([])
      await card.getByRole('button', { name: 'Disable' }).click()
      const store = async () => (await engine.admin.settings.resolve(null))['vectorStore.backend']
      await eventually(store).toBe('embedded')
      await page.getByRole('button', { name: 'Undo' }).click()
      await eventually(store).toBe('qdrant')
    })

    it('[SG9] examines the store, and repairs after asking', async () => {
      const { visit, engine } = await openStudio()
      await engine.remember({ owner: 'default' }, { content: 'I prefer tea' })
      const page = await visit('engine')
      const card = page.getByRole('region', { name: 'Store' })
      await card.getByText('not encrypted').waitFor()
      await card.getByRole('button', { name: 'Run check' }).click()
      await card.getByText('No problems found.').waitFor()
      expect(await card.getByRole('button', { name: 'Repair' }).count()).toBe(0)
      const beside = await openConnection((await engine.status()).location, null)
      beside.exec('UPDATE corpus SET memories = memories + 1')
      beside.close()
      await card.getByRole('button', { name: 'Run check' }).click()
      await card.getByText('1 problem found.').waitFor()
      await card.getByRole('button', { name: 'Repair' }).click()
      await page.getByRole('alertdialog').getByRole('button', { name: 'Repair' }).click()
      await card.getByText('1 problem repaired.').waitFor()
      expect(await engine.admin.checkIntegrity()).toEqual([])
    })
  },
)
