/** Requests that fail: every panel says so, and asks again when it is told to. */
import type { Page, Route } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { createHashingEmbedder } from '../../src/models/embedders/hashing-embedder.ts'
import { BROWSER_TEST_MS, eventually, missing, openStudio } from './studio-support.ts'

const OWNER = { owner: 'default' }
const TEA = 'I prefer tea over coffee'
const TALK = 'Ana planned a trip to Porto.'

async function openFilled() {
  const studio = await openStudio({}, { embedding: createHashingEmbedder() })
  const { engine } = studio
  for (let n = 0; n < 10; n++) {
    await engine.remember(OWNER, { content: `Cup number ${n} is blue`, entities: ['Ana', 'tea'] })
  }
  await engine.remember(OWNER, { content: TALK, category: 'episode' })
  const { memory } = await engine.remember(OWNER, { content: TEA })
  await engine.admin.reindex()
  return { ...studio, tea: memory.id }
}

const broken = (route: Route) =>
  route.fulfill({
    status: 500,
    json: { error: { code: 'internal', message: 'The disk is full.', retryable: false } },
  })

const again = (page: Page) => page.getByRole('button', { name: 'Retry' })

/** Each says that it failed; asked again, each shows what it has. */
async function expectToRecover(page: Page, calls: string, act: () => Promise<unknown>) {
  await page.route(calls, broken)
  await act()
  await again(page).first().waitFor()
  await page.unroute(calls)
  for (let left = await again(page).count(); left > 0; left = await again(page).count()) {
    await again(page).first().click()
    await eventually(() => again(page).count()).toBeLessThan(left)
  }
}

describe.skipIf(missing !== null)(
  `what fails (skipped when ${missing ?? 'nothing is missing'})`,
  { timeout: BROWSER_TEST_MS },
  () => {
    it('[SU16] is said in its place, and tried again from there', async () => {
      const { visit } = await openFilled()
      const page = await visit('memories')
      for (const [address, calls, shown] of [
        ['memories', '**/api/memory?*', TEA],
        ['memories', '**/api/receipts?*', '–'],
        ['memories?q=tea&mode=keyword', '**/api/memory/search', TEA],
        ['playground?q=tea', '**/api/memory/retrieve-preview', TEA],
        [
          'playground?q=tea',
          '**/api/memory/context-preview',
          'The context that the gateway would insert now',
        ],
        ['timeline', '**/api/episodes?*', TALK],
        ['timeline', '**/api/memory/days?*', 'Episodes'],
        ['map', '**/api/memory/vectors?*', TEA],
        ['map?view=entities', '**/api/memory/entities?*', 'Search entities'],
      ] as const) {
        await expectToRecover(page, calls, () =>
          page.goto(new URL(`/studio/${address}`, page.url()).href),
        )
        const panel = page.getByText(shown).or(page.getByLabel(shown))
        await panel.first().waitFor()
      }
    })

    it('[SU16] in an opened memory as well, where nothing is said to be none that is not known', async () => {
      const { visit, tea } = await openFilled()
      const page = await visit('memories')
      const drawer = page.getByRole('dialog')
      const here = new URL(`/studio/memories?memory=${tea}`, page.url()).href
      await expectToRecover(page, '**/api/memory/*/vector?*', () => page.goto(here))
      await drawer.getByText(/dimensions/).waitFor()
      const tab = (name: string) => drawer.getByRole('tab', { name }).click()
      await expectToRecover(page, '**/api/memory/*/history?*', () => tab('History'))
      await drawer.getByText('Current').waitFor()
      await expectToRecover(page, '**/api/receipts?*memory=*', async () => {
        await tab('Provenance')
        await again(page).waitFor()
        expect(await drawer.getByText('No receipt references').count()).toBe(0)
      })
      await drawer.getByText('No receipt references').waitFor()
    })
  },
)
