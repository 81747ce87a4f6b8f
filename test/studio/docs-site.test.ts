/** The built documentation in a browser, under the content security policy of the server. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { BROWSER_TEST_MS, eventually, missing, openStudio } from './studio-support.ts'

const FOLDER = resolve('dist-docs')
const why = existsSync(FOLDER) ? missing : 'the documentation is not built'

describe.skipIf(why !== null)(`the documentation site${why === null ? '' : ` (${why})`}`, () => {
  it(
    '[HT59.3] sends requests from the API reference and shows the answers',
    async () => {
      const { url, admin, engine, visit } = await openStudio()
      await engine.remember({ owner: 'ada' }, { content: 'I prefer tea over coffee.' })
      const page = await visit('memories')
      const messages: string[] = []
      page.on('console', (message) => {
        if (message.type() === 'error') messages.push(message.text())
      })
      await page.goto(`${url}/docs/`)
      await page.getByRole('link', { name: 'Reference', exact: true }).first().click()
      await page.getByRole('link', { name: 'API reference (interactive)' }).click()
      await page.getByLabel('API key').fill(admin)
      await page.getByLabel('Filter').fill('memory.search')
      await page.getByRole('button', { name: '/api/memory/search' }).click()
      await page.getByLabel('Body (JSON)').fill('{ "owner": "ada", "query": "tea" }')
      await page.getByRole('button', { name: 'Send' }).click()
      await eventually(() => page.locator('.answer').textContent()).toContain('I prefer tea')
      expect(messages).toEqual([])
    },
    BROWSER_TEST_MS,
  )
})
