/** The timeline, in a browser. */
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { OwnerId, TurnId } from '../../src/domain/ids.ts'
import { keyFor } from '../api/http/http-support.ts'
import { personOn } from '../learning/learning-support.ts'
import { BROWSER_TEST_MS, eventually, missing, openStudio, violationsIn } from './studio-support.ts'

const OWNER = { owner: 'default' }
const HOSTILE = 'Bo asked about <script>alert(1)</script> and music.'

async function openTimeline() {
  const studio = await openStudio()
  const { engine } = studio
  const episodes = [
    ['2026-03-10T12:00:00Z', 'Ana planned a trip to Porto.', ['travel'], undefined],
    ['2026-05-12T12:00:00Z', 'Ana booked the flight.', ['travel'], 'kim'],
    ['2026-05-12T14:00:00Z', HOSTILE, ['music'], undefined],
    ['2026-05-20T12:00:00Z', 'Kim looked for a teacher.', ['music lessons'], 'kim'],
  ] as const
  for (const [at, content, topics, user] of episodes) {
    await engine.remember(
      { ...OWNER, session: 'chat-1', ...(user === undefined ? {} : { user }) },
      {
        ...{ content, category: 'episode', type: 'episodic', validFrom: Date.parse(at) },
        metadata: {
          topics: [...topics],
          decisions: ['Fly in June'],
          actionItems: ['Ask for seats'],
        },
      },
    )
  }
  const statusOf = async (content: string) => {
    const statuses = ['active', 'disabled', 'forgotten'] as const
    const { rows } = await engine.list(OWNER, { statuses, contains: content })
    return rows[0]?.status
  }
  return { ...studio, statusOf }
}

/** What is told of each day, newest first. */
const days = (page: Page) => page.locator('h2[id^=day-]').allInnerTexts()
const MAY = ['Wednesday 20 May', 'Tuesday 12 May']

describe.skipIf(missing !== null)(
  `the timeline (skipped when ${missing ?? 'nothing is missing'})`,
  { timeout: BROWSER_TEST_MS },
  () => {
    it('[SM8] shows digests by day, and goes to other months and days by its address', async () => {
      const { visit } = await openTimeline()
      const page = await visit('timeline', { timezoneId: 'UTC' })
      await eventually(() => days(page)).toEqual(MAY)
      await page.getByText(HOSTILE).waitFor()
      expect(await page.getByText('Ask for seats').count()).toBe(3)
      expect(await violationsIn(page)).toEqual([])
      await page.getByRole('button', { name: /12 May 2026|May 12, 2026/ }).click()
      await eventually(() => days(page)).toEqual(['Tuesday 12 May'])
      expect(page.url()).toContain('day=2026-05-12')
      await page.reload()
      await eventually(() => days(page)).toEqual(['Tuesday 12 May'])
      await page.getByRole('region', { name: 'Learned that day' }).waitFor()
      await page.getByText('No recorded conversation.').waitFor()
      await page.getByRole('button', { name: 'Show whole month' }).click()
      await eventually(() => days(page)).toEqual(MAY)
      await page.getByLabel('Month', { exact: true }).selectOption('2026-03')
      await eventually(() => days(page)).toEqual(['Tuesday 10 March'])
      await page.getByRole('button', { name: 'Previous month' }).click()
      await page.getByText('No episodes in this month').waitFor()
      await page.getByRole('button', { name: 'Go to latest' }).click()
      await eventually(() => days(page)).toEqual(MAY)
      await page.getByLabel('Month', { exact: true }).selectOption('2026-03')
      await eventually(() => days(page)).toEqual(['Tuesday 10 March'])
      await page.getByRole('button', { name: 'Next month' }).click()
      await page.getByText('No episodes in this month').waitFor()
      await page.goBack()
      await eventually(() => days(page)).toEqual(['Tuesday 10 March'])
      await page.getByRole('button', { name: 'Latest', exact: true }).click()
      await eventually(() => days(page)).toEqual(MAY)
    })

    it('[SM8] zooms out to the year and into one of its months, by its address', async () => {
      const { visit } = await openTimeline()
      const page = await visit('timeline', { timezoneId: 'UTC' })
      await eventually(() => days(page)).toEqual(MAY)
      await page.getByRole('button', { name: 'Zoom out' }).click()
      const march = page.getByRole('button', { name: /March 2026: 1 episode/ })
      await march.waitFor()
      expect(await page.getByRole('button', { name: /May 2026: 3 episodes/ }).count()).toBe(1)
      expect(await violationsIn(page)).toEqual([])
      await page.reload()
      await march.click()
      await eventually(() => days(page)).toEqual(['Tuesday 10 March'])
      expect(page.url()).not.toContain('zoom')
      await page.goBack()
      await page.getByRole('button', { name: 'Zoom in' }).click()
      await page.getByRole('button', { name: /12 May 2026|May 12, 2026/ }).waitFor()
    })

    it('[SM8] is narrowed by status, topic and user', async () => {
      const { visit, engine } = await openTimeline()
      const page = await visit('timeline', { timezoneId: 'UTC' })
      const { rows } = await engine.list(OWNER, { contains: 'Kim looked' })
      await engine.memories.disable(OWNER, rows[0]?.id ?? '')
      await page.getByLabel('Status').selectOption('disabled')
      await eventually(() => days(page)).toEqual(['Wednesday 20 May'])
      await engine.restore(OWNER, rows[0]?.id ?? '')
      await page.getByRole('button', { name: 'Clear filters' }).click()
      await eventually(() => days(page)).toEqual(MAY)
      await page.getByLabel('Topic').fill('music')
      await eventually(() => page.getByText('Ana booked the flight.').count()).toBe(0)
      expect(await days(page)).toEqual(MAY)
      await page.getByLabel('User').fill('kim')
      await eventually(() => days(page)).toEqual(['Wednesday 20 May'])
      expect(page.url()).toMatch(/topic=music.*user=kim/)
      await page.getByRole('button', { name: 'Clear filters' }).click()
      await eventually(() => page.getByText('Ana booked the flight.').count()).toBe(1)
      await page.getByRole('button', { name: 'travel' }).click()
      await eventually(() => days(page)).toEqual(['Tuesday 12 May'])
      await page.getByLabel('Topic').fill('nothing of the kind')
      await page.getByText('No matching episodes').waitFor()
    })

    it('[SM8] says what is missing when nothing was distilled', async () => {
      const { visit, engine } = await openStudio()
      const page = await visit('timeline')
      await page.getByText('No episodes yet').waitFor()
      await page.getByText('Set learning.extractionModel').waitFor()
      expect(await violationsIn(page)).toEqual([])
      await engine.admin.settings.change('default' as OwnerId, {
        ...{ 'gateway.enabled': true, 'learning.extractionMode': 'manual' },
      })
      await personOn(engine).say('chat-1', 'Where is the key?', 'Under the mat.', 'default')
      await page.reload()
      await page.getByRole('link', { name: 'Open sessions' }).click()
      await eventually(async () => page.url()).toContain('/studio/sessions')
      await page.goBack()
      await page.getByRole('link', { name: 'Open settings' }).click()
      await eventually(async () => page.url()).toContain('/studio/settings')
    })

    it('[SM9] a digest is edited, disabled and forgotten, and all that is taken back', async () => {
      const { visit, statusOf } = await openTimeline()
      const page = await visit('timeline', { timezoneId: 'UTC' })
      await page.getByRole('button', { name: 'Ana booked the flight.' }).click()
      const drawer = page.getByRole('dialog')
      await drawer.getByText('No other memories were extracted').waitFor()
      expect(await drawer.getByRole('link', { name: /chat-1/ }).getAttribute('href')).toContain(
        '/studio/sessions?',
      )
      expect(await violationsIn(page)).toEqual([])
      await drawer.getByRole('button', { name: 'Edit' }).click()
      const editor = page.getByRole('dialog', { name: 'Edit episode' })
      await editor.getByLabel('Summary').fill('Ana booked two flights.')
      await editor.getByLabel('Decisions').fill('Fly in July\nTake the train back')
      expect(await violationsIn(page)).toEqual([])
      await editor.getByRole('button', { name: 'Save' }).click()
      await drawer.getByText('Take the train back').waitFor()
      await page.getByRole('button', { name: 'Undo' }).click()
      await eventually(() => drawer.getByText('Take the train back').count()).toBe(0)
      await drawer.getByRole('button', { name: 'Disable' }).click()
      await eventually(() => statusOf('Ana booked the flight')).toBe('disabled')
      await drawer.getByRole('button', { name: 'Restore' }).click()
      await eventually(() => statusOf('Ana booked the flight')).toBe('active')
      await drawer.getByRole('button', { name: 'Move to trash' }).click()
      await page.getByRole('alertdialog').getByRole('button', { name: 'Move to trash' }).click()
      await eventually(() => statusOf('Ana booked the flight')).toBe('forgotten')
      const told = page.locator('li').filter({ hasText: 'Episode moved to the trash.' })
      await told.getByRole('button', { name: 'Undo' }).click()
      await eventually(() => statusOf('Ana booked the flight')).toBe('active')
    })

    it('[SM9] when somebody else was quicker, both are shown', async () => {
      const { visit, engine } = await openTimeline()
      const page = await visit('timeline', { timezoneId: 'UTC' })
      await page.getByRole('button', { name: 'Ana booked the flight.' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Edit' }).click()
      const editor = page.getByRole('dialog', { name: 'Edit episode' })
      await editor.getByLabel('Summary').fill('Mine')
      const { rows } = await engine.list(OWNER, { contains: 'Ana booked the flight' })
      await engine.edit(OWNER, rows[0]?.id ?? '', { content: 'Theirs' })
      await editor.getByRole('button', { name: 'Save' }).click()
      await editor.getByText('This episode was changed by someone else').waitFor()
      expect(await editor.locator('blockquote').innerText()).toBe('Theirs')
      await editor.getByRole('button', { name: 'Keep my edits' }).click()
      await editor.getByRole('button', { name: 'Save' }).click()
      await eventually(async () => (await engine.get(OWNER, rows[0]?.id ?? ''))?.content).toBe(
        'Mine',
      )
      await editor.waitFor({ state: 'hidden' })
      await page.getByRole('dialog').getByRole('button', { name: 'Edit' }).click()
      await editor.getByLabel('Summary').fill('Mine again')
      await engine.edit(OWNER, rows[0]?.id ?? '', { content: 'Theirs again' })
      await editor.getByRole('button', { name: 'Save' }).click()
      await editor.getByRole('button', { name: 'Use stored version' }).click()
      expect(await editor.getByLabel('Summary').inputValue()).toBe('Theirs again')
      await editor.getByRole('button', { name: 'Cancel' }).click()
      await page
        .getByRole('dialog')
        .getByRole('link', { name: 'Version history and usage' })
        .click()
      await page.waitForURL(/studio\/memories\?.*memory=/)
      await page.getByRole('dialog').getByText('Theirs again').waitFor()
    })

    it('[SM8] an opened digest leads to its turns and to what was remembered from them', async () => {
      const { visit, engine } = await openTimeline()
      const scope = { ...OWNER, session: 'chat-2' }
      const provenance = { turns: ['trn_gone' as TurnId] }
      const { memory } = await engine.remember(scope, { content: 'Bo has a boat', provenance })
      const { memory: episode } = await engine.remember(scope, {
        ...{ content: 'Bo told about his boat.', category: 'episode', provenance },
      })
      const page = await visit(`timeline?episode=${episode.id}`)
      const drawer = page.getByRole('dialog')
      await drawer.getByText('1 turn has been deleted.').waitFor()
      const link = drawer.getByRole('link', { name: 'Bo has a boat' })
      expect(await link.getAttribute('href')).toContain(`memory=${memory.id}`)
      await link.click()
      await eventually(async () => page.url()).toContain('/studio/memories')
      await page.getByRole('dialog').getByText('Bo has a boat').waitFor()
    })

    it('[SM9] a reader looks and changes nothing', async () => {
      const { visit, engine } = await openTimeline()
      const page = await visit('timeline', { key: await keyFor(engine, 'reader', 'default') })
      await page.getByRole('button', { name: 'Ana booked the flight.' }).click()
      await page.getByRole('dialog').getByText('No other memories were extracted').waitFor()
      for (const name of ['Edit', 'Disable', 'Move to trash']) {
        expect(await page.getByRole('button', { name }).count()).toBe(0)
      }
    })
  },
)
