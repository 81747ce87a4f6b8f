/** What is around every page: signing in, whose memories are shown, language, look, and ways for keyboard and finger. */
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { BROWSER_TEST_MS, eventually, missing, openStudio, violationsIn } from './studio-support.ts'

const OWNER = { owner: 'default' }
const TEA = 'I prefer tea over coffee'
const BEES = 'Her brother keeps bees'
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true }

async function openShell() {
  const studio = await openStudio()
  const { memory } = await studio.engine.remember(OWNER, { content: TEA })
  await studio.engine.remember({ owner: 'other' }, { content: BEES })
  return { ...studio, tea: memory }
}

async function choose(page: Page, menu: string, item: string) {
  await page.getByRole('button', { name: menu }).click()
  await page.getByRole('menuitemcheckbox', { name: item }).click()
}

async function helped(page: Page): Promise<readonly string[]> {
  const keys = page.getByRole('dialog').locator('kbd')
  await keys.first().waitFor()
  return keys.allInnerTexts()
}

describe.skipIf(missing !== null)(
  `around every page (skipped when ${missing ?? 'nothing is missing'})`,
  { timeout: BROWSER_TEST_MS },
  () => {
    it('[SU15] somebody signs out, and in again with their key', async () => {
      const { visit, admin } = await openShell()
      const page = await visit('timeline')
      await eventually(() => page.title()).toBe('Timeline · Recollect')
      await page.getByRole('button', { name: 'Account' }).click()
      await page.getByRole('menuitem', { name: 'Sign out' }).click()
      await page.getByLabel('Key').fill(admin)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('button', { name: TEA }).waitFor()
      await eventually(() => page.title()).toBe('Memories · Recollect')
    })

    it('[SU17] another owner is chosen, and what was selected of the one before is not', async () => {
      const { visit, tea } = await openShell()
      const page = await visit(`memories?memory=${tea.id}`)
      await page.getByRole('dialog').getByText(TEA).waitFor()
      await page.keyboard.press('Escape')
      await page.getByLabel(`Select: ${TEA}`).check()
      await page.getByText('1 selected').waitFor()
      const picker = page.getByRole('banner').getByLabel('Owner')
      expect(await picker.locator('option').allInnerTexts()).toEqual([
        'default',
        'other',
        'All owners',
      ])
      await picker.selectOption('other')
      await page.getByRole('button', { name: BEES }).waitFor()
      expect(await page.getByText('1 selected').count()).toBe(0)
      await page.getByRole('link', { name: 'Timeline' }).click()
      await page.getByText('No episodes yet').waitFor()
      expect(page.url()).toContain('owner=other')
      await picker.selectOption('default')
      await page.getByRole('link', { name: 'Memories' }).click()
      await page.getByRole('button', { name: TEA }).waitFor()
    })

    it('[SU18] another language is spoken at once, with its dates, and after a reload', async () => {
      const { visit, tea } = await openShell()
      const page = await visit('memories', { timezoneId: 'UTC' })
      await choose(page, 'Language', 'Deutsch')
      await page.getByRole('heading', { name: 'Erinnerungen', exact: true }).waitFor()
      const day = new Intl.DateTimeFormat('de', { dateStyle: 'medium', timeZone: 'UTC' })
      await page.getByText(day.format(tea.createdAt)).waitFor()
      expect(await violationsIn(page)).toEqual([])
      await page.reload()
      await eventually(() => page.title()).toBe('Erinnerungen · Recollect')
      expect(await page.evaluate(() => document.documentElement.lang)).toBe('de')
    })

    it('[SU18] no other language is shown first, and English where a language can’t be had', async () => {
      const { visit } = await openShell()
      const page = await visit('memories', { locale: 'ja-JP' })
      await page.getByRole('heading', { name: '記憶', exact: true }).waitFor()
      await page.addInitScript(() => {
        const shown = new Set<string>()
        Object.assign(globalThis, { shown })
        new MutationObserver(() => {
          shown.add(document.querySelector('h1')?.textContent ?? '')
        }).observe(document, { childList: true, subtree: true })
      })
      const headings = () =>
        page.evaluate(() => [...(globalThis as unknown as { shown: Set<string> }).shown]) // put there above
      await page.reload()
      await page.getByRole('button', { name: TEA }).waitFor()
      expect((await headings()).filter((text) => text !== '')).toEqual(['記憶'])
      await page.route('**/ja-*.json', (route) => route.abort())
      await page.reload()
      await page.getByRole('heading', { name: 'Memories', exact: true }).waitFor()
    })

    it('[SU18] light and dark are chosen, and stay', async () => {
      const { visit } = await openShell()
      const page = await visit('memories')
      const theme = () => page.evaluate(() => document.documentElement.dataset.theme)
      await choose(page, 'Appearance', 'Dark')
      await eventually(theme).toBe('dark')
      await page.reload()
      await page.getByRole('button', { name: TEA }).waitFor()
      expect(await theme()).toBe('dark')
      await choose(page, 'Appearance', 'System')
      await eventually(theme).toBe(undefined)
    })

    it('[SU9] on a phone, pages are behind a button, and a tap on the health tells its reason', async () => {
      const { visit } = await openShell()
      const page = await visit('memories', { ...PHONE, colorScheme: 'dark' })
      await page.getByRole('button', { name: TEA }).waitFor()
      expect(await violationsIn(page)).toEqual([])
      const menu = page.getByRole('button', { name: 'Menu' })
      const timeline = page.getByRole('navigation').getByRole('link', { name: 'Timeline' })
      expect(await timeline.isVisible()).toBe(false)
      await menu.tap()
      await timeline.tap()
      await page.getByRole('heading', { name: 'Timeline' }).waitFor()
      expect(await menu.getAttribute('aria-expanded')).toBe('false')
      await page.route('**/health/ready', (route) =>
        route.fulfill({ json: { status: 'degraded', reasons: ['The index is behind.'] } }),
      )
      await page.reload()
      // Once it is known, that memory is off stands before the reason.
      await page.getByRole('button', { name: /^Health: .*The index is behind\.$/ }).tap()
      await page.locator('li').filter({ hasText: 'The index is behind.' }).waitFor()
    })

    it('[SU5] the help names the keys that do something on the page, and a link skips to it', async () => {
      const { visit } = await openShell()
      const page = await visit('memories')
      await page.getByRole('button', { name: TEA }).waitFor()
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      await eventually(() => page.evaluate(() => document.activeElement?.id)).toBe('page')
      const help = page.getByRole('button', { name: 'Keyboard' })
      await help.click()
      expect(await helped(page)).toEqual([
        '/',
        'j',
        'k',
        'Enter',
        'e',
        'x',
        'n',
        'Ctrl K',
        'Esc',
        '?',
      ])
      await page.keyboard.press('Escape')
      await page.getByRole('link', { name: 'Review' }).click()
      await page.getByRole('heading', { name: 'Review' }).waitFor()
      await help.click()
      expect(await helped(page)).toEqual(['Ctrl K', 'Esc', '?'])
    })
  },
)
