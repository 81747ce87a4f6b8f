#!/usr/bin/env node
/** The program `recollect`: builds the host of the command line from this process, and runs one command. */
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { systemClock } from '../adapters/system/clock.ts'
import type { Host } from '../doors/cli/host.ts'
import { run } from '../doors/cli/run.ts'
import { askSecret, confirm, createInput, createOutput } from '../doors/cli/terminal.ts'
import { processEnvironment, readConfig, wantsColor } from './config.ts'
import { createDatabase } from './database.ts'

const EXIT_AT_ONCE = 130

/** The first signal asks the command to stop; the second does not wait for it. */
function stopOnSignals(): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stop.signal.aborted) process.exit(EXIT_AT_ONCE)
      stop.abort()
    })
  }
  return stop.signal
}

function readVersion(): string {
  const file = new URL('../../package.json', import.meta.url)
  const { version }: { version: unknown } = JSON.parse(readFileSync(file, 'utf8'))
  return String(version)
}

function createHost(): Host {
  const environment = processEnvironment()
  const terminal = { input: process.stdin, output: process.stderr }
  const stop = stopOnSignals()
  const stdin = createInput(process.stdin, stop)
  const stderr = createOutput(process.stderr)
  const now = () => systemClock.now()
  const canAsk = stdin.isTerminal && stderr.isTerminal
  return {
    version: readVersion(),
    stdin,
    stdout: createOutput(process.stdout),
    stderr,
    hasColor: wantsColor(environment),
    stop,
    now,
    confirm: (question) => confirm(terminal, question),
    askSecret: (question) => askSecret(terminal, question),
    configure: (flags) => {
      const system = { platform: process.platform, home: homedir() }
      const config = readConfig(flags, environment, system)
      return {
        scope: config.scope,
        settings: config.settings,
        listen: config.listen,
        keyOrigin: config.key?.origin ?? null,
        database: createDatabase({
          config,
          now,
          askPassphrase: canAsk ? () => askSecret(terminal, 'Passphrase: ') : null,
        }),
        serve: async (options) => (await import('./serve.ts')).serve(options),
      }
    },
  }
}

// Files we make hold memories or keys: they are for this user alone.
process.umask(0o077)
process.exitCode = await run(process.argv.slice(2), createHost())
