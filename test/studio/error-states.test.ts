/** What pages show while the server refuses to answer, and that they recover. */
import { describe, expect, it } from 'vitest'
import {
  BROWSER_TEST_MS,
  eventually,
  failing,
  missing,
  openStudio,
  REFUSED,
} from './studio-support.ts'

/** By page, what is asked at these addresses. */
const PANELS: readonly (readonly [page: string, asked: string])[] = [
  ['memories', '**/api/memory?*'],
  ['all-owners', '**/api/owners/memories?*'],
  ['sessions', '**/api/sessions?*'],
  ['sessions?session=talk', '**/api/sessions/talk/turns?*'],
  ['sessions?session=talk', '**/api/signals?*'],
  ['review', '**/api/review?*'],
  ['review?tab=conflicts', '**/api/review/conflicts?*'],
  ['files', '**/api/files/status?*'],
  ['receipts', '**/api/receipts?*'],
  ['receipts', '**/api/receipts/stats?*'],
  ['engine', '**/api/memory/engine-status'],
  ['engine', '**/api/settings/qdrant'],
  ['jobs', '**/api/jobs?*'],
  ['jobs?tab=consolidation', '**/api/consolidate?*'],
  ['jobs?tab=learning', '**/api/learning/status?*'],
  ['settings', '**/api/settings/memory?*'],
  ['access', '**/api/keys*'],
  ['access?tab=owners', '**/api/owners*'],
  ['audit', '**/api/audit?*'],
]

describe.skipIf(missing !== null)(
  `pages without answers (skipped when ${missing ?? 'nothing is missing'})`,
  { timeout: BROWSER_TEST_MS },
  () => {
    it('[SU16] say what went wrong, and show everything once they are told to try again', async () => {
      const { visit, engine } = await openStudio()
      const turns = [{ user: 'Hello' }]
      await engine.learning.ingest({
        owner: 'default',
        conversation: 'talk',
        turns,
        skipExtraction: true,
      })
      const page = await visit('audit')
      for (const [address, asked] of PANELS) {
        await failing(page, asked)
        await page.goto(new URL(`/studio/${address}`, page.url()).href)
        const told = page.getByRole('alert').filter({ hasText: REFUSED })
        await told.first().waitFor()
        await page.unrouteAll()
        await eventually(async () => {
          const again = told.first().getByRole('button', { name: 'Retry' })
          // Some pages look again by themselves in the meantime.
          await again.click({ timeout: 500 }).catch(() => null)
          return page.getByText(REFUSED).count()
        }).toBe(0)
      }
    })

    it('[SU16] say so where more could not be loaded', async () => {
      const { visit, engine } = await openStudio()
      for (let n = 0; n < 51; n++) {
        const targets = [`mem_${n}`]
        await engine.admin.audit.append({
          actor: null,
          operation: 'memory.add',
          owner: 'ada',
          targets,
        })
      }
      const page = await visit('audit')
      const more = page.getByRole('button', { name: 'Show more' })
      await more.waitFor()
      await failing(page, '**/api/audit?*after=*')
      await more.click()
      await page.getByText(REFUSED).waitFor()
      await page.unrouteAll()
      await more.click()
      await eventually(() => page.getByRole('row').count()).toBe(52)
      expect(await page.getByText(REFUSED).count()).toBe(0)
    })
  },
)
