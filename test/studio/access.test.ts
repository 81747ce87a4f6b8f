/** Keys, owners and the audit log, as a superadmin looks after them. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { keyFor } from '../api/http/http-support.ts'
import { BROWSER_TEST_MS, eventually, missing, openStudio, violationsIn } from './studio-support.ts'

describe.skipIf(missing !== null)(
  `the pages of keys, owners and the audit log (skipped when ${missing ?? 'nothing is missing'})`,
  { timeout: BROWSER_TEST_MS },
  () => {
    it('[SG11] makes a key that is shown once and lets in, and revokes it after asking', async () => {
      const { visit, engine, url } = await openStudio()
      const page = await visit('access')
      await page.getByRole('button', { name: 'Create API key' }).click()
      const form = page.getByRole('dialog')
      await form.getByLabel('Name').fill('Chat <b>app</b>')
      await form.getByLabel('Role').selectOption('agent')
      await form.getByRole('combobox', { name: 'Default owner', exact: true }).fill('ada')
      await form.getByLabel('Additional owners').fill('bob, carol')
      await form.getByLabel('Expires').selectOption('30')
      expect(await violationsIn(page)).toEqual([])
      await form.getByRole('button', { name: 'Create API key' }).click()
      const secret = await page.getByLabel('API key', { exact: true }).inputValue()
      expect(await engine.admin.keys.verify(secret)).toMatchObject({
        ...{ name: 'Chat <b>app</b>', role: 'agent', home: 'ada', actsFor: ['bob', 'carol'] },
        expiresAt: expect.any(Number),
      })
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
      await page.getByRole('button', { name: 'Copy' }).click()
      await eventually(() => page.evaluate(() => navigator.clipboard.readText())).toBe(secret)
      await page.getByRole('button', { name: 'Done' }).click()
      const row = page.getByRole('row').filter({ hasText: 'Chat <b>app</b>' })
      await eventually(() => row.innerText()).toMatch(/agent/)
      expect(await page.content()).not.toContain(secret)
      expect(
        (await fetch(`${url}/api/memory`, { headers: { authorization: `Bearer ${secret}` } }))
          .status,
      ).toBe(200)
      await row.getByRole('button', { name: /Revoke/ }).click()
      await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click()
      await eventually(() => row.count()).toBe(0)
      expect(await engine.admin.keys.verify(secret)).toBe(null)
    })

    it('[SG11] says beside the field what a key can’t be', async () => {
      const { visit } = await openStudio()
      const page = await visit('access')
      await page.getByRole('button', { name: 'Create API key' }).click()
      const form = page.getByRole('dialog')
      await form.getByLabel('Name').fill('app')
      await form.getByLabel('Additional owners').fill('x'.repeat(300))
      await form.getByRole('button', { name: 'Create API key' }).click()
      await eventually(() => form.getByRole('alert').innerText()).toContain('actsFor')
    })

    it('[SG11] exports an owner, and erases it once its name is typed', async () => {
      const { visit, engine } = await openStudio()
      for (const content of ['I prefer tea', 'My sister is called Ana']) {
        await engine.remember({ owner: 'ada' }, { content })
      }
      await engine.remember({ owner: 'bob' }, { content: 'I prefer coffee' })
      const page = await visit('access?tab=owners')
      const row = page.getByRole('row').filter({ hasText: 'ada' })
      await eventually(() => row.innerText()).toMatch(/ada\s+2\s+0/)
      expect(await violationsIn(page)).toEqual([])
      const download = page.waitForEvent('download')
      await row.getByRole('link', { name: 'Export all data of ada' }).click()
      const lines = readFileSync(await (await download).path(), 'utf8')
      expect(lines).toContain('I prefer tea')
      expect(lines).not.toContain('coffee')
      await row.getByRole('button', { name: 'Delete all data of ada' }).click()
      const asked = page.getByRole('dialog')
      await eventually(() => asked.innerText()).toMatch(/Memories\s+2/)
      const deleteAll = asked.getByRole('button', { name: 'Delete permanently' })
      expect(await deleteAll.isDisabled()).toBe(true)
      await asked.getByRole('textbox').fill('bob')
      expect(await deleteAll.isDisabled()).toBe(true)
      await asked.getByRole('textbox').fill('ada')
      await deleteAll.click()
      await page.getByText('All data of ada deleted').first().waitFor()
      await eventually(() => row.count()).toBe(0)
      expect((await engine.admin.listPlaces()).map(({ owner }) => owner)).toEqual(['bob'])
    })

    it('[SG11] revokes the key that one is signed in with, after a word on that', async () => {
      const { visit, engine } = await openStudio()
      const key = await keyFor(engine, 'superadmin', 'default')
      const page = await visit('access', { key })
      const own = page.getByRole('row').filter({ has: page.getByText('current', { exact: true }) })
      await own.getByRole('button', { name: /Revoke/ }).click()
      await page.getByRole('alertdialog').getByText('signed out').waitFor()
      await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click()
      await page.getByRole('button', { name: 'Sign in' }).waitFor()
      expect(await engine.admin.keys.verify(key)).toBe(null)
    })

    it('[SG11] is for superadmins, as the audit log', async () => {
      const { visit, engine } = await openStudio()
      const key = await keyFor(engine, 'user', 'ada')
      for (const path of ['access', 'audit']) {
        const page = await visit(path, { key })
        await page.getByText('Only superadmins can access this page.').waitFor()
      }
    })

    it('[SG12] narrows the audit log, keeps that in the address and leads to the memory', async () => {
      const { visit, client } = await openStudio()
      const added = await client.call('POST', '/api/memory', {
        body: { owner: 'ada', content: 'I prefer tea' },
      })
      const { id } = added.body as { id: string }
      await client.call('PUT', '/api/settings/memory', { body: { 'recall.limit': 5 } })
      await client.call('DELETE', `/api/memory/${id}?owner=ada`)
      const page = await visit('audit')
      const done = async () =>
        (await page.getByRole('row').allInnerTexts()).slice(1).map((row) => row.split(/\t/)[2])
      await eventually(done).toEqual(['memory.forget', 'settings.change', 'memory.add'])
      expect(await violationsIn(page)).toEqual([])
      await page.getByLabel('Action').fill('memory')
      await page.keyboard.press('Enter')
      await eventually(done).toEqual(['memory.forget', 'memory.add'])
      await page.reload()
      await eventually(done).toEqual(['memory.forget', 'memory.add'])
      await page.getByLabel('Actor').selectOption('none')
      await page.getByText('No matching events').waitFor()
      await page.getByRole('button', { name: 'Clear filters' }).click()
      await page.getByLabel('Resource').fill(id)
      await page.keyboard.press('Enter')
      await eventually(done).toEqual(['memory.forget', 'memory.add'])
      await page.getByLabel('From').fill('2099-01-01')
      await page.keyboard.press('Enter')
      await page.getByText('No matching events').waitFor()
      await page.getByLabel('From').fill('')
      await page.keyboard.press('Enter')
      await page.getByRole('link', { name: id }).first().click()
      await eventually(() => page.getByRole('dialog').innerText()).toContain('I prefer tea')
    })

    it('[SG12] narrows the audit log by owner and time, and leads to keys, jobs and settings', async () => {
      const { visit, engine } = await openStudio()
      const note = (operation: string, target: string, owner = 'ada') =>
        engine.admin.audit.append({ actor: null, operation, owner, targets: [target] })
      await note('settings.change', 'recall.limit')
      await note('jobs.retry', 'job_1')
      await note('keys.revoke', 'key_1')
      await note('memory.add', 'mem_1', 'bob')
      const page = await visit('audit')
      const rows = page.getByRole('row')
      await eventually(() => rows.count()).toBe(5)
      await page.getByRole('main').getByLabel('Owner').fill('ada')
      await page.keyboard.press('Enter')
      await eventually(() => rows.count()).toBe(4)
      await page.getByLabel('Until').fill('2020-01-01')
      await page.keyboard.press('Enter')
      await page.getByText('No matching events').waitFor()
      await page.getByLabel('Until').fill('')
      await page.keyboard.press('Enter')
      const leads = async (target: string, to: RegExp) => {
        await page.getByRole('link', { name: target }).click()
        await page.waitForURL(to)
        await page.goBack()
      }
      await leads('key_1', /studio\/access/)
      await leads('job_1', /studio\/jobs/)
      await leads('recall.limit', /studio\/settings\?.*q=recall\.limit/)
    })

    it('[SG12] shows more of the audit log, and what happens meanwhile', async () => {
      const { visit, engine } = await openStudio()
      const note = (target: string) =>
        engine.admin.audit.append({
          actor: null,
          operation: 'memory.add',
          owner: 'ada',
          targets: [target],
        })
      for (let n = 0; n < 60; n++) await note(`mem_${n}`)
      const page = await visit('audit')
      const rows = page.getByRole('row')
      await eventually(() => rows.count()).toBe(51)
      await page.getByRole('button', { name: 'Show more' }).click()
      await eventually(() => rows.count()).toBe(61)
      expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0)
      await note('mem_latest')
      await page.getByText('mem_latest').waitFor()
    })
  },
)
