/**
 * Runs the external program `qmd` with its own home, a minimal environment and no shell. It is killed with all its
 * children when it exceeds the time or output limit.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createAbortedError, throwIfAborted } from '../../lib/abort.ts'
import { AppError } from '../../lib/errors.ts'

export type QmdProgram = {
  /** The executable and its leading arguments. */
  readonly command: readonly string[]
  /** The environment variables to filter; only common ones are passed on. */
  readonly environment: Readonly<Record<string, string | undefined>>
}

export type QmdCall = {
  readonly args: readonly string[]
  /** The home for its configuration and index. */
  readonly home: string
  /** The working directory; its home where that is missing. */
  readonly folder: string
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

export type ProcessResult = {
  readonly exitCode: number | null
  readonly stdout: string
  /** The tail of standard error. */
  readonly stderr: string
}

export const OUTPUT_CHARACTERS_MAX = 200_000
const COMPLAINT_CHARACTERS_MAX = 300

/** Keys of other services are not passed on. Variables of `qmd` are, except those that change its home. */
const PASSED_ON =
  /^(?:PATH|PATHEXT|HOME|USER|USERPROFILE|LANG|LC_\w+|TZ|TMPDIR|TEMP|TMP|SYSTEMROOT|COMSPEC|APPDATA|LOCALAPPDATA|LD_LIBRARY_PATH|DYLD_LIBRARY_PATH|CUDA_\w+|(?:HTTPS?|NO)_PROXY|QMD_(?!CONFIG_DIR$)\w+)$/i
/** A separate process group, so that children are killed too. */
const HAS_GROUPS = process.platform !== 'win32'

export function runProcess(program: QmdProgram, call: QmdCall): Promise<ProcessResult> {
  const { timeoutMs: msMax, signal } = call
  return new Promise((resolve, reject) => {
    throwIfAborted(signal)
    const child = start(program, call)
    let output = ''
    let complaint = ''

    const timer = setTimeout(() => stop(createLimitError(`took longer than ${msMax} ms`)), msMax)
    const onAbort = () => stop(createAbortedError())
    signal?.addEventListener('abort', onAbort, { once: true })

    function settle(): void {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    }
    function stop(error: AppError): void {
      settle()
      reject(error)
      kill(child)
    }

    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text
      if (output.length <= OUTPUT_CHARACTERS_MAX) return
      output = ''
      stop(createLimitError(`wrote more than ${OUTPUT_CHARACTERS_MAX} characters`))
    })
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(-COMPLAINT_CHARACTERS_MAX)
    })
    child.once('error', (error) => {
      settle()
      reject(createStartError(program, error))
    })
    child.once('close', (code) => {
      settle()
      resolve({ exitCode: code, stdout: output, stderr: complaint.trim() })
    })
  })
}

function start(
  { command, environment }: QmdProgram,
  { args, home, folder }: QmdCall,
): ChildProcess {
  const [name = 'qmd', ...first] = command
  const cwd = existsSync(folder) ? folder : home
  return spawn(name, [...first, ...args], {
    cwd,
    env: environmentOf(environment, home, cwd),
    detached: HAS_GROUPS,
    windowsHide: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

function environmentOf(
  given: QmdProgram['environment'],
  home: string,
  cwd: string,
): Record<string, string | undefined> {
  const passed = Object.entries(given).filter(([name]) => PASSED_ON.test(name))
  return {
    ...Object.fromEntries(passed),
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_CACHE_HOME: join(home, 'cache'),
    XDG_DATA_HOME: join(home, 'data'),
    // `qmd` prefers `PWD` over the working directory.
    PWD: cwd,
    NO_COLOR: '1',
    TERM: 'dumb',
  }
}

function kill(child: ChildProcess): void {
  // Surviving children must not keep these pipes, and with them this process, open.
  child.stdout?.destroy()
  child.stderr?.destroy()
  try {
    if (HAS_GROUPS && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    else child.kill('SIGKILL')
  } catch {
    /* it has ended by itself */
  }
}

function createLimitError(what: string): AppError {
  return new AppError('unavailable', `qmd ${what} and was ended.`)
}

function createStartError({ command }: QmdProgram, error: Error): AppError {
  const name = command[0] ?? 'qmd'
  if ('code' in error && error.code === 'ENOENT') {
    return new AppError('missing_part', `The program ${name} was not found. Install @tobilu/qmd.`, {
      program: name,
    })
  }
  return new AppError('unavailable', `The program ${name} could not be started.`, {}, error)
}
