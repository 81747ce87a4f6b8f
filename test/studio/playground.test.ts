/** The playground, as somebody uses it who wants to know why a memory was found. */
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { OwnerId } from '../../src/domain/ids.ts'
import { createHashingEmbedder } from '../../src/models/embedders/hashing-embedder.ts'
import { keyFor } from '../api/http/http-support.ts'
import { BROWSER_TEST_MS, eventually, missing, openStudio, violationsIn } from './studio-support.ts'

const HOSTILE = '<img src=x onerror="alert(1)"><script>alert(2)</script> is the name of my dog'
const QUESTION = 'What is the name of my dog?'
const ASKED = `playground?q=${encodeURIComponent(QUESTION)}`

async function openPlayground() {
  const studio = await openStudio()
  const scope = { owner: 'default' }
  await studio.engine.admin.settings.change('default' as OwnerId, { 'gateway.enabled': true })
  await studio.engine.remember(scope, { content: HOSTILE })
  await studio.engine.remember(scope, { content: 'My dog barks at night', category: 'event' })
  return { ...studio, scope }
}

const results = (page: Page, side = '') =>
  page.getByRole('region', { name: `${side}Results` }).locator('[data-result]')

describe.skipIf(missing !== null)(
  `the playground (skipped when ${missing ?? 'nothing is missing'})`,
  { timeout: BROWSER_TEST_MS },
  () => {
    it('[SP1] shows what is found, with its evidence and how it got its place', async () => {
      const { visit, engine, scope } = await openPlayground()
      const page = await visit('playground')
      await page.getByLabel('Query or message').fill(QUESTION)
      await page.keyboard.press('Enter')
      await eventually(() => results(page).count()).toBe(2)
      expect(new URL(page.url()).searchParams.get('q')).toBe(QUESTION)
      const first = results(page).first()
      expect(await first.innerText()).toContain(HOSTILE)
      expect(await page.locator('[data-result] img, [data-result] script').count()).toBe(0)
      await first.getByRole('button', { name: 'Explain' }).click()
      const steps = await first.getByRole('listitem').allInnerTexts()
      expect(steps.join('\n')).toMatch(/Keyword[\s\S]*Fusion[\s\S]*Threshold[\s\S]*Budget/)
      expect(await violationsIn(page)).toEqual([])
      await page.getByRole('button', { name: 'Filters and time' }).click()
      await page.getByLabel('Category').selectOption('event')
      await eventually(() => results(page).count()).toBe(1)
      await page.reload()
      await eventually(() => results(page).count()).toBe(1)
      await page.getByRole('button', { name: 'Clear' }).click()
      await engine.remember(scope, { content: 'The dog has its name from a book' })
      await eventually(() => results(page).count()).toBe(3)
      await results(page).first().getByRole('link', { name: 'Open memory' }).click()
      await page.waitForURL(/studio\/memories\?.*memory=/)
    })

    it('[SP2] shows the block in every format, and what it costs', async () => {
      const { visit, engine } = await openPlayground()
      const page = await visit(ASKED)
      const given = page.getByRole('region', { name: 'Context preview', exact: true })
      await given.locator('pre').waitFor()
      expect(await given.locator('pre').innerText()).toContain('- My dog barks at night (')
      expect(await given.innerText()).toMatch(/Adds \d+ tokens of 800/)
      for (const [tab, path] of [
        ['Chat completions', '/v1/chat/completions'],
        ['Responses', '/v1/responses'],
        ['Messages', '/v1/messages'],
      ] as const) {
        await given.getByRole('tab', { name: tab }).click()
        const panel = given.getByRole('tabpanel', { name: tab })
        expect(await panel.innerText()).toContain(`POST ${path}`)
        expect(await panel.locator('mark').innerText()).toContain('<recollect-memory')
        expect(JSON.parse(await panel.locator('pre').innerText())).toHaveProperty('model')
      }
      await engine.admin.settings.change('default' as OwnerId, { 'gateway.dryRun': true })
      await page.getByRole('button', { name: 'Run' }).click()
      await given.getByText('The gateway would not insert this context now.').waitFor()
    })

    it('[TU9] marks turns, explains them, narrows to one source, and leads to the conversation', async () => {
      const { visit, engine, scope } = await openPlayground()
      const long = `${'It rained all day. '.repeat(40)}The dog of my neighbour has the name Bruno.`
      await engine.learning.ingest({
        ...{ ...scope, conversation: 'walk', skipExtraction: true },
        turns: [{ user: 'Which name has the dog next door?', assistant: long }],
      })
      const page = await visit(ASKED)
      await eventually(() => results(page).count()).toBe(4)
      await page.getByText(/^4 results/).waitFor()
      const turn = results(page).filter({ hasText: 'Bruno' })
      expect(await turn.innerText()).toMatch(/Turn\s+Assistant/)
      expect(await turn.locator('time').count()).toBe(1)
      expect((await turn.locator('p').nth(1).innerText()).length).toBeLessThanOrEqual(300)
      await turn.getByRole('button', { name: 'Explain' }).click()
      expect((await turn.getByRole('listitem').allInnerTexts()).join('\n')).toMatch(
        /Keyword[\s\S]*Budget/,
      )
      await turn.getByText('Full turn').click()
      await turn.getByText(long).waitFor()
      expect(await violationsIn(page)).toEqual([])
      const sources = page.getByLabel('Sources')
      await sources.selectOption('facts')
      await eventually(() => results(page).count()).toBe(2)
      await sources.selectOption('conversations')
      await eventually(() => results(page).count()).toBe(2)
      expect(new URL(page.url()).searchParams.get('include')).toBe('conversations')
      await turn.getByRole('link', { name: 'Open session' }).click()
      await page.waitForURL(/studio\/sessions\?.*session=walk/)
      await page.getByRole('article').filter({ hasText: 'Bruno' }).waitFor()
    })

    it('[TU10] lists the excerpts of the block, and leads to their conversation', async () => {
      const { visit, engine, scope } = await openPlayground()
      await engine.learning.ingest({
        ...{ ...scope, conversation: 'walk', skipExtraction: true },
        turns: [{ user: 'My neighbour gave the dog next door the name Bruno.' }],
      })
      const page = await visit(ASKED)
      const excerpts = page.getByRole('region', { name: 'Excerpts from earlier sessions' })
      await excerpts.getByText('My neighbour gave the dog next door the name Bruno.').waitFor()
      await page.getByText('1 excerpt', { exact: true }).waitFor()
      await page.getByLabel('Sources').selectOption('facts')
      await excerpts.waitFor({ state: 'detached' })
      await page.getByLabel('Sources').selectOption('both')
      await excerpts.getByRole('link', { name: 'Open session' }).click()
      await page.waitForURL(/studio\/sessions\?.*session=walk/)
    })

    it('[SP2] compares two settings on the same question', async () => {
      const { visit } = await openPlayground()
      const page = await visit(ASKED)
      await page.getByRole('switch', { name: 'Compare two configurations' }).click()
      const b = page.getByRole('group', { name: 'Configuration B' })
      await b.getByLabel('Strategy').selectOption('recent')
      await expect
        .poll(() => results(page, 'B · ').allInnerTexts())
        .toEqual([
          expect.stringMatching(/barks at night[\s\S]*recent[\s\S]*A: 2/),
          expect.stringMatching(/name of my dog[\s\S]*A: 1/),
        ])
      expect(await results(page, 'A · ').first().innerText()).toContain('name of my dog')
      expect(await violationsIn(page)).toEqual([])
      await b.getByLabel('Token budget').fill('1')
      await page.keyboard.press('Tab')
      await eventually(() => results(page, 'B · ').count()).toBe(1)
    })

    it('[SP1] narrows by type, person, conversation and time, and tries fusion and gate', async () => {
      const { visit, engine, scope } = await openPlayground()
      await engine.remember(
        { ...scope, user: 'kim', session: 'chat-1' },
        { content: 'The dog of Kim has a long name', type: 'episodic' },
      )
      const page = await visit(ASKED)
      await eventually(() => results(page).count()).toBe(3)
      await page.getByLabel('Fusion').selectOption('rrf')
      await page.getByLabel('Gate').selectOption('heuristic')
      const resolution = page.getByRole('region', { name: 'Retrieval details' })
      await resolution.getByText('rrf').waitFor()
      await resolution.getByText('None (keyword search only)').waitFor()
      await resolution.getByText('there is no embedding model').waitFor()
      await page.getByText(/Gate:/).waitFor()
      await page.getByRole('button', { name: 'Filters and time' }).click()
      await page.getByLabel('Type').selectOption('episodic')
      await eventually(() => results(page).count()).toBe(1)
      await page.getByRole('button', { name: 'Clear' }).click()
      for (const [label, value, count] of [
        ['User', 'kim', 1],
        ['Session', 'chat-1', 1],
        ['As of', '2020-01-01T12:00', 0],
      ] as const) {
        await page.getByLabel(label, { exact: true }).fill(value)
        await page.keyboard.press('Enter')
        await eventually(() => results(page).count()).toBe(count)
        await page.getByRole('button', { name: 'Clear' }).click()
        await eventually(() => results(page).count()).toBe(3)
      }
    })

    it('[SP1] tells with which model and store it was looked for, and what fell back to words', async () => {
      const whole = createHashingEmbedder()
      let isBroken = false
      const { visit, engine } = await openStudio(
        {},
        {
          embedding: {
            ...whole,
            embed: async (texts, options) => {
              if (isBroken) throw new Error('The model is out of order.')
              return whole.embed(texts, options)
            },
          },
        },
      )
      await engine.remember({ owner: 'default' }, { content: 'My dog barks at night' })
      await engine.remember({ owner: 'default' }, { content: 'The dog has its name from a book' })
      await engine.admin.reindex()
      const page = await visit(ASKED)
      const resolution = page.getByRole('region', { name: 'Retrieval details' })
      const fact = (name: string) =>
        resolution
          .locator('dl > div')
          .filter({ has: page.locator('dt', { hasText: new RegExp(`^${name}$`) }) })
          .locator('dd')
          .innerText()
      const { model } = await whole.describe()
      await eventually(() => fact('Embedding model')).toContain(model)
      expect(await fact('Vector store')).toBe('built-in')
      expect(await fact('Vector search')).toBe('2 hits')
      expect(await fact('Keyword search')).toBe('2 hits')
      isBroken = true
      await page.getByLabel('Query or message').fill('Whose dog barks?')
      await page.keyboard.press('Enter')
      await resolution.getByText('The model is out of order.').first().waitFor()
      expect(await fact('Keyword search')).toMatch(/^\d hits?$/)
      expect(await fact('Vector search')).toMatch(/^failed/)
      await eventually(() => results(page).count()).toBeGreaterThan(0)
      expect(await violationsIn(page)).toEqual([])
    })

    it('[SP1] draws how the order came about, chooses a line in it, and copies the block', async () => {
      const { visit } = await openPlayground()
      const page = await visit(ASKED)
      const course = page.getByRole('region', { name: 'Ranking by stage' })
      await eventually(() => course.locator('polyline').count()).toBe(2)
      const line = course.getByRole('button', { name: /barks at night/ })
      await line.click()
      expect(await line.getAttribute('aria-pressed')).toBe('true')
      await results(page).filter({ hasText: 'barks at night' }).getByText('Fusion').waitFor()
      await line.click()
      expect(await line.getAttribute('aria-pressed')).toBe('false')
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
      await page.getByRole('button', { name: 'Copy' }).first().click()
      await page.getByText('Copied to clipboard.').first().waitFor()
      const copied = await page.evaluate(() => navigator.clipboard.readText())
      expect(copied).toContain('- My dog barks at night (')
    })

    it('[SP1] says when nothing is found, and shows readers their own memories only', async () => {
      const { visit, engine } = await openPlayground()
      const key = await keyFor(engine, 'reader', 'bob')
      const page = await visit('playground?q=zzyzx', { colorScheme: 'dark' })
      await page.getByText('No relevant results').waitFor()
      expect(await violationsIn(page)).toEqual([])
      const reader = await visit(`${ASKED}&owner=default`, { key })
      await reader.getByText('Owner not found.').waitFor()
      expect(await results(reader).count()).toBe(0)
    })
  },
)
