/** The Studio in a real browser, on a real server with a database of its own. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import axe from 'axe-core'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, expect, onTestFinished } from 'vitest'
import type { ServeOptions } from '../../src/doors/cli/host.ts'
import type { EngineOptions } from '../../src/main/compose.ts'
import { start } from '../doors/http-support.ts'
import { temporaryFile } from '../support/temporary.ts'

const STUDIO_FOLDER = resolve(process.env.TEST_STUDIO_FOLDER ?? 'dist-studio')
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  (path) => existsSync(path),
)

/** Why the Studio can't be tried here; null when it can. */
export const missing = !existsSync(STUDIO_FOLDER)
  ? 'the Studio is not built'
  : CHROMIUM === undefined
    ? 'there is no Chromium'
    : null

/** A busy machine takes its time; what is asserted is what comes in the end. */
const PATIENCE_MS = 12_000
export const BROWSER_TEST_MS = 120_000

/** What is read again until it is as expected. */
export function eventually<Value>(read: () => Promise<Value>) {
  return expect.poll(read, { timeout: PATIENCE_MS })
}

let browser: Promise<Browser> | undefined

function openBrowser(): Promise<Browser> {
  browser ??= chromium.launch({ executablePath: CHROMIUM ?? '', args: ['--no-sandbox'] })
  return browser
}

afterAll(async () => {
  await (await browser)?.close()
})

export async function openStudio(
  settings: EngineOptions['settings'] = {},
  parts: Pick<EngineOptions, 'embedding' | 'languageModel'> = {},
) {
  const started = await start(
    { studioFolder: STUDIO_FOLDER } as Partial<ServeOptions>, // passed on to the door, which knows it
    {
      path: temporaryFile('recollect.db'),
      settings: { injectDeadlineMs: 30_000, ...settings },
      ...parts,
    },
  )
  return {
    ...started,
    /** A page of somebody who has signed in with a key. What fails in it fails the test. */
    visit: async (
      path: string,
      { key = started.admin, ...look }: { key?: string } & BrowserContextOptions = {},
    ): Promise<Page> => {
      const context = await (await openBrowser()).newContext({
        locale: 'en-GB',
        viewport: { width: 1360, height: 900 },
        ...look,
      })
      onTestFinished(() => context.close())
      const page = await context.newPage()
      // Before the test itself is given up, so that it says what was waited for.
      page.setDefaultTimeout(PATIENCE_MS)
      const faults: string[] = []
      page.on('pageerror', (error) => faults.push(String(error)))
      page.on('dialog', (dialog) => {
        faults.push(`A memory opened a dialog: ${dialog.message()}`)
        void dialog.dismiss()
      })
      onTestFinished(() => expect(faults).toEqual([]))
      const { status } = await context.request
        .post(`${started.url}/api/session`, {
          data: { key },
          headers: { origin: started.url },
        })
        .then((answer) => ({ status: answer.status() }))
      expect(status).toBe(200)
      await page.goto(`${started.url}/studio/${path}`)
      await page.waitForSelector('h1')
      return page
    },
  }
}

/** What axe finds against WCAG 2.2 AA. */
export async function violationsIn(page: Page): Promise<readonly string[]> {
  const source = axe.source
  // Through the debugger: the page's own policy allows no script that is not its own.
  await page.evaluate(source)
  const found = await page.evaluate(async () => {
    const { axe: inPage } = globalThis as unknown as { axe: typeof axe } // just put there
    const { violations } = await inPage.run({
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
    })
    return violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
    )
  })
  return found
}
