/** The command line in this process: real database, real files, and streams that only remember what was written. */
import { join } from 'node:path'
import { runCommandLine } from '../../../src/api/cli/command-runner.ts'
import {
  type CliEnvironment,
  type Host,
  type Output,
  OutputClosed,
  type RunningServer,
  type ServeOptions,
} from '../../../src/api/cli/host.ts'
import { createCliEnvironment } from '../../../src/app/cli-environment.ts'
import { type Environment, readConfig } from '../../../src/app/config/config.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

export type Surroundings = {
  /** What is piped in; without it, standard input is a terminal. */
  readonly stdin?: string | Uint8Array
  readonly environment?: Environment
  /** Standard output and error are terminals of this width. */
  readonly columns?: number
  readonly hasColor?: boolean
  /** Answers to questions, in order. */
  readonly answers?: readonly (boolean | string)[]
  readonly stop?: AbortSignal
  /** The reader of standard output goes away after this many writes. */
  readonly writesMax?: number
  /** Reads standard output as it is written. */
  readonly onOutput?: (text: string) => void
  /** Stands in for what starts the server, which is given to it. */
  readonly serve?: (options: ServeOptions, start: CliEnvironment['serve']) => Promise<RunningServer>
  readonly serveMcp?: CliEnvironment['serveMcp']
  readonly runTool?: Host['runTool']
  /** The folder in which programs keep their configuration. */
  readonly home?: string
}

export type Ran = {
  readonly exit: number
  readonly out: string
  readonly err: string
  readonly asked: readonly string[]
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was printed
  readonly json: any
}

export type Cli = ((argv: readonly string[], around?: Surroundings) => Promise<Ran>) & {
  readonly folder: string
}

/** `always` stands before every command line: the address and the key of a server, for instance. */
export function createCli(
  folder = join(temporaryFolder(), 'data'),
  always: readonly string[] = [],
): Cli {
  const cli = async (argv: readonly string[], around: Surroundings = {}): Promise<Ran> => {
    const out = record(around, around)
    const err = record(around)
    const requests: string[] = []
    const answers = [...(around.answers ?? [])]
    const answer = (question: string) => {
      requests.push(question)
      return answers.shift()
    }
    const host: Host = {
      version: '1.2.3',
      stdin: {
        isTerminal: around.stdin === undefined,
        async *bytes() {
          yield Buffer.from(around.stdin ?? '')
        },
      },
      stdout: out.output,
      stderr: err.output,
      hasColor: around.hasColor ?? false,
      stopSignal: around.stop ?? new AbortController().signal,
      now: () => Date.now(),
      confirm: async (question) => answer(question) === true,
      askSecret: async (question) => String(answer(question)),
      configure: (flags) => {
        // By words alone unless a test says otherwise: most have nothing to do with models.
        const environment = {
          RECOLLECT_EMBEDDING_SOURCE: 'none',
          RECOLLECT_LOG_LEVEL: 'silent',
          RECOLLECT_DATA: folder,
          ...around.environment,
        }
        const config = readConfig(flags, environment, SYSTEM)
        const setup = createCliEnvironment({
          config,
          environment,
          now: Date.now,
          askPassphrase: null,
          serveMcp: around.serveMcp ?? (() => Promise.reject(new Error('Nobody speaks MCP here.'))),
        })
        const { serve } = around
        return serve === undefined
          ? setup
          : { ...setup, serve: (options) => serve(options, setup.serve) }
      },
      makeTemporaryFolder: temporaryFolder,
      program: ['/usr/bin/node', '/opt/recollect/cli-main.js'],
      runTool: around.runTool ?? (async () => null),
      homes: { platform: 'linux', home: around.home ?? '/nowhere' },
    }
    const exit = await runCommandLine([...always, ...argv], host)
    return {
      exit,
      out: out.text(),
      err: err.text(),
      asked: requests,
      get json() {
        return JSON.parse(out.text() || err.text())
      },
    }
  }
  return Object.assign(cli, { folder })
}

const SYSTEM = { platform: 'linux', home: '/nowhere' } as const

function record(
  { columns }: Surroundings,
  {
    writesMax = Number.POSITIVE_INFINITY,
    onOutput,
  }: Pick<Surroundings, 'writesMax' | 'onOutput'> = {},
) {
  let written = ''
  let writes = 0
  const output: Output = {
    isTerminal: columns !== undefined,
    columns: columns ?? 80,
    write: async (text) => {
      if (++writes > writesMax) throw new OutputClosed('gone')
      written += text
      onOutput?.(text)
    },
  }
  return { output, text: () => written }
}

/** Adds a memory and returns it. */
export async function added(cli: Cli, ...argv: readonly string[]) {
  const ran = await cli(['add', '--json', ...argv])
  if (ran.exit !== 0) throw new Error(ran.err)
  return ran.json.memory
}
