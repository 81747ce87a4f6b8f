/**
 * `npm run bench -- studio`: how soon the Studio can be used, and how it scrolls.
 *
 * A server in a process of its own, on loopback, with an owner of 100,000 memories in SQLite; Chromium is in another one, and
 * both share the machine. Each visit is a browser profile of its own with an empty cache. Times are measured since the
 * navigation began, by the page's own clock: `signed in` until the first memories stand in the list and have been drawn,
 * `signing in` until the field for the key has the focus. `again` is a second visit, with a warm browser cache.
 * `frame` is the time between two frames while the list is scrolled by a screen in each.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { type BenchOptions, type BenchReport, below, machine, round } from './harness.ts'
import { type BenchServer, startServer } from './http/server.ts'

const MEMORIES = 100_000
const VISITS = 12
/** The first visits start the browser's own parts. */
const WARM_UP = 2
const INTERACTIVE_MS_MAX = 1_000
/** Seldom enough not to be in the way. */
const LOOK_MS = 50
const FRAMES = 240
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** In the page, before anything of it: notes when what is waited for has been drawn. */
const WATCH = (wanted: string) => `
  new MutationObserver((_, observer) => {
    if (document.querySelector(${JSON.stringify(wanted)}) === null) return
    observer.disconnect()
    requestAnimationFrame(() => setTimeout(() => { globalThis.drawnAt = performance.now() }))
  }).observe(document, { childList: true, subtree: true, attributes: true })`
const FIRST_ROW = '[data-row] button'
const KEY_FIELD = 'form input:focus'

export async function benchStudio({ scale, progress }: BenchOptions): Promise<BenchReport> {
  const executablePath = CHROMIUM.find((path) => existsSync(path))
  const studioFolder = resolve('dist-studio')
  if (executablePath === undefined) throw new Error('There is no Chromium to measure in.')
  const folder = mkdtempSync(join(tmpdir(), 'recollect-bench-'))
  const memories = Math.ceil(MEMORIES * scale)
  progress(`${memories} memories`)
  const server = await startServer({ path: join(folder, 'bench.db'), memories, studioFolder })
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  try {
    const signedIn: number[] = []
    const again: number[] = []
    const signingIn: number[] = []
    for (let visit = 0; visit < WARM_UP + VISITS; visit++) {
      progress(`visit ${visit + 1}`)
      const context = await signIn(browser, server)
      signedIn.push(await drawnAt(context, `${server.url}/studio/memories`, FIRST_ROW))
      again.push(await drawnAt(context, `${server.url}/studio/memories`, FIRST_ROW))
      await context.close()
      const stranger = await browser.newContext()
      signingIn.push(await drawnAt(stranger, server.url, KEY_FIELD))
      await stranger.close()
    }
    progress('scrolling')
    const frames = await scrolled(await signIn(browser, server), server)
    const row = (name: string, all: readonly number[]) => ({ view: name, ...timesOf(all) })
    const measured = [signedIn, again, signingIn].map((all) => all.slice(WARM_UP))
    const [first = [], second = [], queries = []] = measured
    return {
      bench: 'studio',
      machine: machine(),
      rows: [
        row('signed in', first),
        row('again', second),
        row('signing in', queries),
        row('frame', frames),
      ],
      bars: [
        below('first memories, empty cache, p50 ms', timesOf(first).p50, INTERACTIVE_MS_MAX),
        below('signing in, empty cache, p50 ms', timesOf(queries).p50, INTERACTIVE_MS_MAX),
      ],
      notes: [`${memories} memories, ${VISITS} visits, Chromium ${browser.version()}.`],
    }
  } finally {
    await browser.close()
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function signIn(browser: Browser, { url, key }: BenchServer): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1360, height: 900 } })
  const data = { key }
  const answer = await context.request.post(`${url}/api/session`, {
    ...{ data, headers: { origin: url } },
  })
  if (!answer.ok()) throw new Error(`Signing in was answered with ${answer.status()}.`)
  return context
}

async function drawnAt(context: BrowserContext, url: string, wanted: string): Promise<number> {
  const page = await context.newPage()
  await page.addInitScript(WATCH(wanted))
  await page.goto(url, { waitUntil: 'commit' })
  for (;;) {
    // Through the debugger: the page's content security policy blocks scripts.
    const ms = await page.evaluate('globalThis.drawnAt ?? null')
    if (typeof ms === 'number') {
      await page.close()
      return ms
    }
    await setTimeout(LOOK_MS)
  }
}

/** How long each frame took while the list went by, page after page of it. */
async function scrolled(context: BrowserContext, { url }: BenchServer): Promise<readonly number[]> {
  const page: Page = await context.newPage()
  await page.goto(`${url}/studio/memories`)
  await page.waitForSelector(FIRST_ROW)
  const frames = await page.evaluate(`new Promise((resolve) => {
    const frame = document.querySelector('[role=rowgroup]').parentElement
    const times = []
    let before = performance.now()
    const step = (now) => {
      times.push(now - before)
      before = now
      frame.scrollTop += frame.clientHeight
      if (times.length > ${FRAMES}) resolve(times.slice(1))
      else requestAnimationFrame(step)
    }
    requestAnimationFrame(step)
  })`)
  await context.close()
  return frames as readonly number[] // recorded by the script above
}

function timesOf(all: readonly number[]) {
  const sorted = [...all].sort((a, b) => a - b)
  const at = (share: number) => round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0)
  return { least: at(0), p50: at(0.5), p95: at(0.95), max: at(1) }
}
