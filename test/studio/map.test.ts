/** The map and the net, in a browser. */
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { createHashingEmbedder } from '../../src/models/embedders/hashing-embedder.ts'
import { keyFor } from '../api/http/http-support.ts'
import { BROWSER_TEST_MS, eventually, missing, openStudio, violationsIn } from './studio-support.ts'

const OWNER = { owner: 'default' }
const HOSTILE = '<img src=x onerror=alert(1)> is what Ana wrote'

const SAID: readonly (readonly [string, 'fact' | 'event', readonly string[]])[] = [
  ...Array.from(
    { length: 8 },
    (_, n) => [`Ana drinks green tea, cup ${n}`, 'fact', ['Ana', 'tea']] as const,
  ),
  ...Array.from(
    { length: 8 },
    (_, n) =>
      [`The orchestra of Bo played in Porto, night ${n}`, 'event', ['Bo', 'Porto']] as const,
  ),
  [HOSTILE, 'fact', ['Ana', 'Bo']],
]

async function openMap({ hasVectors = true } = {}) {
  const studio = await openStudio({}, hasVectors ? { embedding: createHashingEmbedder() } : {})
  const { engine } = studio
  for (const [content, category, entities] of SAID) {
    await engine.remember(OWNER, { content, category, entities })
  }
  if (hasVectors) await engine.admin.reindex()
  const active = async () => (await engine.memories.count(OWNER)).total
  return { ...studio, active }
}

const list = (page: Page) => page.getByRole('region', { name: 'Memories on the map' })
const canvas = (page: Page) => page.getByRole('img', { name: /Map of 17 memories/ })

/** Draws around everything, along the edge. */
async function drag(page: Page) {
  const { x, y, width, height } = (await canvas(page).boundingBox()) ?? {
    x: 0,
    y: 0,
    width: 0,
    height: 0,
  }
  await page.mouse.move(x + 3, y + 3)
  await page.mouse.down()
  for (const [right, down] of [
    [0.99, 0.01],
    [0.99, 0.99],
    [0.01, 0.99],
  ] as const) {
    await page.mouse.move(x + width * right, y + height * down, { steps: 4 })
  }
  await page.mouse.up()
}

async function lasso(page: Page) {
  await page.keyboard.down('Shift')
  await drag(page)
  await page.keyboard.up('Shift')
}

/** Drawn to the end: nothing moves any more. */
async function drawn(page: Page) {
  await canvas(page).waitFor()
  await eventually(() => page.getByRole('progressbar').count()).toBe(0)
}

describe.skipIf(missing !== null)(
  `the map (skipped when ${missing ?? 'nothing is missing'})`,
  { timeout: BROWSER_TEST_MS },
  () => {
    it('[SM6] is drawn, listed and searched, and hostile text stays text', async () => {
      const { visit } = await openMap()
      const page = await visit('map')
      await drawn(page)
      expect(await list(page).getByRole('heading').allInnerTexts()).toEqual(['fact', 'event'])
      expect(await list(page).getByText(HOSTILE).count()).toBe(1)
      expect(await violationsIn(page)).toEqual([])
      await page.getByLabel('Color by').selectOption('importance')
      await page.getByRole('list', { name: 'Legend' }).getByText('4–6').waitFor()
      expect(page.url()).toContain('color=importance')
      expect(await violationsIn(page)).toEqual([])
      await page.getByRole('button', { name: 'event' }).click()
      expect(await list(page).getByRole('heading').allInnerTexts()).toEqual(['fact'])
      await page.getByLabel('Search the map').fill('cup 3')
      await eventually(() => list(page).getByRole('listitem').allInnerTexts()).toEqual([
        'Ana drinks green tea, cup 3',
      ])
      expect(page.url()).toContain('hide=event')
      await list(page).getByRole('button', { name: /cup 3/ }).click()
      await page.getByRole('dialog').getByText('Ana drinks green tea, cup 3').waitFor()
      expect(page.url()).toMatch(/memory=mem_/)
    })

    it('[SM6] a lasso selects; what is forgotten comes back', async () => {
      const { visit, active } = await openMap()
      const page = await visit('map')
      await drawn(page)
      await lasso(page)
      const bar = page.getByRole('status').filter({ hasText: 'selected' })
      await eventually(() => bar.innerText()).toContain('17 memories selected')
      await bar.getByRole('button', { name: 'Clear selection' }).click()
      await list(page).getByLabel('Select: Ana drinks green tea, cup 1').check()
      await list(page).getByLabel('Select: Ana drinks green tea, cup 2').check()
      await bar.getByRole('button', { name: 'Show selected only' }).click()
      expect(await list(page).getByRole('listitem').count()).toBe(2)
      await bar.getByRole('button', { name: 'Move to trash' }).click()
      await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click()
      expect(await active()).toBe(17)
      await bar.getByRole('button', { name: 'Move to trash' }).click()
      await page.getByRole('alertdialog').getByRole('button', { name: 'Move to trash' }).click()
      await eventually(active).toBe(15)
      await eventually(() => page.getByRole('img', { name: /Map of 15 memories/ }).count()).toBe(1)
      await page.getByRole('button', { name: 'Undo' }).click()
      await eventually(active).toBe(17)
      await canvas(page).waitFor()
    })

    it('[SM6] is zoomed and shown whole again; dragging selects when it is told to', async () => {
      const { visit } = await openMap()
      const page = await visit('map')
      await drawn(page)
      const tools = page.getByRole('toolbar')
      const picture = () => canvas(page).evaluate((each: HTMLCanvasElement) => each.toDataURL())
      const whole = await picture()
      for (const name of ['Zoom in', 'Zoom out', 'Zoom out']) {
        const before = await picture()
        await tools.getByRole('button', { name }).click()
        await eventually(picture).not.toBe(before)
      }
      await tools.getByRole('button', { name: 'Zoom to fit' }).click()
      await page.mouse.move(0, 0)
      await eventually(picture).toBe(whole)
      const select = tools.getByRole('button', { name: 'Select' })
      await select.click()
      expect(await select.getAttribute('aria-pressed')).toBe('true')
      await drag(page)
      const bar = page.getByRole('status').filter({ hasText: 'selected' })
      await eventually(() => bar.innerText()).toContain('17 memories selected')
      await list(page).getByLabel('Select all in event').uncheck()
      await eventually(() => bar.innerText()).toContain('9 memories selected')
      await bar.getByRole('button', { name: 'Show selected only' }).click()
      expect(await list(page).getByRole('listitem').count()).toBe(9)
      await bar.getByRole('button', { name: 'Show all' }).click()
      expect(await list(page).getByRole('listitem').count()).toBe(17)
    })

    it('[SM6] more are drawn on request, and long lists shown in parts', async () => {
      const { visit, engine } = await openStudio()
      for (let n = 0; n < 35; n++) await engine.remember(OWNER, { content: `Cup number ${n}` })
      const page = await visit('map?amount=2000')
      await eventually(() => list(page).getByRole('listitem').count()).toBe(30)
      await list(page).getByRole('button', { name: 'Show 5 more' }).click()
      expect(await list(page).getByRole('listitem').count()).toBe(35)
      await page.getByLabel('Number of memories').selectOption('5000')
      await page.waitForURL(/amount=5000/)
      await eventually(() => list(page).getByRole('listitem').count()).toBeGreaterThan(0)
    })

    it('[SM6] what comes later waits to be drawn, and a click on a point opens it', async () => {
      const { visit, engine } = await openMap()
      const page = await visit('map')
      await drawn(page)
      await engine.remember(OWNER, { content: 'Bo bought a second violin', category: 'event' })
      await engine.admin.reindex()
      await page.getByRole('button', { name: 'Update map' }).click()
      const more = page.getByRole('img', { name: /Map of 18 memories/ })
      await more.waitFor()
      await eventually(() => page.getByRole('progressbar').count()).toBe(0)
      const { x, y, width, height } = (await more.boundingBox()) ?? {
        x: 0,
        y: 0,
        width: 0,
        height: 0,
      }
      // Wherever a point is, the pointer tells.
      for (let step = 0; step < 900; step++) {
        await page.mouse.move(
          x + ((step % 30) / 30) * width,
          y + (Math.floor(step / 30) / 30) * height,
        )
        if ((await more.getAttribute('style'))?.includes('cursor: pointer') === true) break
      }
      await page.mouse.down()
      await page.mouse.up()
      await page.getByRole('dialog').waitFor()
    })

    it('[SM6] without vectors there is the list and the reason; with few memories a word', async () => {
      const { visit, engine } = await openMap({ hasVectors: false })
      const page = await visit('map')
      await page.getByText('There is no embedding model.').waitFor()
      expect(await list(page).getByRole('listitem').count()).toBe(17)
      expect(await page.getByRole('img', { name: /Map of/ }).count()).toBe(0)
      const reader = await visit('map', { key: await keyFor(engine, 'reader', 'default') })
      await list(reader).waitFor()
      expect(await reader.getByRole('checkbox').count()).toBe(0)
      const few = await openStudio({}, { embedding: createHashingEmbedder() })
      const empty = await few.visit('map')
      await empty.getByText('Not enough memories for a map').waitFor()
      await empty.getByRole('tab', { name: 'Entities' }).click()
      await empty.getByText('No entities yet').waitFor()
    })

    it('[SM7] the net lists a name’s memories and what ties it to others', async () => {
      const { visit } = await openMap({ hasVectors: false })
      const page = await visit('map?view=entities')
      const names = page.getByRole('region', { name: 'List of entities' })
      await eventually(() => names.getByRole('listitem').count()).toBe(4)
      expect(await violationsIn(page)).toEqual([])
      const net = page.getByRole('img', { name: /Graph of 4 entities/ })
      const bo = net.locator('[data-node="Bo"] circle')
      await bo.click()
      await names.getByRole('heading', { name: 'Bo' }).waitFor()
      expect(page.url()).toContain('entity=Bo')
      expect(await names.getByText(/The orchestra of Bo/).count()).toBeGreaterThanOrEqual(8)
      await names.locator('summary').filter({ hasText: 'Ana' }).click()
      await names.locator('details').getByText(HOSTILE).waitFor()
      expect(await violationsIn(page)).toEqual([])
      const before = await bo.boundingBox()
      await bo.hover()
      await page.mouse.down()
      await page.mouse.move((before?.x ?? 0) + 90, (before?.y ?? 0) + 40, { steps: 6 })
      await page.mouse.up()
      expect(Math.abs(((await bo.boundingBox())?.x ?? 0) - (before?.x ?? 0))).toBeGreaterThan(20)
      await names.locator('details').getByRole('button', { name: 'Ana', exact: true }).click()
      await names.getByRole('heading', { name: 'Ana' }).waitFor()
      await names.getByRole('button', { name: 'Ana drinks green tea, cup 1' }).click()
      await page.getByRole('dialog').getByText('Ana drinks green tea, cup 1').waitFor()
      await page.keyboard.press('Escape')
      const tie = net.locator('line').last()
      await tie.dispatchEvent('pointerover')
      await page.getByText(/: \d+ memor(y|ies)/).waitFor()
      await tie.dispatchEvent('pointerout')
      const place = () => bo.boundingBox().then((box) => Math.round(box?.x ?? 0))
      const whole = await place()
      await page.getByRole('button', { name: 'Zoom in' }).click()
      await eventually(place).not.toBe(whole)
      await page.getByRole('button', { name: 'Zoom out' }).click()
      await page.getByRole('button', { name: 'Zoom to fit' }).click()
      await eventually(place).toBe(whole)
      await names.getByRole('button', { name: 'All entities' }).click()
      await names.getByLabel('Search entities').fill('por')
      expect(await names.getByRole('listitem').allInnerTexts()).toEqual([
        expect.stringContaining('Porto'),
      ])
    })
  },
)
