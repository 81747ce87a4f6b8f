/**
 * Database keys in the keychain of the operating system, by the command line tool that each platform has: `secret-tool`
 * (Secret Service: GNOME Keyring, KWallet), `security` (macOS) and PowerShell (Windows credential locker). Secrets are
 * passed over standard input, never as arguments, which other users of the machine can read.
 */
import { spawn } from 'node:child_process'
import { AppError } from '../../../lib/errors.ts'
import { getSystemErrorCode } from '../../../lib/system-error.ts'

export interface Keychain {
  /** The program that is called. */
  readonly program: string
  /** Null when there is no such secret. */
  read(account: string): Promise<string | null>
  /** Replaces the secret. Returns once it can be read back. */
  write(account: string, secret: string): Promise<void>
  remove(account: string): Promise<void>
}

export type KeychainOptions = {
  readonly platform: string
  readonly environment: Readonly<Record<string, string | undefined>>
}

const SERVICE = 'recollect'
/** Unlocking a keychain may ask the user. */
const TIMEOUT_MS = 120_000
const OUTPUT_CHARACTERS_MAX = 10_000

type Call = {
  readonly args: readonly string[]
  readonly input?: string
  /** Exit codes that mean "not found". */
  readonly absent?: readonly number[]
}

type Dialect = {
  readonly program: string
  readonly read: (account: string) => Call
  readonly write: (account: string, secret: string) => Call
  readonly remove: (account: string) => Call
}

const SECRET_SERVICE: Dialect = {
  program: 'secret-tool',
  read: (account) => ({ args: ['lookup', ...attributes(account)], absent: [1] }),
  write: (account, secret) => ({
    args: ['store', `--label=Recollect (${account})`, ...attributes(account)],
    input: secret,
  }),
  remove: (account) => ({ args: ['clear', ...attributes(account)], absent: [1] }),
}

function attributes(account: string): readonly string[] {
  return ['service', SERVICE, 'account', account]
}

/** "The specified item could not be found in the keychain." */
const ITEM_NOT_FOUND = 44

const MACOS: Dialect = {
  program: 'security',
  read: (account) => ({
    args: ['find-generic-password', '-s', SERVICE, '-a', account, '-w'],
    absent: [ITEM_NOT_FOUND],
  }),
  // The interactive mode reads the command, and with it the secret, from standard input.
  write: (account, secret) => ({
    args: ['-i'],
    input: `add-generic-password -U -s ${SERVICE} -a ${account} -w ${secret}\n`,
  }),
  remove: (account) => ({
    args: ['delete-generic-password', '-s', SERVICE, '-a', account],
    absent: [ITEM_NOT_FOUND],
  }),
}

const WINDOWS: Dialect = {
  program: 'powershell.exe',
  read: (account) => toScript('$v.Retrieve($r[0],$r[1]).Password', [account]),
  write: (account, secret) =>
    toScript(
      '$v.Add((New-Object Windows.Security.Credentials.PasswordCredential($r[0],$r[1],$r[2])))',
      [account, secret],
    ),
  remove: (account) => toScript('$v.Remove($v.Retrieve($r[0],$r[1]))', [account]),
}

/** The vault throws when there is no such credential; other failures keep exit code 1. */
const NO_CREDENTIAL = 3

function toScript(statement: string, values: readonly string[]): Call {
  const script = [
    '$ErrorActionPreference="Stop"',
    '[void][Windows.Security.Credentials.PasswordVault,Windows.Security.Credentials,ContentType=WindowsRuntime]',
    '$v=New-Object Windows.Security.Credentials.PasswordVault',
    '$r=[Console]::In.ReadToEnd() -split "`n"',
    `try{${statement}}catch{if($_.Exception.HResult -eq -2147023728){exit ${NO_CREDENTIAL}};throw}`,
  ].join(';')
  return {
    args: ['-NoProfile', '-NonInteractive', '-Command', script],
    input: [SERVICE, ...values].join('\n'),
    absent: [NO_CREDENTIAL],
  }
}

export function openKeychain(options: KeychainOptions): Keychain {
  const { platform } = options
  const dialect = platform === 'darwin' ? MACOS : platform === 'win32' ? WINDOWS : SECRET_SERVICE
  const { program } = dialect
  const call = (each: Call) => runTool(program, each, options.environment)
  const read = async (account: string) => {
    const output = await call(dialect.read(account))
    return output === null || output.trim() === '' ? null : output.trim()
  }
  return {
    program,
    read,
    write: async (account, secret) => {
      await call(dialect.write(account, secret))
      // Some of the tools report success although the keychain refused.
      if ((await read(account)) === secret) return
      throw new AppError('unavailable', `${program} did not store the key. Nothing was changed.`)
    },
    remove: async (account) => {
      await call(dialect.remove(account))
    },
  }
}

/** The standard output; null when the secret does not exist. */
function runTool(
  program: string,
  { args, input = '', absent = [] }: Call,
  environment: KeychainOptions['environment'],
): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env: environment, windowsHide: true })
    let output = ''
    let complaint = ''
    const fail = (what: string, cause?: unknown) =>
      reject(
        new AppError(
          'unavailable',
          `The keychain is not available: ${program} ${what}.`,
          {},
          cause,
        ),
      )
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      fail(`did not answer within ${TIMEOUT_MS / 1_000} seconds`)
    }, TIMEOUT_MS)
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(0, OUTPUT_CHARACTERS_MAX)
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(0, OUTPUT_CHARACTERS_MAX)
    })
    child.stdin.on('error', () => {}) // a tool that reads nothing may have ended
    child.stdin.end(input)
    child.once('error', (error) => {
      clearTimeout(timer)
      if (getSystemErrorCode(error) !== 'ENOENT') return fail('could not be started', error)
      reject(
        new AppError(
          'missing_part',
          `The keychain needs the program ${program}, which was not found.`,
          { program },
          error,
        ),
      )
    })
    child.once('close', (code) => {
      clearTimeout(timer)
      if (code === 0) resolve(output)
      // `secret-tool` says nothing when there is no such secret, and why when it failed.
      else if (code !== null && absent.includes(code) && !isFailure(program, complaint))
        resolve(null)
      else fail(`failed: ${complaint.trim().split('\n')[0] || `exit code ${code}`}`)
    })
  })
}

function isFailure(program: string, complaint: string): boolean {
  return program === SECRET_SERVICE.program && complaint.trim() !== ''
}
