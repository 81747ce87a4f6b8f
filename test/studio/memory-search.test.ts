/** Finding memories: ranked search, counts, what filters hide, views, and the panel beside the list. */
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { createHashingEmbedder } from '../../src/models/embedders/hashing-embedder.ts'
import { BROWSER_TEST_MS, eventually, missing, openStudio, violationsIn } from './studio-support.ts'

const OWNER = { owner: 'default' }
const TEA = 'I prefer tea over coffee'
const CELLO = 'She plays the cello on Sundays'
const KETTLE = 'The kettle whistles in F sharp'

const rows = (page: Page) =>
  page.locator('[data-row] [role=cell]:nth-child(2) > button').allInnerTexts()
const panel = (page: Page) => page.getByRole('dialog')

async function openSearch() {
  const studio = await openStudio({}, { embedding: createHashingEmbedder() })
  const { engine } = studio
  const remember = async (content: string, fields: object = {}) =>
    (await engine.remember({ ...OWNER, user: 'kim' }, { content, ...fields })).memory
  const tea = await remember(TEA, { category: 'preference' })
  const cello = await remember(CELLO, { category: 'event' })
  const kettle = await remember(KETTLE)
  await engine.admin.reindex()
  return { ...studio, tea, cello, kettle }
}

describe.skipIf(missing !== null)(
  `finding memories (skipped when ${missing ?? 'nothing is missing'})`,
  { timeout: BROWSER_TEST_MS },
  () => {
    it('[SU22] All: the search of the Studio is hybrid by default, marks its words, counts, and finds parts of words', async () => {
      const { visit } = await openSearch()
      const page = await visit('memories')
      await eventually(async () => (await rows(page)).length).toBe(3)
      expect(await page.getByLabel('Search mode').inputValue()).toBe('hybrid')
      await page.getByRole('searchbox').fill('coff')
      await eventually(async () => (await rows(page))[0]).toBe(TEA)
      await eventually(() => page.locator('[data-row] mark').allInnerTexts()).toEqual(['coff'])
      await page.getByText(/^\d results?$/).waitFor()
      await page.getByRole('searchbox').fill('who plays the cello?')
      await eventually(async () => (await rows(page))[0]).toBe(CELLO)
      // What is not relevant is ranked behind it, and says so.
      await eventually(async () => (await rows(page)).length).toBe(3)
      await page.getByText('weak match').first().waitFor()
      expect(await violationsIn(page)).toEqual([])
    })

    it('[SU22] choices have counts, hidden memories are counted, and a filter is removed where it hides', async () => {
      const { visit, engine, kettle } = await openSearch()
      await engine.memories.disable(OWNER, kettle.id)
      const page = await visit('memories?category=preference')
      await page.getByText('1 result', { exact: true }).waitFor()
      await page.getByRole('button', { name: 'Filters' }).click()
      const category = page.getByLabel('Category', { exact: true })
      await eventually(() => category.locator('option').allInnerTexts()).toContain('event (1)')
      expect(await category.locator('option').allInnerTexts()).toContain('preference (1)')
      expect(await violationsIn(page)).toEqual([])
      await page.getByRole('button', { name: 'Remove the filter Category: shows 1 more' }).click()
      await eventually(() => rows(page)).toEqual([CELLO, TEA])
      await page.getByRole('searchbox').fill('kettle')
      await page.getByRole('button', { name: 'Remove the filter Status: shows 1 more' }).click()
      await eventually(async () => (await rows(page))[0]).toBe(KETTLE)
    })

    it('[SU22] a view is saved under a name, opened and deleted', async () => {
      const { visit } = await openSearch()
      const page = await visit('memories?category=event&order=oldest')
      await eventually(() => rows(page)).toEqual([CELLO])
      const views = page.getByRole('button', { name: 'Views' })
      await views.click()
      await page.getByRole('menuitem', { name: 'Save this view' }).click()
      await page.getByRole('dialog').getByLabel('Name').fill('Events')
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByRole('link', { name: 'Memories' }).click()
      await page.goto(page.url().split('?')[0] ?? '')
      await eventually(async () => (await rows(page)).length).toBe(3)
      await views.click()
      await page.getByRole('menuitem', { name: 'Events', exact: true }).click()
      await page.waitForURL(/category=event/)
      await eventually(() => rows(page)).toEqual([CELLO])
      await views.click()
      await page.getByRole('menuitem', { name: 'Delete the view Events' }).click()
      await views.click()
      expect(await page.getByRole('menuitem', { name: 'Events', exact: true }).count()).toBe(0)
    })

    it('[SU23] the opened memory stands beside the list, keys go on to the next, and its tab is in the address', async () => {
      const { visit, cello } = await openSearch()
      const page = await visit('memories')
      await page.getByRole('button', { name: KETTLE }).click()
      await panel(page).getByText(KETTLE).waitFor()
      await page.keyboard.press('j')
      await panel(page).getByText(CELLO).waitFor()
      expect(page.url()).toContain(`memory=${cello.id}`)
      await panel(page).getByRole('button', { name: 'Next memory' }).click()
      await panel(page).getByText(TEA).waitFor()
      await page.keyboard.press('k')
      await panel(page).getByText(CELLO).waitFor()
      await panel(page).getByRole('tab', { name: 'History' }).click()
      await page.waitForURL(/panel=history/)
      expect(await violationsIn(page)).toEqual([])
      await page.reload()
      await panel(page).getByText('Current').waitFor()
      expect(
        await panel(page).getByRole('tab', { name: 'History' }).getAttribute('aria-selected'),
      ).toBe('true')
      // The list is not covered.
      await page.getByRole('button', { name: TEA }).click()
      await panel(page).getByText(TEA).waitFor()
      await page.keyboard.press('Escape')
      await panel(page).waitFor({ state: 'hidden' })
      await eventually(() => page.evaluate(() => document.activeElement?.textContent)).toBe(TEA)
    })

    it('[SU3] a memory shows by content what it replaced and what replaced it', async () => {
      const { visit, engine, tea, cello } = await openSearch()
      const { kept } = await engine.learning.review.merge(
        OWNER,
        [cello.id, tea.id],
        'She plays the cello and drinks tea',
      )
      const page = await visit(`memories?memory=${tea.id}&panel=chain`)
      const steps = panel(page).getByRole('listitem')
      await eventually(() => steps.count()).toBe(2)
      expect(await steps.allInnerTexts()).toEqual([
        expect.stringContaining('superseded'),
        expect.stringContaining(kept.content),
      ])
      await panel(page).getByRole('button', { name: kept.content }).click()
      await page.waitForURL(new RegExp(`memory=${kept.id}`))
      await panel(page).getByRole('button', { name: TEA }).waitFor()
      expect(await violationsIn(page)).toEqual([])
    })
  },
)
