/** Every page as people see it, in light and dark, on a desk and on a phone. Look at them: they are in `test-results`. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { ScriptedModel } from '../fakes/language-model.ts'
import { temporaryFile } from '../support/temporary-folder.ts'
import { fillHousehold, notesFolder } from './sample-database.ts'
import { BROWSER_TEST_MS, eventually, missing, openStudio, violationsIn } from './studio-support.ts'

const FOLDER = join('test-results', 'studio')
/** `TEST_PICTURES=docs` also makes those of the documents again. */
const DOCUMENTS = join('docs', 'images')
const makesDocuments = process.env.TEST_PICTURES === 'docs'
/** Nearer to what most systems show than the fallback of a machine without a desktop. */
const DOCUMENT_FONT = ':root { --font: "Liberation Sans", sans-serif }'
const DESK = { width: 1280, height: 800 }
const PHONE = { width: 390, height: 844 }

type View = {
  readonly name: string
  readonly address: string
  /** What is done before the picture is taken. */
  readonly first?: (page: Page) => Promise<unknown>
  /** In which look it stands in the documents, and under what name. */
  readonly shownIn?: { readonly look: 'desk-light' | 'desk-dark'; readonly name: string }
}

const drawn = (page: Page) => page.getByRole('img', { name: /Map of/ }).waitFor()

const VIEWS: readonly View[] = [
  {
    name: 'memories',
    address: 'memories',
    shownIn: { look: 'desk-light', name: 'memories' },
  },
  {
    name: 'memory',
    address: 'memories',
    first: async (page) => {
      await page.getByRole('button', { name: /^I live in Trieste/ }).click()
      await page.getByRole('tab', { name: 'History' }).click()
    },
    shownIn: { look: 'desk-light', name: 'memory' },
  },
  {
    name: 'editor',
    address: 'memories',
    first: (page) => page.keyboard.press('n'),
  },
  {
    name: 'filters',
    address: 'memories',
    first: (page) => page.getByRole('button', { name: 'Filters' }).click(),
  },
  { name: 'sorted', address: 'memories?order=importance' },
  { name: 'nothing', address: 'memories?q=zzyzx' },
  { name: 'all-owners', address: 'all-owners' },
  { name: 'timeline', address: 'timeline' },
  { name: 'map', address: 'map', first: drawn, shownIn: { look: 'desk-dark', name: 'map' } },
  {
    name: 'entities',
    address: 'map',
    first: (page) => page.getByRole('tab', { name: 'Entities' }).click(),
  },
  { name: 'sessions', address: 'sessions?session=leo-training' },
  { name: 'session-list', address: 'sessions' },
  { name: 'files', address: 'files?q=bellows+of+the+cuckoo+clock' },
  {
    name: 'chunks',
    address: 'files',
    first: async (page) => {
      await page.getByRole('button', { name: 'Show files' }).first().click()
      await page.getByRole('button', { name: 'MEMORY.md', exact: true }).click()
    },
  },
  {
    name: 'playground',
    address: 'playground?q=What+do+I+cook+for+friends+on+a+Friday%3F',
    first: (page) => page.getByRole('button', { name: 'Explain' }).first().click(),
    shownIn: { look: 'desk-light', name: 'playground' },
  },
  {
    name: 'receipts',
    address: 'receipts',
    shownIn: { look: 'desk-light', name: 'receipts' },
  },
  {
    name: 'receipt',
    address: 'receipts',
    first: (page) => page.locator('[data-receipt]').first().click(),
  },
  { name: 'review', address: 'review' },
  { name: 'conflicts', address: 'review?tab=conflicts' },
  { name: 'engine', address: 'engine' },
  { name: 'jobs', address: 'jobs' },
  { name: 'consolidation', address: 'jobs?tab=consolidation' },
  { name: 'learning', address: 'jobs?tab=learning' },
  { name: 'settings', address: 'settings' },
  { name: 'access', address: 'access' },
  { name: 'audit', address: 'audit' },
]

const LOOKS = [
  ['desk-light', DESK, 'light'],
  ['desk-dark', DESK, 'dark'],
  ['phone-dark', PHONE, 'dark'],
  ['phone-light', PHONE, 'light'],
] as const

/** Loaded to the end: no grey lines, no work under way. */
async function settled(page: Page): Promise<void> {
  await page.waitForSelector('h1')
  await eventually(() =>
    page.locator('[role=status][aria-label="Loading"], [role=progressbar]').count(),
  ).toBe(0)
}

/** In the page: what has changed is drawn. */
function nextFrames(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(() => resolve()))
  })
}

async function openHousehold() {
  const path = temporaryFile('recollect.db')
  await fillHousehold(path)
  const studio = await openStudio(
    {},
    {
      ...{ path, files: { path: temporaryFile('files.db') }, embedding: { source: 'static' } },
      languageModel: new ScriptedModel('{}'),
    },
  )
  const { engine, client } = studio
  await engine.admin.reindex()
  await engine.files?.roots.add('default', { kind: 'workspace', path: notesFolder() })
  await engine.files?.sync('default')
  await engine.admin.keys.create({ name: 'Phone of Nell', defaultOwner: 'default', role: 'user' })
  await engine.admin.keys.create({
    name: 'Workshop screen',
    defaultOwner: 'workshop',
    role: 'reader',
  })
  // By the door, so that the audit log has something to tell.
  const { body } = await client.post('/api/memory', { content: 'The shop closes at six' })
  await client.call('PATCH', `/api/memory/${body.id}`, { body: { importance: 7 } })
  await client.call('DELETE', `/api/memory/${body.id}`)
  return studio
}

/** The look that is furthest from the one in which the pages' own tests ask axe. */
const EXAMINED = 'phone-dark'

/** What is cut off, and what axe finds. */
async function take(page: Page, { name, shownIn }: View): Promise<readonly string[]> {
  const faults: string[] = []
  for (const [look, size, colorScheme] of LOOKS) {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize(size)
    await settled(page)
    await page.evaluate(nextFrames)
    const shot = await page.screenshot({ path: join(FOLDER, `${name}-${look}.png`) })
    if (makesDocuments && shownIn?.look === look) {
      await page.addStyleTag({ content: DOCUMENT_FONT })
      await page.evaluate(nextFrames)
      await page.screenshot({ path: join(DOCUMENTS, `studio-${shownIn.name}.png`) })
    }
    const isCut = await page.evaluate(
      () => document.documentElement.scrollWidth > window.innerWidth,
    )
    if (isCut || shot.length === 0) faults.push(`${name} ${look} is cut off`)
    if (look !== EXAMINED) continue
    for (const found of await violationsIn(page)) faults.push(`${name} ${look} ${found}`)
  }
  return faults
}

describe.skipIf(missing !== null)(
  `pictures of the Studio (skipped when ${missing ?? 'nothing is missing'})`,
  { timeout: BROWSER_TEST_MS },
  () => {
    // Every page four times, and examined once.
    it('[SU9] every page has its place on a desk and on a phone, in light and dark', {
      timeout: 2 * BROWSER_TEST_MS,
    }, async () => {
      for (const folder of makesDocuments ? [FOLDER, DOCUMENTS] : [FOLDER]) {
        mkdirSync(folder, { recursive: true })
      }
      const { visit } = await openHousehold()
      // As sharp as screens are that documents are read on.
      const page = await visit('memories', { deviceScaleFactor: makesDocuments ? 2 : 1 })
      await page.getByRole('button', { name: 'Don’t show again' }).click()
      const faults: string[] = []
      for (const view of VIEWS) {
        await page.setViewportSize(DESK)
        await page.goto(new URL(`/studio/${view.address}`, page.url()).href)
        await settled(page)
        await view.first?.(page)
        faults.push(...(await take(page, view)))
      }
      expect(faults).toEqual([])
    })

    it('[SU9] signing in, and what is dark, is as easy to read', async () => {
      const { visit, url } = await openStudio()
      const page = await visit('memories', { colorScheme: 'dark' })
      expect(await violationsIn(page)).toEqual([])
      await page.context().clearCookies()
      await page.goto(url)
      await page.getByLabel('Key').waitFor()
      expect(await violationsIn(page)).toEqual([])
      await take(page, { name: 'sign-in', address: '' })
      await page.getByLabel('Key').fill('rc_wrong')
      await page.keyboard.press('Enter')
      await page.getByRole('alert').waitFor()
    })
  },
)
