/** The receipts, as somebody reads them who pays for the tokens. */
import { describe, expect, it } from 'vitest'
import type { OwnerId } from '../../src/domain/ids.ts'
import { answerOf, outcomeOf, requestOf } from '../conversations/conversations-support.ts'
import { BROWSER_TEST_MS, eventually, missing, openStudio, violationsIn } from './studio-support.ts'

async function openReceipts() {
  const studio = await openStudio()
  const { engine } = studio
  await engine.admin.settings.change('default' as OwnerId, { 'gateway.enabled': true })
  await engine.remember({ owner: 'default' }, { content: 'The dog of Ada is called <b>Rex</b>' })
  return {
    ...studio,
    asked: async (text: string, model: string, status = 200, session?: string) => {
      const scope = { owner: 'default', ...(session === undefined ? {} : { session }) }
      const prepared = await engine.conversations.prepare(requestOf([text], { model, scope }))
      const answer = answerOf('Well.', { usage: { input: 1_200, output: 34, cached: null } })
      engine.conversations.recordOutcome(prepared, outcomeOf(prepared, answer, { status }))
      await engine.conversations.flush()
    },
  }
}
const ABOUT_DOG = 'What is the dog of Ada called?'

describe.skipIf(missing !== null)(
  `the receipts (skipped when ${missing ?? 'nothing is missing'})`,
  { timeout: BROWSER_TEST_MS },
  () => {
    it('[SP6] shows what requests cost, as charts and as tables', async () => {
      const { visit, asked } = await openReceipts()
      await asked(ABOUT_DOG, 'openai/gpt')
      await asked('Zzyzx qwertz?', 'other/model', 500)
      const page = await visit('receipts')
      const models = page.getByRole('region', { name: 'By model' }).getByRole('row')
      await expect
        .poll(() => models.allInnerTexts())
        .toEqual([
          expect.stringContaining('Requests'),
          expect.stringMatching(/openai\/gpt\s+1\s+100%\s+1,200\s+34\s+\d+\s+0\s+0/),
          expect.stringMatching(/other\/model\s+1\s+0%\s+1,200\s+34\s+0\s+0\s+1/),
        ])
      await eventually(() => page.locator('.uplot canvas').count()).toBe(3)
      const tokens = page.getByRole('figure').filter({ hasText: 'Tokens per day' })
      await tokens.getByText('Show as table').click()
      expect(await tokens.getByRole('row').nth(1).innerText()).toMatch(/2\.3k\s+68\s+\d+/)
      expect(await violationsIn(page)).toEqual([])
      await page.getByLabel('Period').selectOption('7')
      await eventually(() => tokens.getByRole('row').count()).toBe(8)
    })

    it('[SP5] narrows by outcome and model, and keeps that in the address', async () => {
      const { visit, asked } = await openReceipts()
      await asked(ABOUT_DOG, 'openai/gpt')
      await asked('Zzyzx qwertz?', 'openai/gpt')
      await asked(ABOUT_DOG, 'other/model')
      const page = await visit('receipts')
      const rows = page.locator('[data-receipt]')
      await eventually(() => rows.count()).toBe(3)
      const list = page.getByRole('region', { name: 'Requests' }).first()
      await list.getByLabel('Result', { exact: true }).selectOption('no-relevant-memories')
      await eventually(() => rows.count()).toBe(1)
      await page.reload()
      await eventually(() => rows.count()).toBe(1)
      await list.getByRole('button', { name: 'Clear filters' }).click()
      await list.getByLabel('Model').selectOption('other/model')
      await eventually(() => rows.count()).toBe(1)
      await list.getByLabel('User').fill('nobody')
      await page.keyboard.press('Enter')
      await page.getByText('No matching receipts').waitFor()
    })

    it('[SP5] shows and searches the question, with what it cost by a price table', async () => {
      const { visit, asked } = await openReceipts()
      await asked(ABOUT_DOG, 'openai/gpt-5-mini', 200, 'walk')
      await asked('Zzyzx qwertz?', 'local/unknown', 200, 'walk')
      const page = await visit('receipts')
      const row = page.getByRole('row').filter({ hasText: ABOUT_DOG })
      // 1,200 tokens at $0.25 and 34 at $2 a million.
      await row.getByRole('cell', { name: '$0.00037' }).waitFor()
      await page.getByLabel('Question').fill('QWERTZ')
      await page.keyboard.press('Enter')
      await eventually(() => page.locator('[data-receipt]').count()).toBe(1)
      const other = page.getByRole('row').filter({ hasText: 'Zzyzx' })
      expect(await other.innerText()).not.toContain('$')
      await page.getByRole('button', { name: 'Prices' }).click()
      const dialog = page.getByRole('dialog', { name: 'Price table' })
      await dialog.getByLabel('local/unknown: Input tokens').fill('1000')
      await page.keyboard.press('Enter')
      expect(await violationsIn(page)).toEqual([])
      await dialog.getByRole('button', { name: 'Close' }).last().click()
      await other.getByRole('cell', { name: '$1.2' }).waitFor()
    })

    it('[SP9] marks what has changed since it was sent', async () => {
      const { visit, asked, engine } = await openReceipts()
      await asked(ABOUT_DOG, 'openai/gpt')
      const { rows } = await engine.list({ owner: 'default' }, { contains: 'Rex' })
      await engine.edit({ owner: 'default' }, rows[0]?.id ?? '', {
        content: 'The dog is called Max',
      })
      const page = await visit('receipts')
      await page.locator('[data-receipt]').first().click()
      const sent = page.getByRole('dialog').locator('mark')
      await eventually(() => sent.allInnerTexts()).toEqual([expect.stringContaining('Rex')])
      await page.getByText('Marked lines have changed').waitFor()
      expect(await violationsIn(page)).toEqual([])
    })

    it('[SP5] narrows by session, goes through the list by keyboard, and leads to the session', async () => {
      const { visit, asked, engine } = await openReceipts()
      for (let n = 0; n < 51; n++) await asked(`Zzyzx ${n}?`, 'openai/gpt')
      await asked(ABOUT_DOG, 'openai/gpt', 200, 'walk')
      const page = await visit('receipts')
      const rows = page.locator('[data-receipt]')
      await eventually(() => rows.count()).toBe(50)
      await page.getByRole('button', { name: 'Show more' }).click()
      await eventually(() => rows.count()).toBe(52)
      for (const key of ['j', 'j', 'k']) await page.keyboard.press(key)
      await page.keyboard.press('Enter')
      const drawer = page.getByRole('dialog', { name: 'Receipt' })
      await drawer.getByText('walk', { exact: true }).waitFor()
      await drawer.getByRole('button', { name: 'Close' }).click()
      await page.getByLabel('Session').fill('walk')
      await page.keyboard.press('Enter')
      await eventually(() => rows.count()).toBe(1)
      await rows.click()
      await drawer.getByRole('link', { name: 'Open session' }).click()
      await page.waitForURL(/studio\/sessions\?.*session=walk/)
      await engine.admin.settings.change('default' as OwnerId, { 'gateway.enabled': false })
      await page.goBack()
      await page.keyboard.press('Escape')
      await page.getByRole('main').getByRole('link', { name: 'Open settings' }).click()
      await page.waitForURL(/studio\/settings/)
    })

    it('[SP5] tells everything about one request, and follows what comes in', async () => {
      const { visit, asked } = await openReceipts()
      const page = await visit('receipts')
      await page.getByText('No receipts yet').waitFor()
      await asked(ABOUT_DOG, 'openai/gpt')
      await page.locator('[data-receipt]').click()
      const drawer = page.getByRole('dialog', { name: 'Receipt' })
      await drawer.getByRole('link', { name: 'The dog of Ada is called <b>Rex</b>' }).waitFor()
      const said = await drawer.innerText()
      expect(said).toMatch(/1 memory, \d+ tokens, position: turn-end\./)
      expect(said).toMatch(/keyword [\d.]+\s+fusion [\d.]+/)
      expect(said).toContain('1,200')
      await drawer.getByText(ABOUT_DOG).waitFor()
      expect(await violationsIn(page)).toEqual([])
      await drawer.getByRole('button', { name: 'Close' }).click()
      await drawer.waitFor({ state: 'hidden' })
      await page.goBack()
      await drawer.getByRole('link', { name: 'The dog of Ada is called <b>Rex</b>' }).click()
      await page.waitForURL(/studio\/memories\?.*memory=/)
    })

    it('[SP7] shows the injected block and leads to what its lines cite', async () => {
      const { visit, asked, engine } = await openReceipts()
      await asked(
        'Wondering whether the dog walks to the old lighthouse',
        'openai/gpt',
        200,
        'walk',
      )
      await asked(`${ABOUT_DOG} Does the dog walk to the lighthouse?`, 'openai/gpt')
      const [{ id } = { id: '' }] = (await engine.conversations.receipts.list({ owner: 'default' }))
        .rows
      const receipt = await engine.conversations.receipts.get({ owner: 'default' }, id)
      const page = await visit('receipts')
      await page.locator('[data-receipt]').first().click()
      const drawer = page.getByRole('dialog', { name: 'Receipt' })
      const block = drawer.getByRole('region', { name: 'Context text' })
      await block.getByRole('link', { name: /lighthouse/ }).waitFor()
      expect(await block.locator('pre').textContent()).toBe(receipt?.block)
      expect(await violationsIn(page)).toEqual([])
      await block.getByRole('link', { name: /lighthouse/ }).click()
      await page.waitForURL(/studio\/sessions\?.*session=walk/)
      await page.goBack()
      await block.getByRole('link', { name: /Rex/ }).click()
      await page.waitForURL(/studio\/memories\?.*memory=/)
    })

    it('[SP8] shows placeholders for lines that were redacted', async () => {
      const { visit, asked, engine } = await openReceipts()
      const owner = { owner: 'default' }
      const { memory } = await engine.remember(owner, { content: 'The dog of Ada eats fish' })
      await asked(`${ABOUT_DOG} What does the dog of Ada eat?`, 'openai/gpt')
      const { rows } = await engine.list(owner, { contains: 'Rex' })
      await engine.forget(owner, rows[0]?.id ?? '')
      await engine.memories.erase(owner, memory.id)
      const page = await visit('receipts')
      await page.locator('[data-receipt]').first().click()
      const drawer = page.getByRole('dialog', { name: 'Receipt' })
      const block = drawer.getByRole('region', { name: 'Context text' })
      await eventually(async () =>
        (await block.innerText()).split('\n').slice(2, -1).sort(),
      ).toEqual(['- [erased]', '- [forgotten]'])
      await drawer.getByText('Erased: the line was removed').waitFor()
      await drawer.getByText('Forgotten: the memory is in the trash').waitFor()
      expect(await violationsIn(page)).toEqual([])
    })
  },
)
