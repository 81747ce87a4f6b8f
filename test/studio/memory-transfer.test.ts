/** What an opened memory leads to, and memories on their way out and in. */
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { OwnerId } from '../../src/domain/ids.ts'
import { personOn } from '../learning/learning-support.ts'
import { BROWSER_TEST_MS, eventually, missing, openStudio, violationsIn } from './studio-support.ts'

const OWNER = { owner: 'default' }
const HOME = 'I live in Graz'
const LONG = 'Nobody has come for it, and the waiter keeps it behind the bar. '.repeat(5)
const MONTHS_MS = 90 * 86_400_000

async function openOne() {
  const studio = await openStudio()
  const { engine } = studio
  await engine.admin.settings.change('default' as OwnerId, {
    'gateway.enabled': true,
    'learning.extractionMode': 'manual',
  })
  await personOn(engine).say('chat-1', 'Where do I live? In Graz.', 'I see.', 'default')
  const [turn] = (await engine.conversations.turns.list({ ...OWNER, session: 'chat-1' })).rows
  const { memory } = await engine.remember(
    { ...OWNER, session: 'chat-1' },
    {
      ...{ content: HOME, entities: ['Graz'], category: 'fact' },
      provenance: { source: 'gateway', turns: turn === undefined ? [] : [turn.id] },
    },
  )
  await engine.edit(OWNER, memory.id, { content: 'I live in Trieste' })
  await engine.edit(OWNER, memory.id, { importance: 9 })
  return { ...studio, id: memory.id, now: () => engine.get(OWNER, memory.id) }
}

const more = async (page: Page, name: RegExp) => {
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name }).click()
}

type Line = {
  readonly row?: { readonly content?: string; readonly memory?: { readonly content: string } }
}

/** The lines of what the browser saves when something is done. */
async function saved(page: Page, act: () => Promise<void>): Promise<readonly Line[]> {
  const [download] = await Promise.all([page.waitForEvent('download'), act()])
  expect(download.suggestedFilename()).toBe('recollect-memories.jsonl')
  const text = readFileSync(await download.path(), 'utf8')
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** Of memories and what they were before. */
function contentsIn(lines: readonly Line[]): readonly (string | undefined)[] {
  return lines.flatMap(({ row }) => row?.content ?? row?.memory?.content ?? []).sort()
}

describe.skipIf(missing !== null)(
  `a memory’s past and ways (skipped when ${missing ?? 'nothing is missing'})`,
  { timeout: BROWSER_TEST_MS },
  () => {
    it('[SU3] shows what changed from version to version, and brings one back', async () => {
      const { visit, id, now } = await openOne()
      const page = await visit(`memories?memory=${id}`)
      const drawer = page.getByRole('dialog')
      await drawer.getByText('Graz', { exact: true }).waitFor() // what it is about
      await drawer.getByText('There is no embedding model.').waitFor()
      await drawer.getByRole('tab', { name: 'History' }).click()
      const versions = drawer.locator('ol > li')
      await eventually(() => versions.count()).toBe(3)
      expect(await versions.nth(0).innerText()).toContain('importance: 5 → 9')
      expect(await versions.nth(1).locator('del').allInnerTexts()).toEqual(['Graz'])
      expect(await versions.nth(1).locator('ins').allInnerTexts()).toEqual(['Trieste'])
      expect(await violationsIn(page)).toEqual([])
      await versions.nth(2).getByRole('button', { name: 'Restore this version' }).click()
      await eventually(async () => (await now())?.content).toBe(HOME)
      await page.getByRole('button', { name: 'Undo' }).click()
      await eventually(async () => (await now())?.content).toBe('I live in Trieste')
    })

    it('[SU3] leads to the turn that it comes from, and to where it was used', async () => {
      const { visit, id, engine } = await openOne()
      await personOn(engine).say('chat-2', 'In which city do I live?', 'In Trieste.', 'default')
      const page = await visit(`memories?memory=${id}`)
      const drawer = page.getByRole('dialog')
      await drawer.getByRole('tab', { name: 'Provenance' }).click()
      const use = drawer.getByRole('listitem').getByRole('link').first()
      expect(await use.getAttribute('href')).toMatch(/\/studio\/receipts\?.*receipt=rcp_/)
      expect(await violationsIn(page)).toEqual([])
      await drawer.getByRole('link', { name: 'chat-1' }).click()
      await page.locator('article[aria-current]').getByText('Where do I live?').waitFor()
    })

    it('[SU4] exports everything, or what is shown', async () => {
      const { visit, engine } = await openOne()
      await engine.remember(OWNER, { content: 'The office is in Porto' })
      const page = await visit('memories?q=Porto')
      const all = await saved(page, () => more(page, /All data of this owner/))
      expect(JSON.stringify(all)).toContain('Trieste')
      const shown = await saved(page, () => more(page, /Filtered memories/))
      expect(shown).toMatchObject([
        { format: expect.any(String) },
        { table: 'memory', row: { content: 'The office is in Porto' } },
      ])
      await page.getByLabel('Search mode').selectOption('keyword')
      await page.getByRole('searchbox').fill('city Trieste')
      await page.getByRole('button', { name: 'I live in Trieste' }).waitFor()
      const found = await saved(page, () => more(page, /Filtered memories/))
      expect(contentsIn(found)).toEqual([
        'I live in Graz',
        'I live in Trieste',
        'I live in Trieste',
      ])
    })

    it('[SU4] imports a file, with a report of each line', async () => {
      const { visit, engine } = await openStudio()
      const other = { owner: 'other' }
      await engine.remember(other, { content: 'Her brother keeps bees' })
      const lines: string[] = []
      for await (const line of engine.admin.export(other)) lines.push(line)
      const page = await visit('memories')
      await page.getByRole('button', { name: 'Import', exact: true }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('File').setInputFiles({
        ...{ name: 'memories.jsonl', mimeType: 'application/x-ndjson' },
        buffer: Buffer.from([...lines, '{"table": "memory"}', ''].join('\n')),
      })
      await dialog.getByRole('button', { name: 'Preview' }).click()
      await dialog.getByText('Recollect (.jsonl): 2 memories and 0 turns would').waitFor()
      expect((await engine.memories.count(OWNER)).total).toBe(0)
      await dialog.getByRole('button', { name: 'Import' }).click()
      await dialog.getByText('1 memory imported; 1 line skipped.').waitFor()
      expect(await dialog.getByRole('row').nth(1).innerText()).toMatch(/^3\s/)
      expect(await violationsIn(page)).toEqual([])
      await dialog.getByRole('button', { name: 'Import' }).click()
      await dialog.getByText('2 lines skipped.').waitFor()
      const skipped = dialog.getByRole('region', { name: 'Reason for skipping' })
      expect(await skipped.getByRole('row').nth(1).innerText()).toMatch(
        /^2\s+The row is already stored/,
      )
      expect((await engine.list(OWNER)).rows.map(({ content }) => content)).toEqual([
        'Her brother keeps bees',
      ])
      await dialog.getByRole('button', { name: 'Close' }).last().click()
      await page.getByRole('button', { name: 'Her brother keeps bees' }).waitFor()
    })

    it('[SU4] previews and imports what another system has exported', async () => {
      const { visit, engine } = await openStudio()
      const page = await visit('memories?dialog=import')
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('File').setInputFiles({
        ...{ name: 'notes.md', mimeType: 'text/markdown' },
        buffer: Buffer.from('# Home\n\n- The stopcock is under the sink\n- The fuse box is red\n'),
      })
      await dialog.getByRole('button', { name: 'Preview' }).click()
      await dialog.getByText('Markdown: 2 memories and 0 turns would be imported').waitFor()
      await dialog.getByRole('cell', { name: /stopcock/ }).waitFor()
      expect(await violationsIn(page)).toEqual([])
      expect((await engine.memories.count(OWNER)).total).toBe(0)
      await dialog.getByRole('button', { name: 'Import' }).click()
      await dialog.getByText('2 memories imported').waitFor()
      expect((await engine.list(OWNER, { contains: 'fuse box' })).rows).toHaveLength(1)
    })

    it('[SU4] saves exactly what is shown as JSON, Markdown and CSV', async () => {
      const { visit, engine } = await openOne()
      await engine.remember(OWNER, { content: '=1+1 is "two", she said' })
      const page = await visit('memories?q=she+said&mode=exact')
      await page.getByRole('button', { name: '=1+1' }).waitFor()
      const text = async (name: RegExp, ending: string) => {
        const [download] = await Promise.all([page.waitForEvent('download'), more(page, name)])
        expect(download.suggestedFilename()).toBe(`recollect-memories.${ending}`)
        return readFileSync(await download.path(), 'utf8')
      }
      expect(JSON.parse(await text(/as JSON/, 'json'))).toMatchObject([
        { content: '=1+1 is "two", she said' },
      ])
      expect(await text(/as Markdown/, 'md')).toMatch(
        /^# Memories\n\n## general\n\n- =1\+1 is "two"/,
      )
      const [head, row, rest] = (await text(/as CSV/, 'csv')).split('\r\n')
      expect([head?.split(',').slice(0, 2), rest]).toEqual([['id', 'content'], ''])
      expect(row).toContain(`"'=1+1 is ""two"", she said"`)
    })

    it('[SU4] compacts what is old after showing what would happen, and takes it back', async () => {
      const { visit, engine } = await openStudio()
      const other = { owner: 'other' }
      for (const name of ['umbrella', 'bicycle', 'piano']) {
        await engine.remember(other, { content: `The ${name} was left in a cafe. ${LONG}` })
      }
      async function* aged() {
        for await (const line of engine.admin.export(other)) {
          yield line.replaceAll(
            /"(createdAt|updatedAt)":(\d+)/g,
            (_, name: string, at: string) => `"${name}":${Number(at) - MONTHS_MS}`,
          )
        }
      }
      await engine.admin.import(aged(), OWNER)
      const active = async () => (await engine.list(OWNER)).rows.length
      const page = await visit('memories')
      await more(page, /Summarize old/)
      const dialog = page.getByRole('dialog')
      const run = dialog.getByRole('button', { name: 'Summarize', exact: true })
      expect(await run.isDisabled()).toBe(true)
      await dialog.getByLabel('Older than (days)').fill('365')
      await dialog.getByRole('button', { name: 'Preview' }).click()
      await dialog.getByText('No memories are old enough.').waitFor()
      await dialog.getByLabel('Older than (days)').fill('30')
      await dialog.getByRole('button', { name: 'Preview' }).click()
      await dialog.getByText(/3 memories would be replaced by 1 summary/).waitFor()
      expect(await violationsIn(page)).toEqual([])
      expect(await active()).toBe(3)
      await run.click()
      await eventually(active).toBe(1)
      await page.getByRole('button', { name: 'Undo' }).click()
      await eventually(active).toBe(3)
    })

    it('[SU2] what explains the page is closed for good, and the health has its reason', async () => {
      const { visit } = await openOne()
      const page = await visit('memories')
      await page.getByText('How it works').waitFor()
      await page.getByRole('button', { name: 'Don’t show again' }).click()
      await page.reload()
      await page.getByRole('button', { name: 'I live in Trieste' }).waitFor()
      expect(await page.getByText('How it works').count()).toBe(0)
      await page.getByRole('button', { name: /^Health:/ }).focus()
      await page.getByRole('tooltip').waitFor()
    })
  },
)
