/** Changes of many memories at once, from the list. */
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { BROWSER_TEST_MS, eventually, missing, openStudio, violationsIn } from './studio-support.ts'

const OWNER = { owner: 'default' }
const toast = (page: Page, text: string) => page.locator('li').filter({ hasText: text })

async function openMany(count: number) {
  const studio = await openStudio()
  for (let number = 0; number < count; number++) {
    const content = `Drawer ${number} holds the spare part ${number}`
    await studio.engine.remember(OWNER, { content })
  }
  const counted = async (filter: object) =>
    (await studio.engine.memories.count(OWNER, filter)).total
  return { ...studio, counted }
}

describe.skipIf(missing !== null)(
  `many at once (skipped when ${missing ?? 'nothing is missing'})`,
  { timeout: BROWSER_TEST_MS },
  () => {
    it('[SU24] all that match are changed by one request, and come back by one undo', async () => {
      const { visit, counted } = await openMany(230)
      const page = await visit('memories')
      const requests: string[] = []
      page.on('request', (request) => {
        if (request.method() === 'POST') requests.push(new URL(request.url()).pathname)
      })
      await page.getByLabel('Select all loaded memories').check()
      await page.getByRole('button', { name: 'Select all 230 matching' }).click()
      await page.getByText('All 230 matching memories selected').waitFor()
      expect(await violationsIn(page)).toEqual([])
      await page.getByRole('button', { name: 'Set category' }).click()
      await page.getByRole('menuitem', { name: 'decision' }).click()
      await toast(page, '230 memories changed.').waitFor()
      expect(requests).toEqual(['/api/memory/bulk'])
      expect(await counted({ categories: ['decision'] })).toBe(230)
      await toast(page, '230 memories changed.').getByRole('button', { name: 'Undo' }).click()
      await eventually(() => counted({ categories: ['general'] })).toBe(230)
    })

    it('[SU24] progress is shown, and leaving the page loses nothing', async () => {
      const { visit, counted } = await openMany(3)
      const page = await visit('memories')
      let finish = () => {}
      const isFinished = new Promise<void>((resolve) => {
        finish = resolve
      })
      await page.route('**/api/memory/bulk', async (route) => {
        await isFinished
        await route.continue()
      })
      await page.getByLabel('Select all loaded memories').check()
      await page.getByRole('status').getByRole('button', { name: 'Disable' }).click()
      await page.getByRole('link', { name: 'Timeline' }).click()
      await page.getByRole('heading', { name: 'Timeline' }).waitFor()
      finish()
      await toast(page, '3 memories disabled').getByRole('button', { name: 'Undo' }).click()
      await eventually(() => counted({ statuses: ['active'] })).toBe(3)
    })

    it('[SU24] memories are moved to another user, and come back by one undo', async () => {
      const { visit, engine } = await openMany(3)
      const of = async (user: string | null) =>
        (await engine.memories.count({ ...OWNER, user })).total
      const page = await visit('memories')
      await page.getByLabel(/Select: Drawer 0/).check()
      await page.getByLabel(/Select: Drawer 2/).check()
      await page.getByRole('button', { name: 'Move to user' }).click()
      const dialog = page.getByRole('dialog', { name: 'Move 2 memories' })
      await dialog.getByLabel('New user').fill('kim')
      expect(await violationsIn(page)).toEqual([])
      await dialog.getByRole('button', { name: 'Move to user' }).click()
      await toast(page, '2 memories moved.').waitFor()
      expect([await of(null), await of('kim')]).toEqual([1, 2])
      await toast(page, '2 memories moved.').getByRole('button', { name: 'Undo' }).click()
      await eventually(() => of(null)).toBe(3)
      expect(await of('kim')).toBe(0)
    })

    it('[SU24] several memories are merged into one text, and separated again', async () => {
      const { visit, counted, engine } = await openMany(3)
      const page = await visit('memories')
      await page.getByLabel(/Select: Drawer 0/).check()
      await page.getByLabel(/Select: Drawer 2/).check()
      await page.getByRole('button', { name: 'Merge' }).click()
      const dialog = page.getByRole('dialog', { name: 'Merge 2 memories into one' })
      expect(await dialog.getByLabel('Content').inputValue()).toMatch(/^Drawer 0.*\nDrawer 2/)
      expect(await violationsIn(page)).toEqual([])
      await dialog.getByLabel('Content').fill('Drawers 0 and 2 hold spare parts')
      await dialog.getByRole('button', { name: 'Merge' }).click()
      await toast(page, 'Memories merged').waitFor()
      const { rows } = await engine.list(OWNER, { contains: 'Drawers 0 and 2' })
      expect(rows[0]).toMatchObject({ sourceCount: 2 })
      expect(await counted({ statuses: ['superseded'] })).toBe(1)
      await toast(page, 'Memories merged').getByRole('button', { name: 'Undo' }).click()
      await eventually(() => counted({ statuses: ['active'] })).toBe(3)
    })
  },
)
