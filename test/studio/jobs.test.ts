/** Background work, in a browser. */
import { describe, expect, it } from 'vitest'
import { AppError } from '../../src/lib/errors.ts'
import { keyFor } from '../api/http/http-support.ts'
import { ScriptedModel } from '../fakes/language-model.ts'
import { answer } from '../learning/distillation-support.ts'
import { personOn } from '../learning/learning-support.ts'
import { BROWSER_TEST_MS, eventually, missing, openStudio, violationsIn } from './studio-support.ts'

const OWNER = { owner: 'default' }
const ROME = 'When does sister Clara take the train to Rome? In June, they say, without any meat.'
const FACT = 'The user travels to Rome with her sister Clara'
const LEARNED = answer([{ content: FACT, turns: [0] }])
const FADED = ['An umbrella was left in a cafe', 'The neighbour sold a bicycle']
const FADING = /Its salience of 0.20 has faded/
const YEAR_MS = 365 * 86_400_000

async function openJobs(...answers: ConstructorParameters<typeof ScriptedModel>) {
  const languageModel = new ScriptedModel(...(answers.length === 0 ? [LEARNED] : answers))
  const studio = await openStudio(
    { 'gateway.enabled': true, 'learning.extractionModel': 'test/core' },
    { languageModel },
  )
  const { engine } = studio
  const jobs = async () =>
    (await engine.jobs.list({ ...OWNER, kind: 'distill' })).rows.map(({ status }) => status)
  return { ...studio, jobs, ...personOn(engine) }
}

type Opened = Awaited<ReturnType<typeof openJobs>>

/** Memories that nobody has used for a year; gives how many of them are still in use. */
async function leaveFaded({ engine }: Opened): Promise<() => Promise<number>> {
  const other = { owner: 'other' }
  for (const content of FADED) {
    // Only extracted memories are evicted.
    const provenance = { source: 'gateway', extractor: 'patterns', extractorVersion: '1' }
    await engine.remember(other, { content, salience: 0.2, provenance })
  }
  async function* aged() {
    for await (const line of engine.admin.export(other)) {
      yield line.replaceAll(
        /"(createdAt|updatedAt)":(\d+)/g,
        (_, name: string, at: string) => `"${name}":${Number(at) - YEAR_MS}`,
      )
    }
  }
  expect(await engine.admin.import(aged(), OWNER)).toMatchObject({ failed: 0 })
  return async () => (await engine.list(OWNER)).rows.length
}

describe.skipIf(missing !== null)(
  `the jobs (skipped when ${missing ?? 'nothing is missing'})`,
  { timeout: BROWSER_TEST_MS },
  () => {
    it('[SR12] shows the queue, cancels a job, does it now, and shows what came of it', async () => {
      const { visit, say, jobs, engine } = await openJobs()
      const page = await visit('jobs')
      await page.getByText('No background jobs').waitFor()
      await say('trip', ROME, 'Soon.', 'default')
      await page.getByText('Distill session').waitFor()
      const row = page.getByRole('row').filter({ hasText: 'Distill session' })
      expect(await row.innerText()).toContain('Waiting')
      expect(await violationsIn(page)).toEqual([])
      await row.getByRole('button', { name: 'Cancel' }).click()
      await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel job' }).click()
      await eventually(() => row.innerText()).toContain('Canceled')
      expect(await jobs()).toEqual(['cancelled'])
      await row.getByRole('button', { name: 'Run now' }).click()
      await page.getByText('Job queued.').first().waitFor()
      await engine.jobs.runDue()
      await eventually(() => row.innerText()).toMatch(
        /Done[\s\S]*Learned from the conversation\.[\s\S]*1 exchange/,
      )
      await page.getByLabel('Status').selectOption('dead')
      await page.getByText('No jobs with this status').waitFor()
      expect(page.url()).toContain('status=dead')
      await page.getByLabel('Status').selectOption('done')
      await row.getByRole('link', { name: 'trip' }).click()
      await page.getByRole('article').getByText(ROME).waitFor()
    })

    it('[SR12] lists what leaves next, and keeps it', async () => {
      const opened = await openJobs()
      const { visit, engine } = opened
      await leaveFaded(opened)
      const page = await visit('jobs?tab=consolidation')
      const leaving = page.getByRole('region', { name: 'Leaving next' }).first()
      await leaving.getByText(FADED[0] ?? '').waitFor()
      expect(await violationsIn(page)).toEqual([])
      const keep = leaving.getByRole('button', { name: 'Keep forever' })
      await eventually(() => keep.count()).toBe(2)
      await keep.first().click()
      await eventually(() => keep.count()).toBe(1)
      expect((await engine.memories.count(OWNER, { pinned: true })).total).toBe(1)
    })

    it('[SR12] shows a dry run with reasons, runs, and undoes one action or the whole run', async () => {
      const opened = await openJobs()
      const { visit } = opened
      const inUse = await leaveFaded(opened)
      const page = await visit('jobs?tab=consolidation')
      await page.getByText('No runs yet').waitFor()
      await page.getByRole('button', { name: 'Dry run' }).click()
      const dry = page.getByRole('region', { name: 'Dry run result' })
      await eventually(() => dry.getByText(FADING).count()).toBe(2)
      expect(await dry.getByRole('button', { name: /Undo/ }).count()).toBe(0)
      expect(await inUse()).toBe(2)
      await dry.getByRole('button', { name: 'Close' }).click()
      await dry.waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Run now' }).click()
      await page.getByRole('alertdialog').getByRole('button', { name: 'Run now' }).click()
      await eventually(inUse).toBe(0)
      await eventually(() => page.getByText(FADING).count()).toBe(2)
      expect(await violationsIn(page)).toEqual([])
      await page.getByRole('row').getByRole('button', { name: 'Undo' }).first().click()
      await eventually(inUse).toBe(1)
      await page.getByText('Undone', { exact: true }).waitFor()
      await page.reload()
      await page.getByText('Undone', { exact: true }).waitFor()
      expect(await page.getByRole('row').getByRole('button', { name: 'Undo' }).count()).toBe(1)
      await page.getByRole('button', { name: 'Undo run' }).click()
      const ask = page.getByRole('alertdialog')
      await ask.getByText('1 action will be undone').waitFor()
      await ask.getByRole('button', { name: 'Undo run' }).click()
      await eventually(inUse).toBe(2)
      await eventually(() => page.getByRole('button', { name: /Undo/ }).count()).toBe(0)
    })

    it('[SR12] shows the jobs of all owners, and more of them, and tries again what was given up', async () => {
      const { visit, engine, say } = await openJobs()
      for (let n = 0; n < 50; n++) await say(`talk ${n}`, ROME, 'Soon.', 'default')
      await say('elsewhere', ROME, 'Soon.', 'ada')
      const onProgress = () => {
        throw new Error('No.')
      }
      await engine.remember(OWNER, { content: 'An umbrella was left in a cafe' })
      await expect(engine.learning.consolidate(OWNER, { onProgress })).rejects.toThrow()
      const page = await visit('jobs')
      const rows = page.getByRole('row')
      await eventually(() => rows.count()).toBe(51)
      await page.getByRole('button', { name: 'Show more' }).click()
      await eventually(() => rows.count()).toBe(52)
      await page.getByLabel('All owners').click()
      await eventually(async () => page.url()).toContain('allOwners=true')
      await page.getByLabel('Status').selectOption('dead')
      await eventually(() => rows.count()).toBe(2)
      expect(await rows.last().innerText()).toMatch(/default[\s\S]*internal/)
      await rows.last().getByRole('button', { name: 'Retry' }).click()
      await page.getByText('Job queued.').first().waitFor()
      await page.getByLabel('Status').selectOption('waiting')
      await page.getByRole('button', { name: 'Show more' }).click()
      await eventually(() => page.getByRole('cell', { name: 'ada', exact: true }).count()).toBe(1)
    })

    it('[SR12] tells how learning goes, and has what failed tried again', async () => {
      const failing = new AppError('invalid_input', 'The model refuses.')
      const { visit, say, engine } = await openJobs(...[failing, failing, failing], LEARNED)
      await say('trip', ROME, 'Soon.', 'default')
      await say('trip', `${ROME} And back?`, 'In July.', 'default')
      for (let attempt = 0; attempt < 3; attempt++) {
        await engine.learning.distill({ ...OWNER, session: 'trip' })
      }
      const page = await visit('jobs?tab=learning')
      await page.getByText('test/core').waitFor()
      const failed = page.getByRole('row').filter({ hasText: 'invalid_input' })
      await eventually(() => failed.count()).toBe(2)
      expect(await violationsIn(page)).toEqual([])
      await failed.first().getByRole('button', { name: 'Retry' }).click()
      await page.getByText('1 exchange queued for retry.').first().waitFor()
      await eventually(() => failed.count()).toBe(1)
      await page.getByRole('button', { name: 'Retry all' }).click()
      await engine.jobs.runDue()
      const isLearned = async () => (await engine.list(OWNER, { contains: FACT })).rows.length
      await eventually(isLearned).toBe(1)
      await eventually(() => failed.count()).toBe(0)
    })

    it('[SR13] readers see jobs of their owner, and nothing that they may not do', async () => {
      const { visit, say, engine } = await openJobs()
      await say('trip', ROME, 'Soon.', 'default')
      await engine.learning.consolidate(OWNER)
      const key = await keyFor(engine, 'reader', 'default')
      const page = await visit('jobs', { key })
      await page.getByText('Distill session').waitFor()
      const can = page.getByRole('main').getByRole('button')
      expect(await can.count()).toBe(0)
      expect(await page.getByLabel('All owners').count()).toBe(0)
      await page.getByRole('tab', { name: 'Consolidation' }).click()
      await page.getByText('Step durations').waitFor()
      expect(await can.count()).toBe(0)
    })
  },
)
