/** What holds for every page: hostile text, lost servers, and who may see what. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { OwnerId } from '../../src/domain/ids.ts'
import { keyFor } from '../api/http/http-support.ts'
import { answerOf, clientOf } from '../conversations/conversations-support.ts'
import { folderWith } from '../files/file-support.ts'
import { temporaryFile } from '../support/temporary-folder.ts'
import { BROWSER_TEST_MS, eventually, missing, openStudio } from './studio-support.ts'

const OWNER = { owner: 'default' }
const ATTACKS = join('..', 'shared', 'evals', 'adversarial')
const noAttacks = existsSync(ATTACKS) ? null : 'the public texts are not here'

/** What was written to be taken for markup or script. */
function hostileTexts(): readonly string[] {
  const read = (name: string) => JSON.parse(readFileSync(join(ATTACKS, name), 'utf8'))
  const texts: readonly string[] = [
    ...read('naughty-strings.json'),
    ...read('injection-attacks.json').map(({ text }: { text: string }) => text),
  ]
  const marked = texts.filter((text) => /[<>]|javascript:|\{\{|\u202e/i.test(text))
  return [...new Set(marked.filter((text) => text.trim().length > 3))]
}

/** What only a text could have put there. */
const PUT_THERE = [
  'script:not([src^="/studio/"])',
  'img:not([src^="/studio/"])',
  'iframe, object, embed, marquee, base, video, audio, math, form[action], link[rel=import]',
  '[onerror], [onload], [onclick], [onmouseover], [onfocus], [href^="javascript:" i]',
].join(', ')

async function openHostile() {
  const studio = await openStudio({}, { files: { path: temporaryFile('files.db') } })
  const { engine } = studio
  const texts = hostileTexts()
  const [first = ''] = texts
  await engine.admin.settings.change('default' as OwnerId, {
    'gateway.enabled': true,
    'learning.extractionMode': 'manual',
  })
  const { ask } = clientOf(engine)
  const short = texts.filter((text) => text.length < 100).slice(0, 20)
  for (const [index, content] of texts.slice(0, 120).entries()) {
    await engine.remember(OWNER, { content, ...(index % 9 === 0 ? { trust: 'suspect' } : {}) })
  }
  await engine.remember(
    { ...OWNER, user: short[1] ?? 'kim', session: 'hostile' },
    {
      ...{ content: texts.at(-1) ?? '', category: 'episode', type: 'episodic' },
      ...{ entities: short.slice(0, 5), key: 'hostile' },
      metadata: { topics: short.slice(0, 5), decisions: short.slice(5), actionItems: short },
    },
  )
  for (const text of texts.slice(0, 12)) {
    await ask([text], answerOf(text), { scope: { ...OWNER, session: 'hostile' }, model: first })
  }
  for (const hour of [9, 10]) {
    await engine.remember(OWNER, { content: `The boat ${first} leaves at ${hour} in the morning` })
  }
  await engine.admin.keys.create({
    name: first.slice(0, 100),
    defaultOwner: 'default',
    role: 'reader',
  })
  await engine.learning.consolidate(OWNER)
  const notes = folderWith({ 'MEMORY.md': `# ${first}\n\nkettle\n\n${texts.join('\n\n')}\n` })
  await engine.files?.roots.add('default', { kind: 'workspace', path: notes })
  await engine.files?.sync('default')
  return { ...studio, first }
}

async function expectNothingPut(page: Page, where: string): Promise<void> {
  const found = await page.evaluate(
    (selector) => [...document.querySelectorAll(selector)].map(({ outerHTML }) => outerHTML),
    PUT_THERE,
  )
  expect(found, where).toEqual([])
}

/** Loaded to the end, with nothing in it that a text has put there. */
async function expectHarmless(page: Page, address: string): Promise<void> {
  await page.goto(new URL(`/studio/${address}`, page.url()).href)
  await page.waitForSelector('h1')
  await eventually(() =>
    page.locator('[role=status][aria-label="Loading"], [role=progressbar]').count(),
  ).toBe(0)
  await expectNothingPut(page, address)
  const width = () => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
  expect(await width(), address).toBeLessThanOrEqual(0)
}

describe.skipIf(missing !== null)(
  `every page (skipped when ${missing ?? 'nothing is missing'})`,
  { timeout: BROWSER_TEST_MS },
  () => {
    it.skipIf(noAttacks !== null)(
      `[SU11] shows hostile text as text (skipped when ${noAttacks ?? 'nothing is missing'})`,
      async () => {
        const { visit, first, engine } = await openHostile()
        const page = await visit('memories')
        const [newest] = (await engine.list(OWNER, { contains: '<script' })).rows
        const [episode] = (await engine.list(OWNER, { categories: ['episode'] })).rows
        const [receipt] = (await engine.conversations.receipts.list(OWNER)).rows
        const [root] = (await engine.files?.roots.list('default')) ?? []
        const asked = encodeURIComponent(first.slice(0, 60))
        for (const address of [
          `memories?memory=${newest?.id}`,
          'all-owners',
          'timeline',
          'map',
          'sessions?session=hostile',
          'files?q=kettle',
          `playground?q=${asked}`,
          'receipts',
          'review',
          'review?tab=conflicts',
          'engine',
          'access',
          'access?tab=owners',
          'map?view=entities',
          'jobs?tab=consolidation',
          'jobs?tab=learning',
          `receipts?receipt=${receipt?.id}`,
          `timeline?episode=${episode?.id}`,
          `files?root=${root?.id}&file=MEMORY.md`,
          `jobs?status=${asked}`,
          `settings?q=${asked}`,
          'audit',
        ]) {
          await expectHarmless(page, address)
        }
        await page.goto(new URL(`/studio/memories?memory=${newest?.id}`, page.url()).href)
        const shown = page.getByRole('dialog').locator('p').first()
        await eventually(() => shown.textContent()).toBe(newest?.content)
        for (const tab of await page.getByRole('dialog').getByRole('tab').all()) {
          await tab.click()
          await expectNothingPut(page, await tab.innerText())
        }
      },
    )

    it('[SU8] connects again when the server is back, says so, and shows what has happened', async () => {
      const path = temporaryFile('recollect.db')
      const before = await openStudio({}, { path })
      const page = await before.visit('memories')
      await page.getByText('Get started').waitFor()
      await before.close()
      await before.engine.close()
      await page.getByText('Connection lost.').first().waitFor()
      const { engine } = await openStudio({}, { path, port: Number(new URL(page.url()).port) })
      await engine.remember(OWNER, { content: 'Said while nobody listened' })
      await page.getByText('Connection restored').first().waitFor()
      await page.getByRole('button', { name: 'Said while nobody listened' }).waitFor()
      await eventually(() => page.getByText('Connection lost.').count()).toBe(0)
      await engine.remember(OWNER, { content: 'Said afterwards' })
      await page.getByRole('button', { name: 'Said afterwards' }).waitFor()
    })

    it('[SU12] a key of one owner sees nothing of another, by whatever address', async () => {
      const { visit, engine, client } = await openStudio()
      const secret = await engine.remember(OWNER, { content: 'A secret of the house' })
      await engine.learning.ingest({
        ...{ ...OWNER, conversation: 'talk', skipExtraction: true },
        turns: [{ user: 'A secret was told', assistant: 'It was.' }],
      })
      await engine.remember({ owner: 'ada' }, { content: 'Ada likes tea' })
      const key = await keyFor(engine, 'user', 'ada')
      const page = await visit('memories', { key })
      await page.getByRole('button', { name: 'Ada likes tea' }).waitFor()
      expect(await page.getByRole('banner').getByText('default').count()).toBe(0)
      const places = await page.getByRole('navigation').getByRole('link').allInnerTexts()
      expect(places).not.toContain('Engine')
      expect(places).not.toContain('Access')
      expect(places).not.toContain('Audit log')
      for (const address of [
        'memories',
        `memories?memory=${secret.memory.id}`,
        'sessions?session=talk',
        'timeline',
        'map',
        'playground?q=secret',
        'review',
        'files',
        'receipts',
        'jobs',
        'settings',
      ]) {
        const there = `${address}${address.includes('?') ? '&' : '?'}owner=default`
        await page.goto(new URL(`/studio/${there}`, page.url()).href)
        await page.waitForSelector('h1')
        await eventually(() => page.locator('[role=status][aria-label="Loading"]').count()).toBe(0)
        const said = await page.locator('#page, [role=dialog]').allInnerTexts()
        expect(said.join('\n'), address).not.toMatch(/of the house|was told/)
      }
      const refused = await client.get(`/api/memory/${secret.memory.id}?owner=default`, { key })
      expect(refused.status).toBe(404)
    })
  },
)
