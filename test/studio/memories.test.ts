/** The list of memories, as somebody keeps it in order. */
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { Memory } from '../../src/domain/memory.ts'
import { createHashingEmbedder } from '../../src/models/embedders/hashing-embedder.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import type { Change } from '../../src/storage/store.ts'
import { keyFor } from '../api/http/http-support.ts'
import { answerOf, clientOf } from '../conversations/conversations-support.ts'
import { instant, memory, memoryId, owner, session } from '../fakes/memories.ts'
import { temporaryFile } from '../support/temporary-folder.ts'
import { BROWSER_TEST_MS, eventually, missing, openStudio, violationsIn } from './studio-support.ts'

const OWNER = { owner: 'default' }
const TEA = 'I prefer tea over coffee'
const CELLO = 'She plays the cello on Sundays'
const BAND = '<b>Bold</b> & <script>alert(1)</script> is the name of the band'
const OLD = 'The office moved to Porto'

async function openMemories() {
  const studio = await openStudio()
  const { engine } = studio
  const tea = await engine.remember(OWNER, { content: TEA, category: 'preference', importance: 8 })
  await engine.remember(
    { ...OWNER, session: 'chat-1' },
    { content: CELLO, category: 'event', type: 'episodic', trust: 'assistant', importance: 3 },
  )
  await engine.remember({ ...OWNER, user: 'kim' }, { content: BAND, provenance: { source: 'mcp' } })
  const old = await engine.remember(OWNER, { content: OLD, trust: 'suspect' })
  await engine.memories.disable(OWNER, old.memory.id)
  const now = async (content: string) => {
    const statuses = ['active', 'disabled', 'forgotten', 'superseded'] as const
    const { rows } = await engine.list(OWNER, { statuses, contains: content })
    return rows[0]
  }
  return { ...studio, now, tea: tea.memory }
}

const put = (fields: Partial<Memory>): Change => ({
  ...{ op: 'put', table: 'memory', row: memory(fields), expect: 'absent' },
})
const rows = (page: Page) =>
  page.locator('[data-row] [role=cell]:nth-child(2) > button').allInnerTexts()
const drawer = (page: Page) => page.getByRole('dialog')
const toast = (page: Page, text: string) => page.locator('li').filter({ hasText: text })

describe.skipIf(missing !== null)(
  `the memories (skipped when ${missing ?? 'nothing is missing'})`,
  { timeout: BROWSER_TEST_MS },
  () => {
    it('[SU1] lists, sorts and filters, keeps that in the address, and shows what comes in', async () => {
      const { visit, engine, client } = await openMemories()
      const page = await visit('memories')
      await eventually(() => rows(page)).toEqual([BAND, CELLO, TEA])
      expect(await page.locator('[data-row] b, [data-row] script').count()).toBe(0)
      expect(await violationsIn(page)).toEqual([])
      await page.getByLabel('Sort by').selectOption('oldest')
      await eventually(() => rows(page)).toEqual([TEA, CELLO, BAND])
      await page.getByRole('button', { name: 'Filters' }).click()
      expect(await violationsIn(page)).toEqual([])
      const choices = [
        ['Category', 'preference', [TEA]],
        ['Type', 'episodic', [CELLO]],
        ['Status', 'disabled', [OLD]],
        ['Trust', 'assistant', [CELLO]],
        ['Source', 'mcp', [BAND]],
        ['Minimum importance', '8', [TEA]],
      ] as const
      for (const [label, value, shown] of choices) {
        await page.getByLabel(label, { exact: true }).selectOption(value)
        await eventually(() => rows(page)).toEqual(shown)
        await page.getByRole('button', { name: 'Clear filters' }).click()
        await eventually(async () => (await rows(page)).length).toBe(3)
      }
      const words = [
        ['User', 'kim', [BAND]],
        ['Session', 'chat-1', [CELLO]],
      ] as const
      for (const [label, value, shown] of words) {
        await page.getByLabel(label, { exact: true }).fill(value)
        await page.keyboard.press('Enter')
        await eventually(() => rows(page)).toEqual(shown)
        await page.getByRole('button', { name: 'Clear filters' }).click()
      }
      await page.getByLabel('Created from', { exact: true }).fill('2999-01-01')
      await page.keyboard.press('Enter')
      await page.getByText('No matching memories').waitFor()
      await page.getByRole('button', { name: 'Clear filters' }).click()
      await page.getByLabel('Created before', { exact: true }).fill('2999-01-01')
      await page.keyboard.press('Enter')
      await page.waitForURL(/createdBefore=2999-01-01/)
      await page.reload()
      await eventually(() => rows(page)).toEqual([TEA, CELLO, BAND])
      await engine.remember(OWNER, { content: 'Her brother keeps bees' })
      await eventually(async () => (await rows(page)).at(-1)).toBe('Her brother keeps bees')
      const { body } = await client.get('/api/memory')
      const entries = page.locator('dl').getByText(String(body.stats.total), { exact: true })
      await entries.first().waitFor()
    })

    it('[SU1] the numbers above the list are those of the owner, and follow', async () => {
      const whole = createHashingEmbedder()
      let isAway = true
      const { visit, engine } = await openStudio(
        {},
        {
          embedding: {
            ...whole,
            embed: async (texts, options) => {
              if (isAway && options.purpose === 'document') throw new Error('Away.')
              return whole.embed(texts, options)
            },
          },
        },
      )
      await engine.admin.settings.change(owner('default'), {
        'gateway.enabled': true,
        'learning.extractionMode': 'manual',
      })
      await engine.remember({ owner: 'other' }, { content: 'x'.repeat(4_000) })
      // Forty and twenty characters: four to a token.
      await engine.remember(OWNER, { content: 'Tea is served at five in the blue salon.' })
      await engine.remember(OWNER, { content: 'The cello is a loan.' })
      const { ask } = clientOf(engine)
      await ask(['Where is tea served at five?'], answerOf('In the blue salon.'), { scope: OWNER })
      await ask(['zzyzx'], answerOf('?'), { scope: OWNER, wants: { inject: false } })
      const { rows: receipts } = await engine.conversations.receipts.list(OWNER)
      const given = receipts.filter(({ injected }) => injected !== null).length
      const page = await visit('memories')
      const card = async (name: string) =>
        page.locator('dl > div').filter({ hasText: name }).locator('dd').first().innerText()
      await eventually(() => card('Memories')).toBe('2')
      expect(await card('Tokens (estimated)')).toBe('15')
      expect(receipts.length).toBeGreaterThan(0)
      await eventually(() => card('Requests with memory')).toBe(
        `${Math.round((100 * given) / receipts.length)}%`,
      )
      // Three memories and four turns of all owners: the index is one.
      await eventually(() => card('Not embedded yet')).toBe('7')
      isAway = false
      await engine.admin.reindex()
      await engine.remember(OWNER, { content: 'She plays at dusk...' })
      await eventually(() => card('Memories')).toBe('3')
      expect(await card('Tokens (estimated)')).toBe('20')
      await eventually(() => card('Not embedded yet')).toBe('0')
    })

    it('[SU1] sorts by importance, salience and use, from the choice and from the columns', async () => {
      const path = temporaryFile('recollect.db')
      const store = await openSqliteStore({ path, now: Date.now })
      const place = { owner: owner('default'), user: null, session: null }
      const used = (useCount: number, at: number) => ({ useCount, lastUsedAt: instant(at) })
      await store.commit([
        put({ place, content: TEA, importance: 8, salience: 0.5, ...used(1, 9_000) }),
        put({ place, content: CELLO, importance: 3, salience: 0.1, ...used(2, 5_000) }),
        put({ place, content: BAND, importance: 5, salience: 0.9 }),
      ])
      await store.close()
      const { visit } = await openStudio({}, { path })
      const page = await visit('memories')
      await eventually(() => rows(page)).toEqual([BAND, CELLO, TEA])
      const orders = [
        ['importance', [TEA, BAND, CELLO]],
        ['salience', [BAND, TEA, CELLO]],
        ['lastUsed', [TEA, CELLO, BAND]],
        ['mostUsed', [CELLO, TEA, BAND]],
        ['leastUsed', [BAND, TEA, CELLO]],
      ] as const
      for (const [order, shown] of orders) {
        await page.getByLabel('Sort by').selectOption(order)
        await eventually(() => rows(page)).toEqual(shown)
        expect(page.url()).toContain(`order=${order}`)
      }
      await page.reload()
      await eventually(() => rows(page)).toEqual([BAND, TEA, CELLO])
      await page.getByRole('cell', { name: '2 uses' }).waitFor()
      const column = (name: string) => page.getByRole('columnheader', { name })
      expect(await column('Last used').getAttribute('aria-sort')).toBe('ascending')
      await column('Importance').getByRole('button').click()
      await eventually(() => rows(page)).toEqual([TEA, BAND, CELLO])
      expect(await column('Importance').getAttribute('aria-sort')).toBe('descending')
      expect(await violationsIn(page)).toEqual([])
      await column('Created').getByRole('button').click()
      await eventually(() => rows(page)).toEqual([BAND, CELLO, TEA])
      await column('Created').getByRole('button').click()
      await eventually(() => rows(page)).toEqual([TEA, CELLO, BAND])
      // What was looked for by words has an order of its own.
      await page.getByLabel('Search mode').selectOption('keyword')
      await page.getByRole('searchbox').fill('cello')
      await eventually(() => rows(page)).toEqual([CELLO])
      expect(await column('Importance').getByRole('button').count()).toBe(0)
    })

    it('[SU1] looks for text, words and meaning while somebody writes', async () => {
      const { visit } = await openMemories()
      const page = await visit('memories')
      await page.getByLabel('Search mode').selectOption('exact')
      await page.keyboard.press('/')
      await page.keyboard.type('the ')
      await eventually(() => rows(page)).toEqual([BAND, CELLO])
      await page.getByLabel('Search mode').selectOption('keyword')
      await page.getByRole('searchbox').fill('cello')
      await eventually(() => rows(page)).toEqual([CELLO])
      expect(page.url()).toMatch(/mode=keyword.*q=cello|q=cello.*mode=keyword/)
      await page.reload()
      await eventually(() => rows(page)).toEqual([CELLO])
      await page.getByRole('searchbox').fill('zzyzx')
      await page.getByText('No matching memories').waitFor()
      await page.getByLabel('Search mode').selectOption('hybrid')
      await page.getByRole('searchbox').fill('tea')
      await eventually(() => rows(page)).toEqual([TEA])
    })

    it('[SU2] adds a memory with all its fields, says what is wrong with them, and takes it back', async () => {
      const { visit, now } = await openMemories()
      const page = await visit('memories')
      await page.getByRole('button', { name: 'Add memory' }).click()
      const form = drawer(page)
      expect(await form.getByRole('button', { name: 'Add', exact: true }).isDisabled()).toBe(true)
      await form.getByLabel('Content').fill('The launch is on 12 March')
      await form.getByLabel('Category').selectOption('decision')
      await form.getByLabel('Type').selectOption('semantic')
      await form.getByLabel('Importance').fill('9')
      await form.getByLabel('Expires').fill('2999-03-12')
      await form.getByLabel('Key').fill('x'.repeat(600))
      await form.getByLabel('Pinned').click()
      expect(await violationsIn(page)).toEqual([])
      await form.getByRole('button', { name: 'Add', exact: true }).click()
      await form.getByRole('alert').waitFor()
      expect(await now('The launch')).toBe(undefined)
      await form.getByLabel('Key').fill('launch')
      await form.getByRole('button', { name: 'Add', exact: true }).click()
      await form.waitFor({ state: 'hidden' })
      expect(await now('The launch')).toMatchObject({
        ...{ key: 'launch', category: 'decision', type: 'semantic', importance: 9, pinned: true },
        ...{ expiresAt: Date.parse('2999-03-12'), place: { owner: 'default' } },
      })
      await toast(page, 'Memory added.').getByRole('button', { name: 'Undo' }).click()
      await eventually(async () => (await now('The launch'))?.status).toBe('forgotten')
      await page.getByRole('button', { name: 'Add memory' }).click()
      await form.getByLabel('Content').fill(TEA)
      await form.getByRole('button', { name: 'Add', exact: true }).click()
      await toast(page, 'This memory already exists').first().waitFor()
      expect((await now(TEA))?.sourceCount).toBe(2)
    })

    it('[SU2] edits, pins, disables, forgets, restores and erases an opened memory', async () => {
      const { visit, now, engine, tea } = await openMemories()
      await engine.edit(OWNER, tea.id, { expiresAt: Date.parse('2999-01-01T15:30:00Z') })
      const page = await visit('memories')
      await page.getByRole('button', { name: TEA }).click()
      const opened = drawer(page)
      expect(page.url()).toContain(`memory=${tea.id}`)
      expect(await violationsIn(page)).toEqual([])
      await opened.getByRole('button', { name: 'Edit' }).click()
      const form = page.getByRole('dialog', { name: 'Edit' })
      await form.getByLabel('Content').fill('I prefer green tea')
      await form.getByRole('button', { name: 'Save' }).click()
      await opened.getByText('I prefer green tea').waitFor()
      // The hour, which the form doesn't show, is as it was.
      expect((await now('green tea'))?.expiresAt).toBe(Date.parse('2999-01-01T15:30:00Z'))
      await opened.getByRole('button', { name: 'Pin' }).click()
      await opened.getByRole('button', { name: 'Unpin' }).click()
      await opened.getByRole('button', { name: 'Pin', exact: true }).waitFor()
      await opened.getByRole('button', { name: 'Disable' }).click()
      await eventually(async () => (await now('green tea'))?.status).toBe('disabled')
      await opened.getByRole('button', { name: 'Restore' }).click()
      await opened.getByRole('button', { name: 'Move to trash' }).click()
      const ask = page.getByRole('alertdialog')
      await ask.getByText('can be restored for 30 days').waitFor()
      expect(await violationsIn(page)).toEqual([])
      await ask.getByRole('button', { name: 'Cancel' }).click()
      expect((await now('green tea'))?.status).toBe('active')
      await opened.getByRole('button', { name: 'Move to trash' }).click()
      await ask.getByRole('button', { name: 'Move to trash' }).click()
      await eventually(async () => (await now('green tea'))?.status).toBe('forgotten')
      await toast(page, 'Memory moved to the trash').getByRole('button', { name: 'Undo' }).click()
      await eventually(async () => (await now('green tea'))?.status).toBe('active')
      await opened.getByRole('button', { name: 'Disable' }).click()
      await opened.getByRole('button', { name: 'Delete permanently' }).click()
      await ask.getByRole('button', { name: 'Delete permanently' }).click()
      await toast(page, 'Memory deleted permanently').waitFor()
      await opened.waitFor({ state: 'hidden' })
      expect(await now('green tea')).toBe(undefined)
    })

    it('[SU2] forgets many after a question, and brings all of them back', async () => {
      const { visit, engine } = await openMemories()
      const active = async () => (await engine.memories.count(OWNER)).total
      const page = await visit('memories')
      await page.getByLabel(`Select: ${TEA}`).check()
      await page.getByText('1 selected').waitFor()
      await page.getByRole('button', { name: 'Clear selection' }).click()
      await page.getByLabel('Select all loaded memories').check()
      await page.getByText('3 selected').waitFor()
      await page.getByRole('button', { name: 'Move to trash' }).click()
      await page.getByRole('alertdialog').getByText('Move 3 memories to the trash?').waitFor()
      await page.getByRole('alertdialog').getByRole('button', { name: 'Move to trash' }).click()
      await eventually(active).toBe(0)
      await page.getByText('Get started').waitFor()
      await toast(page, '3 memories moved to the trash')
        .getByRole('button', { name: 'Undo' })
        .click()
      await eventually(active).toBe(3)
      await eventually(async () => (await rows(page)).length).toBe(3)
    })

    it('[SU2] pins, disables, restores and exports many', async () => {
      const { visit, now } = await openMemories()
      const page = await visit('memories?status=any')
      await eventually(() => rows(page)).toEqual([OLD, BAND, CELLO, TEA])
      const act = async (name: string, ...contents: string[]) => {
        for (const content of contents) await page.getByLabel(`Select: ${content}`).check()
        await page.getByRole('status').getByRole('button', { name }).click()
      }
      await act('Pin', TEA, CELLO, OLD)
      await toast(page, '2 memories pinned').waitFor()
      expect((await now(TEA))?.pinned).toBe(true)
      await act('Restore', TEA, OLD)
      await toast(page, 'Memory restored').waitFor()
      await act('Disable', TEA, CELLO)
      await toast(page, '2 memories disabled').waitFor()
      expect((await now(CELLO))?.status).toBe('disabled')
      const [saved] = await Promise.all([page.waitForEvent('download'), act('Export', TEA)])
      const text = readFileSync(await saved.path(), 'utf8')
      expect(text).toContain(TEA)
      expect(text).not.toContain('cello')
    })

    it('[SU2] a name that another memory holds is told beside the field', async () => {
      const { visit, engine, tea } = await openMemories()
      await engine.remember(OWNER, { content: 'The kettle is red', key: 'kettle' })
      const page = await visit(`memories?memory=${tea.id}`)
      await drawer(page).getByRole('button', { name: 'Edit' }).click()
      const form = page.getByRole('dialog', { name: 'Edit' })
      await form.getByLabel('Key').fill('kettle')
      await form.getByRole('button', { name: 'Save' }).click()
      await form.getByRole('alert').getByText('Another memory holds the same key.').waitFor()
      expect(await form.getByText('changed by someone else').count()).toBe(0)
    })

    it('[SU2] what was changed again since stays when a change is taken back, and is named', async () => {
      const { visit, engine, tea } = await openMemories()
      const page = await visit(`memories?memory=${tea.id}`)
      await drawer(page).getByRole('button', { name: 'Edit' }).click()
      const form = page.getByRole('dialog', { name: 'Edit' })
      await form.getByLabel('Content').fill('I prefer green tea')
      await form.getByLabel('Importance').fill('9')
      await form.getByRole('button', { name: 'Save' }).click()
      await form.waitFor({ state: 'hidden' })
      await engine.edit(OWNER, tea.id, { importance: 2 })
      await toast(page, 'Changes saved.').getByRole('button', { name: 'Undo' }).click()
      await toast(page, 'edited since: importance').waitFor()
      expect(await engine.get(OWNER, tea.id)).toMatchObject({ content: TEA, importance: 2 })
    })

    it('[SU1] looks for meaning, best first, and lists what changed last', async () => {
      const { visit, engine } = await openStudio({}, { embedding: createHashingEmbedder() })
      const { memory: tea } = await engine.remember(OWNER, { content: TEA })
      await engine.remember(OWNER, { content: CELLO })
      await engine.edit(OWNER, tea.id, { importance: 9 })
      await engine.admin.reindex()
      const page = await visit('memories?order=updated')
      await eventually(() => rows(page)).toEqual([TEA, CELLO])
      await page.getByLabel('Search mode').selectOption('semantic')
      await page.getByRole('searchbox').fill('She plays the cello')
      await eventually(async () => (await rows(page))[0]).toBe(CELLO)
      const order = page.getByLabel('Sort by')
      expect([await order.isDisabled(), await order.innerText()]).toEqual([true, 'Best match'])
    })

    it('[SU3] leads to its conversation and to what it is tied to, without loading the page anew', async () => {
      const path = temporaryFile('recollect.db')
      const store = await openSqliteStore({ path, now: Date.now })
      const [first, second] = [memoryId(1), memoryId(2)]
      const place = { owner: owner('default'), user: null, session: session('chat-1') }
      await store.commit([
        put({ id: first, place, content: TEA, supersededBy: second, status: 'superseded' }),
        put({ id: second, place, content: CELLO, conflictsWith: first }),
      ])
      await store.close()
      const { visit } = await openStudio({}, { path })
      const page = await visit(`memories?memory=${first}`)
      await page.evaluate(() => Object.assign(window, { isSame: true }))
      await drawer(page).getByRole('button', { name: second }).click()
      await drawer(page).getByText(CELLO).waitFor()
      await drawer(page).getByRole('button', { name: first }).click()
      await drawer(page).getByText(TEA).waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('link', { name: 'chat-1' }).click()
      await page.waitForURL(/studio\/sessions\?.*session=chat-1/)
      expect(await page.evaluate(() => 'isSame' in window)).toBe(true)
    })

    it('[SU5] everything is done by keyboard', async () => {
      const { visit, now } = await openMemories()
      const page = await visit('memories')
      await eventually(async () => (await rows(page)).length).toBe(3)
      const focused = () => page.evaluate(() => document.activeElement?.textContent)
      await page.keyboard.press('j')
      await eventually(focused).toBe(BAND)
      await page.keyboard.press('j')
      await page.keyboard.press('j')
      await eventually(focused).toBe(TEA)
      await page.keyboard.press('k')
      await eventually(focused).toBe(CELLO)
      await page.keyboard.press('x')
      await page.getByText('1 selected').waitFor()
      await page.keyboard.press('Enter')
      await drawer(page).getByText(CELLO).waitFor()
      await page.keyboard.press('Escape')
      await drawer(page).waitFor({ state: 'hidden' })
      await page.keyboard.press('e')
      await page.getByRole('dialog', { name: 'Edit' }).getByLabel('Content').fill('Cello')
      await page.keyboard.press('Tab')
      await page.getByRole('dialog', { name: 'Edit' }).getByLabel('Importance').press('Enter')
      await eventually(async () => (await now('Cello'))?.content).toBe('Cello')
      await page.getByRole('dialog', { name: 'Edit' }).waitFor({ state: 'hidden' })
      await page.keyboard.press('n')
      await page.getByRole('dialog', { name: 'Add memory' }).waitFor()
      await page.keyboard.press('Escape')
      await page.keyboard.press('?')
      await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
      expect(await violationsIn(page)).toEqual([])
      await page.keyboard.press('Escape')
      await page.keyboard.press('/')
      await page.keyboard.type('njxe?')
      await page.getByText('No matching memories').waitFor()
      expect(await page.getByRole('dialog').count()).toBe(0)
    })

    it('[SU7] of two tabs that edit one memory, the second sees both and loses nothing', async () => {
      const { visit, now, tea, engine } = await openMemories()
      const [one, two] = [await visit(`memories?memory=${tea.id}`), await visit('memories')]
      const form = one.getByRole('dialog', { name: 'Edit' })
      await drawer(one).getByRole('button', { name: 'Edit' }).click()
      await form.getByLabel('Content').fill('Mine')
      await two.getByRole('button', { name: TEA }).click()
      await drawer(two).getByRole('button', { name: 'Edit' }).click()
      const other = two.getByRole('dialog', { name: 'Edit' })
      await other.getByLabel('Content').fill('Theirs')
      await other.getByLabel('Importance').fill('10')
      await other.getByRole('button', { name: 'Save' }).click()
      await other.waitFor({ state: 'hidden' })
      await form.getByRole('button', { name: 'Save' }).click()
      await form.getByText('This memory was changed by someone else').waitFor()
      expect(await form.locator('blockquote').allInnerTexts()).toEqual(['Theirs', 'Mine'])
      await form.getByText('importance: 8 → 10').waitFor()
      expect(await violationsIn(one)).toEqual([])
      expect((await now('Theirs'))?.content).toBe('Theirs')
      await form.getByRole('button', { name: 'Save my version' }).click()
      await form.waitFor({ state: 'hidden' })
      expect(await now('Mine')).toMatchObject({ content: 'Mine', importance: 10 })
      const versions = await engine.memories.history(OWNER, tea.id)
      expect(versions.map(({ memory }) => memory.content)).toEqual(['Mine', 'Theirs', TEA])
    })

    it('[SU7] the second may keep what the first wrote', async () => {
      const { visit, now, tea, engine } = await openMemories()
      const page = await visit(`memories?memory=${tea.id}`)
      const form = page.getByRole('dialog', { name: 'Edit' })
      await drawer(page).getByRole('button', { name: 'Edit' }).click()
      await form.getByLabel('Content').fill('Mine')
      await engine.edit(OWNER, tea.id, { content: 'Theirs' })
      await form.getByRole('button', { name: 'Save' }).click()
      await form.getByRole('button', { name: 'Keep stored version' }).click()
      await form.waitFor({ state: 'hidden' })
      expect(await now('Theirs')).toMatchObject({ content: 'Theirs', version: 2 })
    })

    it('[SU12] readers change nothing, and agents nothing that can’t be taken back', async () => {
      const { visit, engine, client, tea } = await openMemories()
      await engine.remember({ owner: 'other' }, { content: 'A secret of somebody else' })
      const key = await keyFor(engine, 'reader', 'default')
      const reader = await visit(`memories?memory=${tea.id}`, { key })
      await drawer(reader).getByText(TEA).waitFor()
      const buttons = await drawer(reader)
        .getByRole('button')
        .evaluateAll((all) => all.map((each) => each.getAttribute('aria-label')))
      expect(buttons).toEqual([
        ...['Previous memory', 'Next memory', 'Copy link', 'Close', 'Copy ID', 'More information'],
      ])
      await reader.keyboard.press('Escape')
      await drawer(reader).waitFor({ state: 'hidden' })
      expect(await reader.getByRole('checkbox').count()).toBe(0)
      await reader.keyboard.press('n')
      await reader.keyboard.press('j')
      await reader.keyboard.press('e')
      expect(await drawer(reader).count()).toBe(0)
      expect(await reader.getByRole('button', { name: 'Add memory' }).count()).toBe(0)
      expect(await reader.getByRole('button', { name: 'More' }).count()).toBe(0)
      const refused = await client.call('PATCH', `/api/memory/${tea.id}`, {
        ...{ key, body: { content: 'Changed' } },
      })
      expect(refused.status).toBe(403)
      const agent = await visit(`memories?memory=${tea.id}`, {
        key: await keyFor(engine, 'agent', 'default'),
      })
      await drawer(agent).getByRole('button', { name: 'Disable' }).click()
      await drawer(agent).getByRole('button', { name: 'Restore' }).waitFor()
      expect(await drawer(agent).getByRole('button', { name: 'Delete permanently' }).count()).toBe(
        0,
      )
    })
  },
)
