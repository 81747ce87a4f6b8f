/** Ctrl-K from everywhere, forms that keep what was typed, and pages that survive an upgrade. */
import { describe, expect, it } from 'vitest'
import { BROWSER_TEST_MS, eventually, missing, openStudio, violationsIn } from './studio-support.ts'

const OWNER = { owner: 'default' }
const TEA = 'I prefer tea over coffee'

async function openPage(address = 'timeline') {
  const studio = await openStudio()
  await studio.engine.remember(OWNER, { content: TEA })
  const page = await studio.visit(address)
  const palette = page.getByRole('dialog', { name: 'Commands' })
  return { ...studio, page, palette }
}

describe.skipIf(missing !== null)(
  `the command palette (skipped when ${missing ?? 'nothing is missing'})`,
  { timeout: BROWSER_TEST_MS },
  () => {
    it('[SU25] finds pages, actions, memories and settings, by keyboard', async () => {
      const { page, palette, engine } = await openPage()
      await page.keyboard.press('Control+k')
      await palette.getByRole('option', { name: 'Receipts' }).waitFor()
      expect(await violationsIn(page)).toEqual([])
      await page.keyboard.type('receip')
      await eventually(() => palette.getByRole('option').count()).toBeGreaterThan(0)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Receipts', level: 1 }).waitFor()
      await page.keyboard.press('Control+k')
      await page.keyboard.type('tea over')
      await palette.getByRole('option', { name: TEA }).click()
      await page.waitForURL(/memories\?.*memory=mem_/)
      await page.getByRole('dialog').getByText(TEA).waitFor()
      await page.keyboard.press('Control+k')
      await page.keyboard.type('days in the trash')
      await palette.getByRole('option', { name: /Days in the trash/ }).click()
      await page.getByRole('heading', { name: /Days in the trash/ }).waitFor()
      await page.keyboard.press('Control+k')
      await page.keyboard.type('turn memory on')
      await palette.getByRole('option', { name: 'Turn memory on' }).waitFor()
      await page.keyboard.press('Enter')
      await eventually(
        async () => (await engine.admin.settings.resolve('default' as never))['gateway.enabled'],
      ).toBe(true)
    })

    it('[SU26] a form asks before it loses what was typed, and Ctrl-Enter submits it', async () => {
      const { page, palette, engine } = await openPage()
      await page.keyboard.press('Control+k')
      await palette.getByRole('option', { name: 'Add memory' }).click()
      const form = page.getByRole('dialog', { name: 'Add memory' })
      await form.getByLabel('Content').fill('The kettle is red')
      await page.keyboard.press('Escape')
      const ask = page.getByRole('alertdialog', { name: 'Discard what you typed?' })
      expect(await violationsIn(page)).toEqual([])
      await ask.getByRole('button', { name: 'Keep editing' }).click()
      expect(await form.getByLabel('Content').inputValue()).toBe('The kettle is red')
      await form.getByLabel('Content').press('Control+Enter')
      await form.waitFor({ state: 'hidden' })
      expect((await engine.list(OWNER, { contains: 'kettle' })).rows).toHaveLength(1)
    })

    it('[SU8] a page whose files are gone after an upgrade is loaded anew, once', async () => {
      const { page } = await openPage('memories')
      await page.getByRole('button', { name: TEA }).waitFor()
      let reloads = 0
      page.on('request', (request) => {
        if (request.isNavigationRequest()) reloads++
      })
      await page.route(/assets\/.*\.js$/, (route) =>
        reloads > 0 ? route.continue() : route.fulfill({ status: 404, body: '' }),
      )
      await page.getByRole('link', { name: 'Audit log' }).click()
      await page.getByRole('heading', { name: 'Audit log' }).waitFor()
      expect(reloads).toBe(1)
    })
  },
)
