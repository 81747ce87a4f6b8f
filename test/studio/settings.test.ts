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
      const limit = page.locator('[data-setting=recallLimit]')
      expect(await limit.innerText()).toContain(SETTINGS.recallLimit.help)
      expect(await limit.innerText()).toMatch(/Default: 10 · 1 to 100/)
      expect(await violationsIn(page)).toEqual([])
      await page.getByRole('tab', { name: 'Everybody' }).click()
      await eventually(() => rows.count()).toBe(Object.keys(SETTINGS).length)
      expect(await page.locator('[data-setting=embeddingSource]').innerText()).toContain(
        'at the next start',
      )
      await page.goBack()
      await eventually(() => rows.count()).toBe(own.length)
    })

    it('[SG10] changes, undoes and resets, and says what gave a value', async () => {
      const { visit, engine } = await openStudio()
      await engine.settings.change(null, { recallLimit: 20 })
      const page = await visit('settings')
      const limit = page.locator('[data-setting=recallLimit]')
      const field = limit.getByRole('spinbutton')
      await eventually(() => field.inputValue()).toBe('20')
      expect(await limit.innerText()).toContain('for everybody')
      await field.fill('7')
      await field.press('Enter')
      await eventually(() => limit.innerText()).toContain('for this owner')
      expect((await engine.settings.stored(HOME)).recallLimit).toBe(7)
      await page.getByRole('button', { name: 'Undo' }).click()
      await eventually(() => field.inputValue()).toBe('20')
      expect((await engine.settings.stored(HOME)).recallLimit).toBe(undefined)
      await field.fill('8')
      await field.press('Enter')
      await limit.getByRole('button', { name: 'Reset recallLimit' }).click()
      await eventually(() => field.inputValue()).toBe('20')
      await page.getByRole('switch', { name: 'inject', exact: true }).click()
      await eventually(async () => (await engine.settings.stored(HOME)).inject).toBe(false)
      await page.getByRole('combobox', { name: 'strategy' }).selectOption('keyword')
      await eventually(async () => (await engine.settings.stored(HOME)).strategy).toBe('keyword')
      const model = page.locator('[data-setting=coreModel]').getByRole('textbox')
      const named = async () => (await engine.settings.stored(HOME)).coreModel
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
      const row = page.locator('[data-setting=coreModel]')
      const model = row.getByRole('textbox')
      await model.fill('house/sm')
      await engine.settings.change(HOME, { coreModel: 'other/model' })
      await eventually(() => row.innerText()).toContain('for this owner')
      expect(await model.inputValue()).toBe('house/sm')
      await model.press('Enter')
      const named = async () => (await engine.settings.stored(HOME)).coreModel
      await eventually(named).toBe('house/sm')
      // Left as it was, the field tells what came meanwhile.
      await engine.settings.change(HOME, { coreModel: 'third/model', recallLimit: 20 })
      const limit = page.locator('[data-setting=recallLimit]')
      await eventually(() => limit.getByRole('spinbutton').inputValue()).toBe('20')
      expect(await model.inputValue()).toBe('house/sm')
      await model.blur()
      await eventually(() => model.inputValue()).toBe('third/model')
      expect(await named()).toBe('third/model')
    })

    it('[SG10] says beside the field what is refused and what was moved', async () => {
      const { visit, engine } = await openStudio()
      const page = await visit('settings')
      const limit = page.locator('[data-setting=recallLimit]')
      await limit.getByRole('spinbutton').fill('101')
      await limit.getByRole('spinbutton').press('Enter')
      await eventually(() => limit.getByRole('alert').innerText()).toContain('recallLimit')
      expect((await engine.settings.stored(HOME)).recallLimit).toBe(undefined)
      const quiet = page.locator('[data-setting=summaryDebounceSeconds]')
      for (let time = 0; time < 2; time++) {
        await quiet.getByRole('spinbutton').fill('5000')
        await quiet.getByRole('spinbutton').press('Enter')
        await quiet.getByText('Out of range: 3,600 was set instead.').waitFor()
        await eventually(() => quiet.getByRole('spinbutton').inputValue()).toBe('3600')
      }
    })

    it('[SG10] finds settings by words, and keeps that in the address', async () => {
      const { visit, engine } = await openStudio()
      await engine.settings.change(HOME, { binDays: 3 })
      const page = await visit('settings')
      const names = () => page.locator('[data-setting] h3').allInnerTexts()
      await page.keyboard.press('/')
      await page.keyboard.type('salience decayed')
      await eventually(names).toEqual(['salienceFloor'])
      await eventually(async () => page.url()).toContain('q=salience')
      await page.reload()
      await eventually(names).toEqual(['salienceFloor'])
      await page.getByRole('searchbox').fill('')
      await page.getByRole('switch', { name: 'Only what is set here' }).click()
      await eventually(names).toEqual(['binDays'])
      await page.getByRole('searchbox').fill('xylophone')
      await page.getByText('No setting fits').waitFor()
    })

    it('[SG10] a user changes its own settings only, and a reader none', async () => {
      const { visit, engine } = await openStudio()
      const user = await visit('settings', { key: await keyFor(engine, 'user', 'ada') })
      await user.getByRole('switch', { name: 'enabled', exact: true }).click()
      await eventually(async () => (await engine.settings.stored('ada' as OwnerId)).enabled).toBe(
        true,
      )
      await user.getByRole('tab', { name: 'Everybody' }).click()
      await user.getByText('Only superadmins change what is for everybody.').waitFor()
      expect(await user.getByRole('switch', { name: 'enabled', exact: true }).isDisabled()).toBe(
        true,
      )
      const reader = await visit('settings', { key: await keyFor(engine, 'reader', 'ada') })
      await reader.getByText('but not change them').waitFor()
      expect(await reader.getByRole('button', { name: /Reset/ }).count()).toBe(0)
      expect(await reader.locator('[data-setting=recallLimit] input').isDisabled()).toBe(true)
    })
  },
)
