/**
 * Configuration: where the data is and who asks, from flags, then the environment, then defaults. The only reader
 * of the environment. A variable that is ours by its name but unknown is refused: a typo must not look like success.
 */
import { isAbsolute, join, resolve } from 'node:path'
import type { ScopeInput } from '../core/draft.ts'
import { AppError } from '../core/errors.ts'
import type { GlobalFlags } from '../doors/cli/host.ts'
import { nearest } from '../doors/cli/suggest.ts'

export const ENVIRONMENT = {
  RECOLLECT_DATA: 'The data folder, as `--data`.',
  RECOLLECT_OWNER: 'Whose memories, as `--owner`.',
  RECOLLECT_USER: 'Which user of the owner, as `--user`.',
  RECOLLECT_KEY_FILE: 'The file with the key of an encrypted database, as `--key-file`.',
  RECOLLECT_KEY: 'The key itself: 64 hex digits.',
  RECOLLECT_PASSPHRASE: 'A passphrase instead of a key.',
  RECOLLECT_HOST: 'Where `serve` listens. Default: 127.0.0.1.',
  RECOLLECT_PORT: 'The port of `serve`. Default: 20128.',
} as const
type VariableName = keyof typeof ENVIRONMENT

export type Environment = { readonly [name: string]: string | undefined }

export type KeySource = {
  readonly kind: 'file' | 'text' | 'passphrase'
  /** The path of the file, or the secret itself. */
  readonly value: string
  /** Where it was given, in words. */
  readonly origin: string
}

export type Config = {
  readonly dataFolder: string
  readonly scope: ScopeInput
  readonly key: KeySource | null
  readonly listen: { readonly host: string; readonly port: number }
}

export type System = { readonly platform: NodeJS.Platform; readonly home: string }

const OWNER = 'default'
const HOST = '127.0.0.1'
const PORT = 20_128
const PORT_MAX = 65_535
const FOLDER = 'recollect'

export function readConfig(flags: GlobalFlags, environment: Environment, system: System): Config {
  refuseUnknown(environment)
  // An empty variable is how a shell says "not set".
  const variable = (name: VariableName) => environment[name] || undefined
  const user = flags.user ?? variable('RECOLLECT_USER')
  return {
    dataFolder: resolve(
      flags.data ?? variable('RECOLLECT_DATA') ?? defaultFolder(environment, system),
    ),
    scope: {
      owner: flags.owner ?? variable('RECOLLECT_OWNER') ?? OWNER,
      ...(user === undefined ? {} : { user }),
      ...(flags.session === undefined ? {} : { session: flags.session }),
    },
    key: keySource(flags, variable),
    listen: {
      host: variable('RECOLLECT_HOST') ?? HOST,
      port: parsePort(variable('RECOLLECT_PORT')),
    },
  }
}

/** Whether colours are wanted at all, see no-color.org. */
export function wantsColor(environment: Environment): boolean {
  return !environment.NO_COLOR && environment.TERM !== 'dumb'
}

/** The environment of this process. */
export function processEnvironment(): Environment {
  return process.env
}

function defaultFolder(environment: Environment, { platform, home }: System): string {
  if (platform === 'win32') {
    return join(environment.APPDATA || join(home, 'AppData', 'Roaming'), FOLDER)
  }
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', FOLDER)
  const xdg = environment.XDG_DATA_HOME
  // The specification says to ignore a relative one.
  return join(xdg && isAbsolute(xdg) ? xdg : join(home, '.local', 'share'), FOLDER)
}

function keySource(
  flags: GlobalFlags,
  variable: (name: VariableName) => string | undefined,
): KeySource | null {
  if (flags.keyFile !== undefined) {
    return { kind: 'file', value: flags.keyFile, origin: `the file ${flags.keyFile}` }
  }
  const kinds = [
    ['RECOLLECT_KEY_FILE', 'file'],
    ['RECOLLECT_KEY', 'text'],
    ['RECOLLECT_PASSPHRASE', 'passphrase'],
  ] as const
  const given = kinds.flatMap(([name, kind]): readonly KeySource[] => {
    const value = variable(name)
    return value === undefined ? [] : [{ kind, value, origin: name }]
  })
  if (given.length > 1) {
    const names = given.map((source) => source.origin).join(' and ')
    throw new AppError('invalid_input', `${names} are both set. Set only one of them.`)
  }
  return given[0] ?? null
}

function parsePort(text: string | undefined): number {
  if (text === undefined) return PORT
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (Number.isNaN(port) || port > PORT_MAX) {
    throw new AppError('invalid_input', `RECOLLECT_PORT takes a number from 0 to ${PORT_MAX}.`)
  }
  return port
}

function refuseUnknown(environment: Environment): void {
  for (const name of Object.keys(environment)) {
    if (!name.startsWith('RECOLLECT_') || Object.hasOwn(ENVIRONMENT, name)) continue
    const meant = nearest(name, Object.keys(ENVIRONMENT))
    const suggestion = meant === null ? '' : ` Did you mean ${meant}?`
    throw new AppError(
      'invalid_input',
      `There is no environment variable ${name.slice(0, 60)} for Recollect.${suggestion}`,
      { variable: name },
    )
  }
}
