/** The Studio in a real browser, on a real server with a database of its own. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import axe from 'axe-core'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import type { ServeOptions } from '../../src/api/cli/host.ts'
import type { EngineOptions } from '../../src/app/composition.ts'
import { startGateway } from '../api/gateway/support/gateway-host.ts'
import { start } from '../api/http/http-support.ts'
import { findChromium } from '../support/chromium.ts'
import { temporaryFile } from '../support/temporary-folder.ts'

export const STUDIO_FOLDER = resolve(process.env.TEST_STUDIO_FOLDER ?? 'dist-studio')
const CHROMIUM = findChromium()

export const notBuilt = existsSync(STUDIO_FOLDER) ? null : 'the Studio is not built'
/** Why the Studio can't be tried here; null when it can. */
export const missing =
  notBuilt ?? (CHROMIUM === null ? 'there is no Chromium, nor could it be installed' : null)

/** A busy machine takes its time; what is asserted is what comes in the end. */
const PATIENCE_MS = 40_000
export const BROWSER_TEST_MS = 240_000

/** What is read again until it is as expected. */
export function eventually<Value>(read: () => Promise<Value>) {
  return expect.poll(read, { timeout: PATIENCE_MS })
}

let browser: Promise<Browser> | undefined

/** One for all files of tests that a process runs; it ends with the process. */
function openBrowser(): Promise<Browser> {
  browser ??= chromium.launch({ executablePath: CHROMIUM ?? '', args: ['--no-sandbox'] })
  return browser
}

export async function openStudio(
  settings: EngineOptions['settings'] = {},
  {
    port = 0,
    ...parts
  }: Pick<EngineOptions, 'embedding' | 'languageModel' | 'path' | 'files' | 'rerank'> & {
    /** Of a server that was there before. */
    readonly port?: number
  } = {},
) {
  const started = await start(
    { studioFolder: STUDIO_FOLDER, port } as Partial<ServeOptions>, // passed on to the door, which knows it
    {
      path: temporaryFile('recollect.db'),
      settings: { 'gateway.contextTimeoutMs': 30_000, ...settings },
      ...parts,
    },
  )
  return { ...started, visit: createVisit(started) }
}

/** The Studio with the gateway beside it, which reaches no provider but the demo. */
export async function openGatewayStudio() {
  const { key: admin, ...host } = await startGateway({ upstreamUrl: 'http://127.0.0.1:1' })
  const started = { ...host, admin }
  return { ...started, visit: createVisit(started) }
}

/** A page of somebody who has signed in with a key. A failure in the page, or a request to another server, fails the test. */
function createVisit(started: { readonly url: string; readonly admin: string }) {
  return async (
    path: string,
    { key = started.admin, ...look }: { key?: string } & BrowserContextOptions = {},
  ): Promise<Page> => {
    const context = await (await openBrowser()).newContext({
      locale: 'en-GB',
      viewport: { width: 1360, height: 900 },
      // Nothing to wait for that only moves.
      reducedMotion: 'reduce',
      ...look,
    })
    onTestFinished(() => context.close())
    const page = await context.newPage()
    // Before the test itself is given up, so that it says what was waited for.
    page.setDefaultTimeout(PATIENCE_MS)
    const faults: string[] = []
    page.on('pageerror', (error) => faults.push(String(error)))
    // The policy would stop it; it must not even be tried. What a page has made itself has its own origin in it.
    page.on('request', (request) => {
      const isOwn = new URL(request.url()).origin === started.url
      if (!isOwn) faults.push(`The page asks another server: ${request.url()}`)
    })
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
  }
}

export const REFUSED = 'The server is out of sorts.'

/** From now on the server refuses what is asked at these addresses, in a way that nobody tries again by itself. */
export async function failing(page: Page, address: string): Promise<void> {
  const error = { code: 'invalid_input', message: REFUSED, retryable: false }
  await page.route(address, (route) => route.fulfill({ status: 400, json: { error } }))
}

/** What axe finds against WCAG 2.2 AA. */
export async function violationsIn(page: Page): Promise<readonly string[]> {
  // Through the debugger: the page's own policy allows no script that is not its own.
  if (await page.evaluate(() => !('axe' in globalThis))) await page.evaluate(axe.source)
  const found = await page.evaluate(async () => {
    const { axe: inPage } = globalThis as unknown as { axe: typeof axe } // just put there
    const { violations } = await inPage.run({
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
      // What is not asked for takes most of the time.
      resultTypes: ['violations'],
      preload: false,
      iframes: false,
    })
    return violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
    )
  })
  return found
}
