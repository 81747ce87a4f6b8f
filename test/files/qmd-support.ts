/** Search by `qmd` over real files, with a stand-in for the program that can be told to misbehave. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Files } from '../../src/files/files.ts'
import {
  openQmdFileSearch,
  type QmdDefaults,
  type QmdFileSearch,
  type QmdOptions,
} from '../../src/files/qmd/qmd-file-search.ts'
import { type RootInput, toDisplayPath } from '../../src/files/roots.ts'
import { FakeClock } from '../fakes/clock.ts'
import { FakeTimers } from '../fakes/timers.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { treeOf } from './file-support.ts'
import { ADA, openFiles } from './index-support.ts'

export const STAND_IN = resolve('test/fakes/qmd.mjs')

/** What the stand-in does; see `test/fakes/qmd.mjs`. */
export type Script = {
  readonly list?: 'json'
  readonly noise?: boolean
  readonly wordless?: boolean
  readonly says?: string
  readonly huge?: number
  readonly score?: number
  readonly crash?: readonly string[]
  readonly unknown?: readonly string[]
  readonly slow?: readonly string[]
  readonly pids?: string
}

export type Noted = {
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

export type OpenedQmd = {
  readonly search: QmdFileSearch
  readonly files: Files
  readonly clock: FakeClock
  readonly timers: FakeTimers
  readonly state: string
  script(script: Script): void
  /** Every call so far, oldest first. */
  calls(): readonly Noted[]
  /** The words of each, without the index that all of them name. */
  commands(): readonly string[]
  add(input: RootInput): Promise<void>
}

export async function openQmd(
  options: Partial<QmdOptions> & { readonly defaults?: Partial<QmdDefaults> } = {},
): Promise<OpenedQmd> {
  const { files } = await openFiles()
  const clock = new FakeClock()
  const timers = new FakeTimers(clock)
  const state = options.stateFolder ?? temporaryFolder()
  const scriptFile = join(temporaryFolder(), 'script.json')
  const search = openQmdFileSearch(
    {
      ...{ clock, toExternalPath: toDisplayPath, tree: treeOf() },
      listRoots: (owner) => files.roots.list(owner),
      loadDefaults: async () => ({ maxResults: 6, minScore: 0.35, ...options.defaults }),
      readFile: (owner, path, range) => files.readFile(owner, path, range),
      scheduleEvery: (ms, work) => timers.every(ms, work),
    },
    {
      stateFolder: state,
      command: [process.execPath, STAND_IN],
      environment: { ...process.env, QMD_SCRIPT: scriptFile, OPENAI_API_KEY: 'sk-secret' },
      ...options,
      // The machine may be slow, and most tests are not about time.
      times: { searchMs: 20_000, waitMs: 20_000, ...options.times },
    },
  )
  onTestFinished(() => search.close())
  const calls = () => callsIn(state)
  return {
    ...{ search, files, clock, timers, state, calls },
    script: (script) => writeFileSync(scriptFile, JSON.stringify(script)),
    commands: () => calls().map(({ args }) => args.slice(2).join(' ')),
    add: async (input) => {
      await files.roots.add(ADA, input)
    },
  }
}

function callsIn(state: string): readonly Noted[] {
  return readdirSync(state).flatMap((home) => {
    const path = join(state, home, 'cache', 'qmd', 'calls.jsonl')
    if (!existsSync(path)) return []
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
    return lines.map((line) => JSON.parse(line) as Noted) // as the stand-in writes them
  })
}

export const NOTES = {
  'MEMORY.md': '# Ada\n\nAda prefers green tea to coffee.\n',
  'memory/2026-11-15.md':
    '# Sunday\n\nThe bicycle got a new chain.\n\n## Evening\n\nWe cooked ratatouille with aubergines.\n',
}
