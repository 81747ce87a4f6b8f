/** Two searches, of which the first may fail. */
import { describe, expect, it } from 'vitest'
import {
  createFailoverFileSearch,
  type FailoverDependencies,
} from '../../src/files/failover-file-search.ts'
import type {
  FileSearch,
  FileSearchResult,
  FileStatus,
  SyncReport,
} from '../../src/files/file-search.ts'
import { AppError } from '../../src/lib/errors.ts'
import { FakeClock } from '../fakes/clock.ts'
import { ADA } from './index-support.ts'

const REPORT: SyncReport = {
  ...{ added: 1, changed: 0, moved: 0, removed: 0, unchanged: 0, chunks: 1 },
  ...{ problems: [], durationMs: 1 },
}

/** A search that answers with its name, unless it is told to fail. */
class Scripted implements FileSearch {
  failure: AppError | null = null
  readonly calls: string[] = []
  readonly #name: string
  #wait: Promise<void> = Promise.resolve()

  constructor(name: string) {
    this.#name = name
  }
  /** Calls wait until the returned function is called. */
  hold(): () => void {
    let release = () => {}
    this.#wait = new Promise((resolve) => {
      release = resolve
    })
    return release
  }
  async #do<Result>(call: string, result: Result): Promise<Result> {
    this.calls.push(call)
    await this.#wait
    if (this.failure !== null) throw this.failure
    return result
  }
  search(): Promise<FileSearchResult> {
    return this.#do('search', {
      ...{ hits: [], backend: this.#name, provider: null, model: null, fallbackReason: null },
      mode: 'keyword',
    })
  }
  readFile(_: unknown, path: string) {
    return this.#do('readFile', { path, text: this.#name, reason: null })
  }
  status() {
    const status = { backend: this.#name, roots: [], facts: {} }
    return this.#do('status', status as unknown as FileStatus) // as far as it is looked at
  }
  sync() {
    return this.#do('sync', { ...REPORT, chunks: this.#name === 'qmd' ? 1 : 2 })
  }
  probeEmbeddingAvailability() {
    return this.#do('probe', { ok: this.#name === 'qmd', error: null })
  }
  probeVectorAvailability() {
    return this.#do('probe', { ok: this.#name === 'qmd', error: null })
  }
  async close() {
    await this.#do('close', undefined)
  }
}

function opened(options: Partial<FailoverDependencies> = {}) {
  const clock = new FakeClock()
  const primary = new Scripted('qmd')
  const fallback = new Scripted('builtin')
  const search = createFailoverFileSearch({
    primary,
    fallback,
    clock,
    primaryName: 'qmd',
    ...options,
  })
  const ask = () => search.search(ADA, { text: 'x' })
  const facts = async () => (await search.status(ADA)).facts
  const tries = () => primary.calls.filter((call) => call === 'search').length
  return { clock, primary, fallback, search, ask, facts, tries }
}

const broken = () => new AppError('unavailable', 'qmd broke.')

describe('failover', () => {
  it('[FQ10] uses the first one while it works', async () => {
    const { ask, fallback, facts } = opened()
    expect(await ask()).toMatchObject({ backend: 'qmd', fallbackReason: null })
    expect(fallback.calls).toEqual([])
    expect(await facts()).toEqual({ primary: 'qmd', primaryIsWell: true })
  })

  it('[FQ10] answers the same call by the other one, and says why', async () => {
    const { ask, primary, facts, search } = opened()
    primary.failure = broken()
    expect(await ask()).toMatchObject({
      backend: 'builtin',
      fallbackReason: 'qmd is bypassed: qmd broke.',
    })
    expect((await search.status(ADA)).backend).toBe('builtin')
    expect(await facts()).toMatchObject({
      primaryIsWell: false,
      bypassReason: 'qmd broke.',
      bypassedUntil: '2023-11-14T22:13:50.000Z',
      bypassedFailures: 1,
    })
  })

  it('[FQ10] uses it for other owners while it is busy with one', async () => {
    const { ask, primary, facts, tries } = opened()
    primary.failure = new AppError('busy', 'qmd is still making its index.')
    expect(await ask()).toMatchObject({
      backend: 'builtin',
      fallbackReason: 'qmd is bypassed: qmd is still making its index.',
    })
    expect(await facts()).toEqual({ primary: 'qmd', primaryIsWell: true })
    primary.failure = null
    expect(await ask()).toMatchObject({ backend: 'qmd' })
    expect(tries()).toBe(2)
  })

  it('[FQ11] tries again after 30 seconds, then after twice as long each time, up to 10 minutes', async () => {
    const { ask, primary, clock, tries } = opened()
    primary.failure = broken()
    await ask()
    expect(tries()).toBe(1)
    let expected = 1
    for (const seconds of [30, 60, 120, 240, 480, 600, 600]) {
      clock.advance(seconds * 1_000 - 1)
      await ask()
      expect(tries()).toBe(expected)
      clock.advance(1)
      await ask()
      expect(tries()).toBe(++expected)
    }
    clock.advance(600_000)
    primary.failure = null
    expect(await ask()).toMatchObject({ backend: 'qmd', fallbackReason: null })
    // Once well, it begins with the short pause again.
    primary.failure = broken()
    await ask()
    clock.advance(30_000)
    primary.failure = null
    expect(await ask()).toMatchObject({ backend: 'qmd' })
  })

  it('[FQ11] lets one call find out, and counts calls that fail together as one failure', async () => {
    const { ask, primary, clock, tries, facts } = opened()
    const release = primary.hold()
    primary.failure = broken()
    const together = [ask(), ask(), ask()]
    release()
    for (const answer of await Promise.all(together)) expect(answer.backend).toBe('builtin')
    expect(await facts()).toMatchObject({ bypassedFailures: 1 })
    clock.advance(30_000)
    const again = primary.hold()
    const first = ask()
    expect(await ask()).toMatchObject({ backend: 'builtin' })
    expect(tries()).toBe(4)
    primary.failure = null
    again()
    expect(await first).toMatchObject({ backend: 'qmd' })
  })

  it('[FQ10] blames no search for a wrong question or one that was taken back', async () => {
    const { ask, primary, fallback, facts } = opened()
    for (const code of ['invalid_input', 'cancelled'] as const) {
      primary.failure = new AppError(code, 'No.')
      await expect(ask()).rejects.toMatchObject({ code })
    }
    expect(fallback.calls).toEqual([])
    expect(await facts().catch(() => null)).toBe(null) // it still fails, with the caller to blame
    primary.failure = null
    expect(await facts()).toMatchObject({ primaryIsWell: true })
  })

  it('[FQ12] returns the error when it must not fail over', async () => {
    const { ask, primary, fallback, tries } = opened({ failClosed: true })
    primary.failure = broken()
    await expect(ask()).rejects.toThrow('qmd broke.')
    await expect(ask()).rejects.toThrow('qmd broke.')
    expect(tries()).toBe(2)
    expect(fallback.calls).toEqual([])
    primary.failure = null
    expect(await ask()).toMatchObject({ backend: 'qmd' })
  })

  it('[FQ10] returns the error of the second one when both fail', async () => {
    const { ask, primary, fallback } = opened()
    primary.failure = broken()
    fallback.failure = new AppError('damaged', 'The index is damaged.')
    await expect(ask()).rejects.toMatchObject({ code: 'damaged' })
  })

  it('[FQ10] reads, reports and probes with the one that answers, and syncs and closes both', async () => {
    const { search, ask, primary, fallback } = opened()
    const textOf = async () => (await search.readFile(ADA, 'a')).text
    expect(await textOf()).toBe('qmd')
    expect((await search.probeVectorAvailability()).ok).toBe(true)
    expect((await search.sync(ADA)).chunks).toBe(1)
    primary.failure = broken()
    expect(await textOf()).toBe('builtin')
    await ask()
    expect((await search.probeEmbeddingAvailability()).ok).toBe(false)
    const report = await search.sync(ADA)
    expect(report).toMatchObject({
      chunks: 2,
      problems: [{ reason: 'failed', message: 'qmd: qmd broke.' }],
    })
    expect(fallback.calls.filter((call) => call === 'sync')).toHaveLength(2)
    await expect(search.close()).rejects.toThrow('qmd broke.')
    expect(fallback.calls).toContain('close')
  })
})
