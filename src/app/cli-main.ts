#!/usr/bin/env node
/** The `recollect` executable: builds the CLI host from this process and runs one command. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runCommandLine } from '../api/cli/command-runner.ts'
import type { Host, McpStdioOptions } from '../api/cli/host.ts'
import { askSecret, confirm, createInput, createOutput } from '../api/cli/terminal.ts'
import { createCliEnvironment } from './cli-environment.ts'
import { isColorEnabled, processEnvironment, readConfig } from './config/config.ts'
import { readPackageVersion } from './package-version.ts'
import { systemClock } from './system-clock.ts'

const FORCED_EXIT_CODE = 130

/** The first signal asks the command to stop; the second exits at once. */
function stopOnSignals(): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stop.signal.aborted) process.exit(FORCED_EXIT_CODE)
      stop.abort()
    })
  }
  return stop.signal
}

/** By absolute path, because the name of the package may be somebody else's in a registry. */
function findProgram(file: string): readonly [string, ...string[]] | null {
  return file.split(sep).includes('_npx') ? null : [process.execPath, file]
}

function createHost(): Host {
  const environment = processEnvironment()
  const terminal = { input: process.stdin, output: process.stderr }
  const stop = stopOnSignals()
  const stdin = createInput(process.stdin, stop)
  const stderr = createOutput(process.stderr)
  const now = () => systemClock.now()
  const canAsk = stdin.isTerminal && stderr.isTerminal
  const system = { platform: process.platform, home: homedir() }
  return {
    version: readPackageVersion(),
    stdin,
    stdout: createOutput(process.stdout),
    stderr,
    hasColor: isColorEnabled(environment),
    stopSignal: stop,
    now,
    confirm: (question) => confirm(terminal, question),
    askSecret: (question) => askSecret(terminal, question),
    configure: (flags) =>
      createCliEnvironment({
        config: readConfig(flags, environment, system),
        environment,
        now,
        askPassphrase: canAsk ? () => askSecret(terminal, 'Passphrase: ') : null,
        serveMcp,
      }),
    makeTemporaryFolder: () => mkdtempSync(join(tmpdir(), 'recollect-demo-')),
    runTool,
    program: findProgram(fileURLToPath(import.meta.url)),
    homes: system,
  }
}

async function serveMcp(options: McpStdioOptions): Promise<void> {
  const { serveMcpStdio: serveOverStreams } = await import('./mcp-mount.ts')
  return serveOverStreams(options, { stdin: process.stdin, stdout: process.stdout })
}

const TOOLS = { eval: 'evals', bench: 'bench' } as const

/**
 * A clone builds the tools on demand; the package includes neither their sources nor the build
 * script.
 */
async function runTool(name: keyof typeof TOOLS, argv: readonly string[]): Promise<number | null> {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const builder = join(root, 'scripts', 'ready.mjs')
  if (!existsSync(builder) || !existsSync(join(root, TOOLS[name]))) return null
  const options = { cwd: root, stdio: 'inherit' } as const
  const built = spawnSync(process.execPath, [builder, '--tools'], options)
  if (built.status !== 0) return built.status ?? 1
  const tool = join(root, '.build', TOOLS[name], 'main.js')
  return spawnSync(process.execPath, [tool, ...argv], options).status ?? 1
}

// New files hold memories or keys, so only this user may read them.
process.umask(0o077)
process.exitCode = await runCommandLine(process.argv.slice(2), createHost())
