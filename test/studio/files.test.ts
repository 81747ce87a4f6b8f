/** Files on the server's disk, in a browser. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { keyFor } from '../api/http/http-support.ts'
import { folderWith } from '../files/file-support.ts'
import { temporaryFile } from '../support/temporary-folder.ts'
import { BROWSER_TEST_MS, eventually, missing, openStudio, violationsIn } from './studio-support.ts'

const HOSTILE = 'The kettle says <img src=x onerror=alert(1)> when it boils.'
const NOTES = {
  'MEMORY.md': `# Kitchen\n\n${HOSTILE}\n`,
  'memory/garden.md': `# Garden\n\n${'Nothing grows here.\n'.repeat(600)}\nThe bees live behind the shed.\n`,
}

const TALK = ['Where is the kettle?', 'On the stove.']
  .map((text, index) => ({
    type: 'message',
    message: { role: index === 0 ? 'user' : 'assistant', content: [{ type: 'text', text }] },
  }))
  .map((line) => `${JSON.stringify(line)}\n`)
  .join('')

async function openFiles() {
  const studio = await openStudio({}, { files: { path: temporaryFile('files.db') } })
  const folder = folderWith(NOTES)
  const { files } = studio.engine
  if (files === null) throw new Error('This server has files.')
  return { ...studio, files, folder }
}

type Opened = Awaited<ReturnType<typeof openFiles>>

async function withWorkspace(): Promise<Opened> {
  const opened = await openFiles()
  await opened.files.roots.add('default', { kind: 'workspace', path: opened.folder })
  await opened.files.sync('default')
  return opened
}

describe.skipIf(missing !== null)(
  `the files (skipped when ${missing ?? 'nothing is missing'})`,
  { timeout: BROWSER_TEST_MS },
  () => {
    it('[SU6] adds roots of every kind, says what is wrong with one, and removes one after asking', async () => {
      const { visit, files, folder } = await openFiles()
      const page = await visit('files')
      await page.getByText('No indexed files').waitFor()
      expect(await violationsIn(page)).toEqual([])
      const add = async (path: string, kind?: string) => {
        await page.getByRole('button', { name: 'Add files' }).click()
        if (kind !== undefined) await page.getByLabel('Type').selectOption(kind)
        await page.getByLabel('Path on the server').fill(path)
      }
      const form = page.getByRole('dialog')
      const submit = () => form.getByRole('button', { name: 'Add', exact: true }).click()
      await add(folder)
      await submit()
      const roots = page.getByRole('region', { name: 'Indexed paths' }).getByRole('listitem')
      await eventually(() => roots.first().innerText()).toMatch(/2 files, \d+ chunks/)
      await add(join(folder, 'memory'), 'path')
      await submit()
      await form
        .getByText(/holds|within|already/)
        .first()
        .waitFor()
      expect(await violationsIn(page)).toEqual([])
      expect(await files.roots.list('default')).toHaveLength(1)
      await page.keyboard.press('Escape')
      const question = page.getByRole('alertdialog', { name: 'Discard what you typed?' })
      await question.getByRole('button', { name: 'Discard' }).click()
      const other = folderWith({ 'a.md': '# A\n\nAlpha.\n', 'b.md': '# B\n\nBeta.\n' })
      await add(other, 'path')
      await form.getByLabel('Include').fill('**/a.md')
      await form.getByLabel('Exclude').fill('**/b.md')
      await submit()
      await eventually(() => roots.count()).toBe(2)
      const [, second] = await files.roots.list('default')
      expect(second).toMatchObject({ kind: 'path', include: ['**/a.md'], exclude: ['**/b.md'] })
      const row = roots.filter({ hasText: other })
      await eventually(() => row.innerText()).toContain('1 file,')
      await row.getByRole('button', { name: 'Remove' }).click()
      const ask = page.getByRole('alertdialog')
      await ask.getByRole('button', { name: 'Cancel' }).click()
      expect(await files.roots.list('default')).toHaveLength(2)
      await row.getByRole('button', { name: 'Remove' }).click()
      await ask.getByRole('button', { name: 'Remove' }).click()
      await eventually(async () => (await files.roots.list('default')).length).toBe(1)
      await eventually(() => roots.count()).toBe(1)
      const talks = folderWith({ 'talk.jsonl': TALK })
      await add(talks, 'sessions')
      expect(await form.getByLabel('Include').count()).toBe(0)
      await submit()
      const transcripts = roots.filter({ hasText: talks })
      await eventually(() => transcripts.innerText()).toMatch(/sessions[\s\S]*1 file, 1 chunk/)
    })

    it('[SU6] shows the files of a root with their state, and the pieces of a file', async () => {
      const { visit, files, folder } = await withWorkspace()
      writeFileSync(join(folder, 'memory', 'photo.md'), new Uint8Array([0, 1, 2, 0, 255]))
      await files.sync('default')
      const page = await visit('files')
      await page.getByText('1 file with problems').click()
      await page
        .getByText(/photo\.md:/)
        .first()
        .waitFor()
      await page.getByRole('button', { name: 'Show files' }).click()
      const listed = page.getByRole('list', { name: /^Files of/ }).locator('> li')
      await eventually(() => listed.count()).toBe(3)
      expect(await listed.nth(0).innerText()).toMatch(/MEMORY\.md\s+Indexed\s+1 chunk\s+Modified/)
      expect(await listed.nth(2).innerText()).toMatch(/memory\/photo\.md\s+Skipped\s+0 chunks/)
      await listed.nth(1).getByRole('button', { name: 'memory/garden.md' }).click()
      const pieces = page.getByRole('list', { name: 'Chunks of memory/garden.md' })
      await pieces.getByText('The bees live behind the shed.').waitFor()
      expect(await pieces.innerText()).toMatch(/Garden\s+Not embedded/)
      expect(await violationsIn(page)).toEqual([])
      await page.reload()
      await pieces
        .getByRole('button', { name: /^Lines/ })
        .last()
        .click()
      const reading = page.getByRole('dialog', { name: /^memory\/garden\.md#L/ })
      await reading.getByText('The bees live behind the shed.').waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Hide files' }).click()
      await eventually(() => listed.count()).toBe(0)
    })

    it('[SU6] marks the words that were looked for, and leads to the cited lines', async () => {
      const { visit } = await withWorkspace()
      const page = await visit('files')
      await page.keyboard.press('/')
      await page.keyboard.type('where do the bees live')
      const hit = page.locator('ol > li').filter({ hasText: 'bees' }).first()
      await eventually(() => hit.locator('mark').allInnerTexts()).toEqual(['bees', 'live'])
      expect(page.url()).toContain('q=where')
      expect(await violationsIn(page)).toEqual([])
      const citation = hit.getByRole('button', { name: /garden\.md#L/ })
      const cited = await citation.innerText()
      await citation.click()
      const reading = page.getByRole('dialog', { name: cited })
      const line = reading.getByText('The bees live behind the shed.')
      await line.waitFor()
      expect(await line.getAttribute('value')).toBe('604')
      const top = reading.locator(`li[value="${/#L(\d+)/.exec(cited)?.[1]}"]`)
      await eventually(() => top.evaluate((at) => at.getBoundingClientRect().top)).toBeLessThan(900)
      expect(await violationsIn(page)).toEqual([])
      await page.goBack()
      await reading.waitFor({ state: 'hidden' })
      await page.getByRole('searchbox').fill('kettle boils')
      await page.getByText('<img src=x onerror=alert(1)>').waitFor()
      expect(await page.locator('pre img').count()).toBe(0)
      await page.getByLabel('Source').selectOption('sessions')
      await page.getByText('No matching passages').waitFor()
      await page.getByLabel('Source').selectOption('memory')
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
      await page.getByRole('button', { name: 'Copy citation' }).first().click()
      const copied = () => page.evaluate(() => navigator.clipboard.readText())
      await eventually(copied).toMatch(/^MEMORY\.md#L/)
    })

    it('[SU6] looks again, rebuilds after asking, and shows readers what they may see', async () => {
      const { visit, folder, engine, client } = await withWorkspace()
      const page = await visit('files')
      writeFileSync(join(folder, 'memory', 'new.md'), '# New\n\nThe piano was tuned.\n')
      await page.getByRole('button', { name: 'Scan now' }).click()
      await page.getByText('1 added, 0 changed, 0 moved, 0 removed.').first().waitFor()
      await page.getByRole('button', { name: 'Rebuild index' }).click()
      await page.getByRole('alertdialog').getByRole('button', { name: 'Rebuild index' }).click()
      await eventually(() => page.getByText(/\d+ added, \d+ changed/).count()).toBeGreaterThan(1)
      const key = await keyFor(engine, 'reader', 'default')
      const reader = await visit('files?q=piano', { key })
      await reader.locator('mark').getByText('piano').waitFor()
      for (const name of ['Add files', 'Scan now', 'Rebuild index', 'Remove']) {
        expect(await reader.getByRole('button', { name }).count()).toBe(0)
      }
      expect((await client.post('/api/files/sync', {}, { key })).status).toBe(403)
      const stranger = await visit('files', { key: await keyFor(engine, 'user', 'ada') })
      await stranger.getByText('A superadmin of this server can add').waitFor()
    })
  },
)
