/** The memories of all owners at once, which only a superadmin is shown. */
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { BROWSER_TEST_MS, eventually, missing, openStudio, violationsIn } from './studio-support.ts'

const EACH = 70
const OWNERS = ['ada', 'bob', 'cy']

async function openHouse() {
  const studio = await openStudio()
  for (const owner of OWNERS) {
    for (let n = 1; n <= EACH; n++) {
      const content = `${owner} keeps note number ${n}`
      await studio.engine.remember({ owner }, { content, importance: 1 + (n % 10) })
    }
  }
  return studio
}

const rows = (page: Page) => page.locator('[data-row] [role=cell] > button').allInnerTexts()
const picker = (page: Page) => page.getByRole('banner').getByLabel('Owner')

describe.skipIf(missing !== null)(
  `all owners (skipped when ${missing ?? 'nothing is missing'})`,
  { timeout: BROWSER_TEST_MS },
  () => {
    it('[SU19] are chosen by a superadmin, listed one after the other, narrowed, sorted and opened', async () => {
      const { visit } = await openHouse()
      const page = await visit('memories')
      await picker(page).selectOption('All owners')
      await page.getByRole('heading', { name: 'All owners' }).waitFor()
      await page.getByText('3 owners have memories').waitFor()
      await eventually(async () => (await rows(page))[0]).toBe(`ada keeps note number ${EACH}`)
      await page.getByRole('cell', { name: 'ada', exact: false }).first().waitFor()
      expect(await page.title()).toBe('All owners · Recollect')
      expect(await violationsIn(page)).toEqual([])
      // To the end, page after page.
      await eventually(async () => {
        await page.evaluate(() => {
          const frame = document.querySelector('[role=rowgroup]')?.parentElement
          frame?.scrollTo({ top: frame.scrollHeight })
        })
        return (await rows(page)).at(-1)
      }).toBe('cy keeps note number 1')
      await page.getByLabel('Sort by').selectOption('importance')
      await eventually(async () => (await rows(page))[0]).toBe('ada keeps note number 69')
      await page.getByRole('searchbox').fill('number 42')
      await eventually(() => rows(page)).toEqual(
        OWNERS.map((owner) => `${owner} keeps note number 42`),
      )
      await page.getByRole('searchbox').fill('zzyzx')
      await page.getByText('No matching memories').waitFor()
      await page.getByRole('searchbox').fill('number 42')
      await page.getByRole('button', { name: 'bob keeps note number 42' }).click()
      const opened = page.getByRole('dialog')
      await opened.getByText('bob keeps note number 42').waitFor()
      expect(page.url()).toMatch(/\/studio\/memories\?.*owner=bob/)
      await page.keyboard.press('Escape')
      await page.goBack()
      await page.goBack()
      await page.getByRole('heading', { name: 'All owners' }).waitFor()
      await picker(page).selectOption('cy')
      await page.getByRole('heading', { name: 'Memories', exact: true }).waitFor()
      await eventually(async () => (await rows(page))[0]).toBe('cy keeps note number 42')
    })

    it('[SU19] are neither offered nor shown to anybody else', async () => {
      const { visit, engine, url } = await openHouse()
      for (const role of ['user', 'agent', 'reader'] as const) {
        const { secret: key } = await engine.admin.keys.create({
          ...{ name: role, role, defaultOwner: 'ada', actsFor: ['bob'] },
        })
        const page = await visit('memories', { key })
        await eventually(async () => (await rows(page)).length).toBeGreaterThan(5)
        expect(await picker(page).locator('option').allInnerTexts()).toEqual(['ada', 'bob'])
        await page.goto(`${url}/studio/all-owners`)
        await page.getByRole('alert').waitFor()
        const shown = await page.getByRole('main').innerText()
        expect(shown).not.toContain('keeps note number')
        expect(shown).toContain(`The role ${role} does not permit this operation.`)
      }
    })
  },
)
