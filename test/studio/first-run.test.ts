/** The first minutes in the Studio: an empty store, the memory switch, a chat, a client and sample data. */
import { describe, expect, it } from 'vitest'
import {
  BROWSER_TEST_MS,
  eventually,
  missing,
  openGatewayStudio,
  violationsIn,
} from './studio-support.ts'

const OWNER = { owner: 'default' }

describe.skipIf(missing !== null)(
  `the first run (skipped when ${missing ?? 'nothing is missing'})`,
  { timeout: BROWSER_TEST_MS },
  () => {
    it('[SU21] shows that memory is off, turns it on, and remembers across two chats', async () => {
      const { visit, engine } = await openGatewayStudio()
      const page = await visit('memories')
      await page.getByText('Memory off').waitFor()
      expect(await violationsIn(page)).toEqual([])
      await page.getByRole('switch', { name: /Memory is off/ }).click()
      await page.getByRole('switch', { name: 'Memory is on.' }).waitFor()
      await page.getByRole('link', { name: 'Open chat' }).click()
      const say = async (text: string) => {
        await page.getByLabel('Message').fill(text)
        await page.keyboard.press('Enter')
      }
      await say('I live in Porto and my cat Miso hates the vet.')
      await page.getByText('2 memories learned').first().waitFor()
      await page.getByRole('button', { name: 'New session' }).click()
      await say('What is my cat called?')
      await page.getByText(/\d lines? recalled/).waitFor()
      await eventually(() => page.getByRole('article').innerText()).toContain('cat Miso')
      expect(await violationsIn(page)).toEqual([])
      await page.getByRole('switch', { name: 'Compare with memory off' }).click()
      await say('And where do I live?')
      await eventually(() => page.getByRole('article').last().innerText()).toContain(
        'I was given no memories',
      )
      // What was asked without memory left no trace.
      const { rows } = await engine.list(OWNER)
      expect(rows.map(({ content }) => content).sort()).toEqual([
        'I live in Porto',
        'my cat Miso hates the vet',
      ])
    })

    it('[SU21] loads sample data and removes it in one step', async () => {
      const { visit, engine } = await openGatewayStudio()
      const count = async () => (await engine.memories.count(OWNER)).total
      const page = await visit('memories')
      await page.getByRole('button', { name: 'Load sample data' }).click()
      await eventually(count).toBe(12)
      await page.getByRole('button', { name: 'Undo' }).click()
      await eventually(count).toBe(0)
    })

    it('[SU21] creates a key for a client, which works in the lines to copy', async () => {
      const { visit, url } = await openGatewayStudio()
      const page = await visit('memories')
      await page.getByRole('button', { name: 'Show instructions' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('button', { name: 'Create a key' }).click()
      const secret = await dialog.locator('code').innerText()
      await eventually(() => dialog.locator('pre').first().innerText()).toContain(secret)
      expect(await violationsIn(page)).toEqual([])
      const headers = { authorization: `Bearer ${secret}` }
      expect((await fetch(`${url}/v1/models`, { headers })).status).toBe(200)
    })

    it('[SU21] fits a narrow screen', async () => {
      const { visit } = await openGatewayStudio()
      const page = await visit('chat', { viewport: { width: 390, height: 844 } })
      await page.getByLabel('Message').waitFor()
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
        390,
      )
      expect(await violationsIn(page)).toEqual([])
    })
  },
)
