/** Conversations, in a browser. */
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../src/lib/errors.ts'
import { keyFor } from '../api/http/http-support.ts'
import { ScriptedModel } from '../fakes/language-model.ts'
import { answer } from '../learning/distillation-support.ts'
import { personOn } from '../learning/learning-support.ts'
import { BROWSER_TEST_MS, eventually, missing, openStudio, violationsIn } from './studio-support.ts'

const OWNER = { owner: 'default' }
const ROME =
  'When does sister Clara take the train to Rome? In June, and <script>alert(1)</script>.'
const FACT = 'The user travels to Rome with her sister Clara'
const LONG = `It leaves at nine.\n\`\`\`\n<b>nine</b>\n\`\`\`\n${'And it is never late. '.repeat(80)}`
const DIGEST = 'Ada planned a trip to Rome.'
const LEARNED = answer([{ content: FACT, turns: [0] }], { summary: DIGEST })

async function openSessions(...answers: ConstructorParameters<typeof ScriptedModel>) {
  const languageModel = new ScriptedModel(...(answers.length === 0 ? [LEARNED] : answers))
  const settings = {
    'gateway.enabled': true,
    'learning.extractionModel': 'test/core',
    'learning.extractionMode': 'manual',
  }
  const studio = await openStudio(settings, { languageModel })
  const { engine } = studio
  const { say } = personOn(engine)
  await engine.learning.ingest({
    ...{ ...OWNER, conversation: 'long', skipExtraction: true },
    turns: Array.from({ length: 130 }, (_, index) => ({ user: `Turn number ${index}` })),
    sessionDate: Date.parse('2026-04-01T12:00:00Z'),
  })
  await say('trip', ROME, LONG, 'default')
  const scope = { ...OWNER, session: 'trip' }
  return {
    ...studio,
    scope,
    turnsOf: async (session: string) =>
      (await engine.conversations.turns.list({ ...OWNER, session }, { limit: 500 })).rows,
    factStatus: async () => {
      const statuses = ['active', 'forgotten'] as const
      const { rows } = await engine.list(OWNER, { statuses, contains: FACT })
      return rows[0]?.status
    },
  }
}

const MORE = 'Turn actions'
const transcript = (page: Page) => page.getByRole('region', { name: 'Transcript' })

describe.skipIf(missing !== null)(
  `the sessions (skipped when ${missing ?? 'nothing is missing'})`,
  { timeout: BROWSER_TEST_MS },
  () => {
    it('[SR9] lists conversations, shows one as text, folds what is long', async () => {
      const { visit } = await openSessions()
      const page = await visit('sessions')
      const list = page.getByRole('region', { name: 'Session list' })
      await list.getByRole('button', { name: /When does sister Clara/ }).click()
      const shown = transcript(page)
      await shown.getByText(ROME).waitFor()
      await shown.getByText('<b>nine</b>').waitFor()
      expect(await shown.innerText()).toContain('2 turns')
      const length = async () => (await shown.innerText()).length
      const folded = await length()
      await shown.getByRole('button', { name: 'Show all' }).click()
      expect(await length()).toBeGreaterThan(folded + 500)
      await shown.getByRole('button', { name: 'Show less' }).click()
      expect(await length()).toBe(folded)
      expect(page.url()).toContain('session=trip')
      expect(await violationsIn(page)).toEqual([])
      await page.goBack()
      await page.getByText('Select a session').waitFor()
    })

    it('[SR9] finds what was said, and a link goes to the turn, however far down', async () => {
      const { visit, turnsOf } = await openSessions()
      const page = await visit('sessions')
      await page.keyboard.press('/')
      await page.keyboard.type('Clara')
      await page.waitForURL(/q=Clara/)
      await page.getByRole('button', { name: /sister Clara take the train/ }).click()
      await transcript(page).getByText(ROME).waitFor()
      expect(page.url()).toMatch(/turn=turn_\w+/)
      await page.getByLabel('Search transcripts').fill('zzyzx')
      await page.getByText('No matching turns').waitFor()
      const far = (await turnsOf('long'))[120]
      const linked = await visit(`sessions?session=long&turn=${far?.id}`)
      const turn = linked.locator('article[aria-current]')
      await turn.getByText('Turn number 120').waitFor()
      await eventually(async () => {
        const { y = -1, height = 0 } = (await turn.boundingBox()) ?? {}
        return y >= 0 && y + height <= (linked.viewportSize()?.height ?? 0)
      }).toBe(true)
      const gone = await visit('sessions?session=long&turn=turn_gone')
      await gone.getByText('no longer exists').waitFor()
      const nowhere = await visit('sessions?session=nowhere')
      await nowhere.getByText('Session not found').waitFor()
    })

    it('[SR9] shows more when asked, leads back on a phone, and copies a link to a turn', async () => {
      const { visit, engine } = await openSessions()
      for (let n = 0; n < 51; n++) {
        const turns = [{ user: `Hello ${n}` }]
        await engine.learning.ingest({
          ...OWNER,
          conversation: `c${n}`,
          turns,
          skipExtraction: true,
        })
      }
      const page = await visit('sessions?session=long')
      const list = page.getByRole('region', { name: 'Session list' })
      await eventually(() => list.getByRole('listitem').count()).toBe(50)
      await list.getByRole('button', { name: 'Show more' }).click()
      await eventually(() => list.getByRole('listitem').count()).toBe(53)
      const turns = transcript(page).getByRole('article')
      await eventually(() => turns.count()).toBe(100)
      await transcript(page).getByRole('button', { name: 'Show more' }).click()
      await eventually(() => turns.count()).toBe(130)
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
      await turns.first().getByRole('button', { name: MORE }).click()
      await page.getByRole('menuitem', { name: 'Copy link' }).click()
      await page.getByText('Link copied.').first().waitFor()
      const link = await page.evaluate(() => navigator.clipboard.readText())
      expect(link).toMatch(/\/studio\/sessions\?owner=default&session=long&turn=turn_/)
      const phone = await visit('sessions?session=long&turn=turn_gone', {
        viewport: { width: 390, height: 844 },
      })
      await transcript(phone).getByText('no longer exists').waitFor()
      await transcript(phone).getByRole('button', { name: 'Close' }).click()
      await eventually(async () => phone.url()).not.toContain('turn=')
      await phone.getByRole('button', { name: 'All sessions' }).click()
      await phone.getByRole('button', { name: /Hello 50/ }).waitFor()
      expect(phone.url()).not.toContain('session=')
    })

    it('[SR10] unfolds a long digest and leads to it, and has all that failed tried again', async () => {
      const failing = new AppError('invalid_input', 'The model refuses.')
      const summary = `Ada planned a trip to Rome${', and asked about another train'.repeat(20)}.`
      const learned = answer([{ content: FACT, turns: [0] }], { summary })
      const { visit, engine, scope } = await openSessions(...[failing, failing, failing], learned)
      await personOn(engine).say('trip', `${ROME} And back?`, 'In July.', 'default')
      for (let attempt = 0; attempt < 3; attempt++) await engine.learning.distill(scope)
      const page = await visit('sessions?session=trip')
      await transcript(page).getByRole('button', { name: 'Retry all' }).click()
      await page.getByText('2 exchanges queued for retry').first().waitFor()
      await engine.jobs.runDue()
      const digest = transcript(page).getByRole('region', { name: 'Summary' })
      const height = async () => (await digest.boundingBox())?.height ?? 0
      await digest.getByRole('button', { name: 'Show all' }).waitFor()
      const folded = await height()
      await digest.getByRole('button', { name: 'Show all' }).click()
      await eventually(height).toBeGreaterThan(folded)
      await digest.getByRole('link', { name: 'Open in timeline' }).click()
      await page.waitForURL(/studio\/timeline\?.*episode=/)
    })

    it('[SR10] distils at once, tells what came of it, shows what each turn produced, takes it back', async () => {
      const { visit, factStatus } = await openSessions()
      const page = await visit('sessions?session=trip')
      const shown = transcript(page)
      await shown.getByText('1 exchange pending').waitFor()
      await shown.getByRole('button', { name: 'Distill now' }).click()
      await shown.getByText('Distilled: 1 memory created or updated').waitFor()
      const [asked] = await shown.getByRole('article').all()
      await asked?.getByRole('link', { name: FACT }).waitFor()
      await shown.getByRole('region', { name: 'Summary' }).getByText(DIGEST).waitFor()
      await eventually(() => shown.getByText('1 exchange pending').count()).toBe(0)
      expect(await violationsIn(page)).toEqual([])
      await shown.getByRole('button', { name: 'Undo' }).click()
      await eventually(factStatus).toBe('forgotten')
      await eventually(() => shown.getByRole('link', { name: FACT }).count()).toBe(0)
      await shown.getByRole('button', { name: 'Distill now' }).click()
      await shown.getByText('There are no new exchanges to distill.').waitFor()
    })

    it('[SR10] shows what failed too often, and has it tried again', async () => {
      const failing = new AppError('invalid_input', 'The model refuses.')
      const { visit, engine, scope, factStatus } = await openSessions(
        ...[failing, failing, failing],
        LEARNED,
      )
      for (let attempt = 0; attempt < 3; attempt++) await engine.learning.distill(scope)
      const page = await visit('sessions?session=trip')
      const shown = transcript(page)
      await shown.getByText('Failed 3 times: invalid_input').waitFor()
      expect(await violationsIn(page)).toEqual([])
      await shown.getByRole('button', { name: 'Go to turn' }).click()
      await shown.locator('article[aria-current]').getByText(ROME).waitFor()
      await shown.getByRole('button', { name: 'Retry' }).click()
      await page.getByText('1 exchange queued for retry').first().waitFor()
      await engine.jobs.runDue()
      await eventually(factStatus).toBe('active')
      await eventually(() => shown.getByText('Failed 3 times').count()).toBe(0)
    })

    it('[SR10] corrects a turn, and loses nothing when somebody else was quicker', async () => {
      const { visit, engine, turnsOf } = await openSessions()
      const page = await visit('sessions?session=trip')
      const open = async () => {
        await transcript(page).getByRole('button', { name: MORE }).first().click()
        await page.getByRole('menuitem', { name: 'Edit' }).click()
      }
      await open()
      const [turn] = await turnsOf('trip')
      await engine.conversations.turns.edit(OWNER, turn?.id ?? '', { content: 'Theirs' })
      await page.getByLabel('Content', { exact: true }).fill('Mine')
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByText('changed by someone else').waitFor()
      await page.getByRole('button', { name: 'Keep my version' }).click()
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await transcript(page).getByText('Mine', { exact: true }).waitFor()
      expect((await turnsOf('trip'))[0]).toMatchObject({ content: 'Mine', version: 3 })
      await page.getByRole('button', { name: 'Undo' }).click()
      await transcript(page).getByText('Theirs', { exact: true }).waitFor()
      await open()
      await engine.conversations.turns.edit(OWNER, turn?.id ?? '', { content: 'Theirs again' })
      await page.getByLabel('Content', { exact: true }).fill('Mine again')
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByRole('button', { name: 'Use stored version' }).click()
      const field = page.getByLabel('Content', { exact: true })
      await eventually(() => field.inputValue()).toBe('Theirs again')
      expect(await page.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true)
    })

    it('[SR10] forgets a turn or all of them, with what was learned when that is wanted', async () => {
      const { visit, engine, scope, turnsOf, factStatus } = await openSessions()
      await engine.learning.distill(scope)
      const page = await visit('sessions?session=trip')
      await transcript(page).getByRole('link', { name: FACT }).waitFor()
      await transcript(page).getByRole('button', { name: MORE }).first().click()
      await page.getByRole('menuitem', { name: 'Delete' }).click()
      const ask = page.getByRole('alertdialog')
      await ask.getByText(FACT).waitFor()
      await ask.getByRole('button', { name: 'Cancel' }).click()
      expect(await turnsOf('trip')).toHaveLength(2)
      await transcript(page).getByRole('button', { name: MORE }).first().click()
      await page.getByRole('menuitem', { name: 'Delete' }).click()
      await ask.getByLabel('Also move these memories to the trash').check()
      await ask.getByRole('button', { name: 'Delete' }).click()
      await eventually(async () => (await turnsOf('trip')).length).toBe(1)
      await eventually(factStatus).toBe('forgotten')
      await page.getByRole('button', { name: 'Restore memories' }).click()
      await eventually(factStatus).toBe('active')
      await page.getByRole('button', { name: 'Delete session' }).click()
      await ask.getByLabel('Also move memories from this session to the trash').check()
      await ask.getByRole('button', { name: 'Delete' }).click()
      await page.getByText('Select a session').waitFor()
      expect(await turnsOf('trip')).toEqual([])
      await eventually(factStatus).toBe('forgotten')
      await eventually(() => page.getByRole('button', { name: /sister Clara/ }).count()).toBe(0)
      await page.getByRole('button', { name: 'Restore memories' }).last().click()
      await eventually(factStatus).toBe('active')
    })

    it('[SR13] readers see conversations, and nothing that they may not do', async () => {
      const { visit, engine } = await openSessions()
      const key = await keyFor(engine, 'reader', 'default')
      const page = await visit('sessions?session=trip', { key })
      await transcript(page).getByText(ROME).waitFor()
      for (const name of ['Distill now', 'Delete session']) {
        expect(await page.getByRole('button', { name }).count()).toBe(0)
      }
      await transcript(page).getByRole('button', { name: MORE }).first().click()
      expect(await page.getByRole('menuitem').allInnerTexts()).toEqual(['Copy link'])
    })
  },
)
