/** A hundred thousand memories in one list. */
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { MemoryId, OwnerId } from '../../src/domain/ids.ts'
import type { Instant } from '../../src/lib/time.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import type { Change } from '../../src/storage/store.ts'
import { memory } from '../fakes/memories.ts'
import { temporaryFile } from '../support/temporary-folder.ts'
import { BROWSER_TEST_MS, eventually, missing, openStudio } from './studio-support.ts'

const COUNT = 100_000
const BATCH = 2_000
const PLACE = { owner: 'default' as OwnerId, user: null, session: null }
/** Of all that is drawn: the frame, the navigation, and the rows in view. */
const ELEMENTS_MAX = 1_500

const contentOf = (n: number) => `Note number ${n}`

/** Straight into the store: what is tried here is the list. */
async function fill(path: string): Promise<void> {
  const store = await openSqliteStore({ path, now: Date.now })
  const start = Date.now() - COUNT * 1_000
  for (let first = 0; first < COUNT; first += BATCH) {
    const changes = Array.from({ length: BATCH }, (_, index): Change => {
      const n = first + index
      const at = (start + n * 1_000) as Instant // like ids, made up
      const id = `mem_${String(n).padStart(8, '0')}` as MemoryId
      const row = memory({ id, place: PLACE, content: contentOf(n), createdAt: at, updatedAt: at })
      return { op: 'put', table: 'memory', row, expect: 'absent' }
    })
    await store.commit(changes)
  }
  await store.close()
}

/** The rows that can be seen, as people read them. */
function shown(page: Page): Promise<readonly (string | undefined)[]> {
  return page.evaluate(() => {
    const frame = document.querySelector('[role=rowgroup]')?.parentElement?.getBoundingClientRect()
    return [...document.querySelectorAll('[data-row]')]
      .filter((row) => {
        const { top, bottom } = row.getBoundingClientRect()
        return frame !== undefined && top >= frame.top - 1 && bottom <= frame.bottom + 1
      })
      .map((row) => row.querySelector('[role=cell] > button')?.textContent ?? undefined)
  })
}

const scrollTo = (page: Page, share: number) =>
  page.evaluate((part) => {
    const frame = document.querySelector('[role=rowgroup]')?.parentElement
    frame?.scrollTo({ top: (frame.scrollHeight - frame.clientHeight) * part })
  }, share)

const elements = (page: Page) => page.evaluate(() => document.querySelectorAll('*').length)

describe.skipIf(missing !== null)(
  `many memories (skipped when ${missing ?? 'nothing is missing'})`,
  { timeout: BROWSER_TEST_MS },
  () => {
    it('[SU10] only what is in view is drawn, anything is reached by scrolling and found by searching', async () => {
      const path = temporaryFile('recollect.db')
      await fill(path)
      const { visit } = await openStudio({}, { path })
      const page = await visit('memories')
      const first = async () => (await shown(page))[0]
      await eventually(first).toBe(contentOf(COUNT - 1))
      expect(await page.getByRole('table').getAttribute('aria-rowcount')).toBe(String(COUNT))
      await page.getByLabel('Select all loaded memories').check()
      // Two pages of a hundred: more than is drawn, less than there is.
      await page.getByText('200 selected').waitFor()
      await page.getByRole('button', { name: `Select all ${COUNT.toLocaleString('en')}` }).waitFor()
      await page.getByRole('button', { name: 'Clear selection' }).click()
      for (const part of [0.1, 0.35, 0.8]) {
        await scrollTo(page, part)
        expect(await elements(page)).toBeLessThan(ELEMENTS_MAX)
      }
      await scrollTo(page, 1)
      await eventually(async () => (await shown(page)).at(-1)).toBe(contentOf(0))
      await scrollTo(page, 0.5)
      await page.waitForURL(/row=(49|50)\d{3}/)
      await page.reload()
      // To the row, if not to the pixel.
      await eventually(async () => Number(/\d+$/.exec((await first()) ?? '')?.[0])).toSatisfy(
        (n: number) => Math.abs(n - COUNT / 2) < 10,
      )
      // Another order is read from its top.
      await page.getByLabel('Sort by').selectOption('oldest')
      await eventually(first).toBe(contentOf(0))
      await page.getByLabel('Sort by').selectOption('newest')
      await eventually(first).toBe(contentOf(COUNT - 1))
      await page.getByLabel('Search mode').selectOption('exact')
      await page.keyboard.press('/')
      await page.keyboard.type(contentOf(54_321))
      await eventually(() => shown(page)).toEqual([contentOf(54_321)])
      await page.getByLabel('Search mode').selectOption('keyword')
      await page.getByRole('searchbox').fill('number 777')
      await eventually(first).toBe(contentOf(777))
      expect(await elements(page)).toBeLessThan(ELEMENTS_MAX)
    })
  },
)
