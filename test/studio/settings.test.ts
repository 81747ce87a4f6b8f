/** Settings, as those see them who may change them, and those who may not. */
import { describe, expect, it } from 'vitest'
import type { OwnerId } from '../../src/domain/ids.ts'
import { SETTINGS } from '../../src/domain/settings/settings.ts'
import { keyFor } from '../api/http/http-support.ts'
import { BROWSER_TEST_MS, eventually, missing, openStudio, violationsIn } from './studio-support.ts'

const HOME = 'default' as OwnerId

describe.skipIf(missing !== null)(
  `the page of settings (skipped when ${missing ?? 'nothing is missing'})`,
  { timeout: BROWSER_TEST_MS },
  () => {
    it('[SG10] shows every setting, and in the tab of an owner those that it may have', async () => {
      const { visit } = await openStudio()
      const page = await visit('settings')
      const rows = page.locator('[data-setting]')
      const own = Object.values(SETTINGS).filter(({ scope }) => scope === 'owner')
      await eventually(() => rows.count()).toBe(own.length)
      const limit = page.locator('[data-setting="recall.limit"]')
      expect(await limit.innerText()).toContain(SETTINGS['recall.limit'].help)
      expect(await limit.innerText()).toMatch(/Default: 10 · 1 to 100/)
      expect(await violationsIn(page)).toEqual([])
      await page.getByRole('tab', { name: 'System' }).click()
      await eventually(() => rows.count()).toBe(Object.keys(SETTINGS).length)
      expect(await page.locator('[data-setting="embedding.source"]').innerText()).toContain(
        'restart required',
      )
      await page.goBack()
      await eventually(() => rows.count()).toBe(own.length)
    })

    it('[SG10] changes, undoes and resets, and says what gave a value', async () => {
      const { visit, engine } = await openStudio()
      await engine.admin.settings.change(null, { 'recall.limit': 20 })
      const page = await visit('settings')
      const limit = page.locator('[data-setting="recall.limit"]')
      const field = limit.getByRole('spinbutton')
      await eventually(() => field.inputValue()).toBe('20')
      const source = limit.locator('h3 + span')
      expect(await source.innerText()).toBe('system')
      await field.fill('7')
      await field.press('Enter')
      await eventually(() => source.innerText()).toBe('owner')
      expect((await engine.admin.settings.getStored(HOME))['recall.limit']).toBe(7)
      await page.getByRole('button', { name: 'Undo' }).click()
      await eventually(() => field.inputValue()).toBe('20')
      expect((await engine.admin.settings.getStored(HOME))['recall.limit']).toBe(undefined)
      await field.fill('8')
      await field.press('Enter')
      await limit.getByRole('button', { name: 'Reset recall.limit' }).click()
      await eventually(() => field.inputValue()).toBe('20')
      await page.getByRole('switch', { name: 'gateway.contextEnabled', exact: true }).click()
      await eventually(
        async () => (await engine.admin.settings.getStored(HOME))['gateway.contextEnabled'],
      ).toBe(false)
      await page.getByRole('combobox', { name: 'recall.strategy' }).selectOption('keyword')
      await eventually(
        async () => (await engine.admin.settings.getStored(HOME))['recall.strategy'],
      ).toBe('keyword')
      const model = page.locator('[data-setting="learning.extractionModel"]').getByRole('textbox')
      const named = async () =>
        (await engine.admin.settings.getStored(HOME))['learning.extractionModel']
      await model.fill('house/small')
      await model.press('Enter')
      await eventually(named).toBe('house/small')
      await model.fill('')
      await model.press('Enter')
      await eventually(named).toBe(undefined)
    })

    it('[SG10] does not write over somebody who is typing', async () => {
      const { visit, engine } = await openStudio()
      const page = await visit('settings')
      const row = page.locator('[data-setting="learning.extractionModel"]')
      const model = row.getByRole('textbox')
      await model.fill('house/sm')
      await engine.admin.settings.change(HOME, { 'learning.extractionModel': 'other/model' })
      await eventually(() => row.locator('h3 + span').innerText()).toBe('owner')
      expect(await model.inputValue()).toBe('house/sm')
      await model.press('Enter')
      const named = async () =>
        (await engine.admin.settings.getStored(HOME))['learning.extractionModel']
      await eventually(named).toBe('house/sm')
      // Left as it was, the field tells what came meanwhile.
      await engine.admin.settings.change(HOME, {
        'learning.extractionModel': 'third/model',
        'recall.limit': 20,
      })
      const limit = page.locator('[data-setting="recall.limit"]')
      await eventually(() => limit.getByRole('spinbutton').inputValue()).toBe('20')
      expect(await model.inputValue()).toBe('house/sm')
      await model.blur()
      await eventually(() => model.inputValue()).toBe('third/model')
      expect(await named()).toBe('third/model')
    })

    it('[SG10] says beside the field what is refused and what was moved', async () => {
      const { visit, engine } = await openStudio()
      const page = await visit('settings')
      const limit = page.locator('[data-setting="recall.limit"]')
      await limit.getByRole('spinbutton').fill('101')
      await limit.getByRole('spinbutton').press('Enter')
      await eventually(() => limit.getByRole('alert').innerText()).toContain('recall.limit')
      expect((await engine.admin.settings.getStored(HOME))['recall.limit']).toBe(undefined)
      const quiet = page.locator('[data-setting="learning.debounceSeconds"]')
      for (let time = 0; time < 2; time++) {
        await quiet.getByRole('spinbutton').fill('5000')
        await quiet.getByRole('spinbutton').press('Enter')
        await quiet.getByText('Out of range; set to 3,600.').waitFor()
        await eventually(() => quiet.getByRole('spinbutton').inputValue()).toBe('3600')
      }
    })

    it('[SG10] finds settings by words, and keeps that in the address', async () => {
      const { visit, engine } = await openStudio()
      await engine.admin.settings.change(HOME, { 'retention.trashDays': 3 })
      const page = await visit('settings')
      const names = () =>
        page
          .locator('[data-setting]')
          .evaluateAll((rows) => rows.map((row) => row.getAttribute('data-setting')))
      await page.keyboard.press('/')
      await page.keyboard.type('salience decayed')
      await eventually(names).toEqual(['retention.minSalience'])
      await eventually(async () => page.url()).toContain('q=salience')
      await page.reload()
      await eventually(names).toEqual(['retention.minSalience'])
      await page.getByRole('searchbox').fill('')
      await page.getByRole('switch', { name: 'Modified only' }).click()
      await eventually(names).toEqual(['retention.trashDays'])
      const trash = page.getByRole('heading', { name: 'Days in the trash retention.trashDays' })
      await trash.waitFor()
      await page.getByRole('switch', { name: 'Modified only' }).click()
      await page.getByRole('searchbox').fill('privacy')
      await eventually(names).toContain('files.redactEmails')
      await page.getByRole('searchbox').fill('cost')
      await eventually(names).toContain('gateway.contextTokensMax')
      await page.getByRole('searchbox').fill('xylophone')
      await page.getByText('No matching settings').waitFor()
    })

    it('[SG10] a user changes its own settings only, and a reader none', async () => {
      const { visit, engine } = await openStudio()
      const user = await visit('settings', { key: await keyFor(engine, 'user', 'ada') })
      await user.getByRole('switch', { name: 'gateway.enabled', exact: true }).click()
      await eventually(
        async () => (await engine.admin.settings.getStored('ada' as OwnerId))['gateway.enabled'],
      ).toBe(true)
      await user.getByRole('tab', { name: 'System' }).click()
      await user.getByText('Only superadmins can change system settings.').waitFor()
      expect(
        await user.getByRole('switch', { name: 'gateway.enabled', exact: true }).isDisabled(),
      ).toBe(true)
      const reader = await visit('settings', { key: await keyFor(engine, 'reader', 'ada') })
      await reader.getByText('but not change them').waitFor()
      expect(await reader.getByRole('button', { name: /Reset/ }).count()).toBe(0)
      expect(await reader.locator('[data-setting="recall.limit"] input').isDisabled()).toBe(true)
    })
  },
)
