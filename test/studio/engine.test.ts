/** The engine, as the person sees it who runs the server. */
import { describe, expect, it } from 'vitest'
import { referenceEmbedder } from '../../src/adapters/reference/embedder.ts'
import { openConnection } from '../../src/adapters/sqlite/driver.ts'
import { AppError } from '../../src/core/errors.ts'
import type { OwnerId } from '../../src/core/ids.ts'
import type { Embedder } from '../../src/ports/embedder.ts'
import { keyFor } from '../doors/http-support.ts'
import { ScriptedModel } from '../fakes/language-model.ts'
import { BROWSER_TEST_MS, eventually, missing, openStudio, violationsIn } from './support.ts'

const HOME = 'default' as OwnerId

describe.skipIf(missing !== null)(
  `the page of the engine (skipped when ${missing ?? 'nothing is missing'})`,
  { timeout: BROWSER_TEST_MS },
  () => {
    it('[SG8] shows each part with its state, and warns while memory is on without models', async () => {
      const { visit, engine } = await openStudio()
      const page = await visit('engine')
      const part = (name: string) => page.getByRole('listitem', { name }).innerText()
      await eventually(() => part('Keyword search')).toMatch(/Works\s+FTS5/)
      expect(await part('Embedding')).toMatch(/Off\s+Memories are found by their words alone/)
      expect(await part('Vector store')).toContain('Off')
      expect(await part('Rerank')).toContain('Not configured')
      await eventually(() => part('Language models')).toContain('Not configured')
      await eventually(() => part('Background work')).toContain('0 running')
      expect(await page.getByText('Memory is on for default').count()).toBe(0)
      await engine.settings.change(HOME, { enabled: true })
      await page.getByText('no embedding model can be used').waitFor()
      await page.getByText('there is no language model to learn with').waitFor()
      await page.getByText('up to 800 tokens are added').waitFor()
      expect(await violationsIn(page)).toEqual([])
      await engine.settings.change(HOME, { shadow: true })
      await page.getByText('up to 800 tokens are added').waitFor({ state: 'detached' })
    })

    it('[SG8] says why a part fails', async () => {
      const asleep: Embedder = {
        ...referenceEmbedder(),
        report: () => ({
          ...referenceEmbedder().report(),
          state: { kind: 'failing', because: 'The model is asleep.' },
        }),
        embed: async () => {
          throw new AppError('unavailable', 'The model is asleep.')
        },
      }
      const { visit } = await openStudio({}, { embedding: asleep })
      const page = await visit('engine')
      const embedding = page.getByRole('listitem', { name: 'Embedding' })
      await eventually(() => embedding.innerText()).toMatch(/Fails\s+The model is asleep/)
      const card = page.getByRole('region', { name: 'Embedding' })
      await card.getByRole('button', { name: 'Test' }).click()
      await card.getByText('The model is asleep.').waitFor()
    })

    it('[SG8] is for superadmins', async () => {
      const { visit, engine } = await openStudio()
      const page = await visit('engine', { key: await keyFor(engine, 'user', 'ada') })
      await page.getByText('This page is for superadmins.').waitFor()
      expect(await page.getByRole('link', { name: 'Engine' }).count()).toBe(0)
    })

    it('[SG9] tries the embedding model and tells its dimensions and how near two texts are', async () => {
      const { visit } = await openStudio({}, { embedding: referenceEmbedder() })
      const page = await visit('engine')
      const card = page.getByRole('region', { name: 'Embedding' })
      await card.getByLabel('A sentence').fill('I prefer tea')
      await card.getByLabel('How near is this one?').fill('I prefer tea')
      await card.getByRole('button', { name: 'Test' }).click()
      const { dimensions } = await referenceEmbedder().describe()
      await card.getByText(`made ${dimensions} dimensions in`).waitFor()
      await card.getByText('Similarity of the two: 1.').waitFor()
    })

    it('[SG9] chooses where vectors come from, says what the next start changes, and takes it back', async () => {
      const { visit, engine } = await openStudio({}, { embedding: referenceEmbedder() })
      const page = await visit('engine')
      const card = page.getByRole('region', { name: 'Embedding' })
      await card.getByRole('radio', { name: /^Static model/ }).click()
      await eventually(async () => (await engine.settings.effective(null)).embeddingSource).toBe(
        'static',
      )
      await card.getByText('By these settings: static').waitFor()
      expect(await card.getByLabel('May use the local model').count()).toBe(0)
      await page.getByRole('button', { name: 'Undo' }).click()
      await eventually(async () => (await engine.settings.stored(null)).embeddingSource).toBe(
        undefined,
      )
      await card.getByLabel('May use the local model').click()
      await eventually(
        async () => (await engine.settings.effective(null)).transformersEnabled,
      ).toBe(false)
      await card.getByRole('combobox', { name: 'Remote model' }).fill('cohere/embed-v4.0')
      await page.keyboard.press('Enter')
      await eventually(
        async () => (await engine.settings.effective(null)).embeddingProviderModel,
      ).toBe('cohere/embed-v4.0')
    })

    it('[SG9] makes vectors anew, after asking', async () => {
      const { visit, engine } = await openStudio({}, { embedding: referenceEmbedder() })
      for (let n = 0; n < 30; n++) {
        await engine.remember({ owner: 'default' }, { content: `Note ${n}` })
      }
      await engine.reindex()
      const page = await visit('engine')
      const card = page.getByRole('region', { name: 'Vectors' })
      await card.getByText('Every memory has its vector.').waitFor()
      expect(await card.getByRole('button', { name: 'Reindex now' }).isDisabled()).toBe(true)
      await card.getByRole('button', { name: 'Make all anew' }).click()
      const asked = page.getByRole('alertdialog')
      await asked.getByRole('button', { name: 'Make all anew' }).click()
      await card.getByText('30 vectors were made.').waitFor()
    })

    it('[SG9] sets the core model and asks it', async () => {
      const languageModel = new ScriptedModel(
        'ready',
        new AppError('unavailable', 'Nobody answers.'),
      )
      const { visit, engine } = await openStudio({}, { languageModel })
      const page = await visit('engine')
      const card = page.getByRole('region', { name: 'Language models' })
      const test = card.getByRole('button', { name: 'Test: Core model' })
      expect(await test.isDisabled()).toBe(true)
      await card.getByRole('combobox', { name: 'Core model' }).fill('test/core')
      await page.keyboard.press('Enter')
      await eventually(async () => (await engine.settings.effective(null)).coreModel).toBe(
        'test/core',
      )
      await eventually(() => test.isDisabled()).toBe(false)
      await test.click()
      await card.getByText('“ready” in').waitFor()
      await card.getByText('110 of 500,000 tokens in 1 call').waitFor()
      await test.click()
      await card.getByText('Nobody answers.').waitFor()
      expect(languageModel.requests).toHaveLength(2)
    })

    it('[SG9] examines the store, and repairs after asking', async () => {
      const { visit, engine } = await openStudio()
      await engine.remember({ owner: 'default' }, { content: 'I prefer tea' })
      const page = await visit('engine')
      const card = page.getByRole('region', { name: 'Store' })
      await card.getByText('not encrypted').waitFor()
      await card.getByRole('button', { name: 'Examine' }).click()
      await card.getByText('Nothing is wrong.').waitFor()
      expect(await card.getByRole('button', { name: 'Repair' }).count()).toBe(0)
      const beside = await openConnection((await engine.status()).location, null)
      beside.exec('UPDATE corpus SET memories = memories + 1')
      beside.close()
      await card.getByRole('button', { name: 'Examine' }).click()
      await card.getByText('1 fault was found.').waitFor()
      await card.getByRole('button', { name: 'Repair' }).click()
      await page.getByRole('alertdialog').getByRole('button', { name: 'Repair' }).click()
      await card.getByText('1 fault was mended.').waitFor()
      expect(await engine.doctor()).toEqual([])
    })
  },
)
