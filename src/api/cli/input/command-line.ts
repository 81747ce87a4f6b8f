/** Parses a command line into a command, its arguments and options. */
import { parseArgs } from 'node:util'
import { findClosestMatch } from '../../../lib/closest-match.ts'
import {
  type Command,
  type Option,
  type Options,
  type OptionValues,
  UsageError,
} from '../command.ts'

export const GLOBAL_OPTIONS = {
  data: { kind: 'value', value: 'folder', help: 'The data folder. Default: see `status`.' },
  owner: { kind: 'value', value: 'name', help: 'The owner. Default: `default`.' },
  user: {
    kind: 'value',
    value: 'name',
    help: 'The user; new memories are stored for this user.',
  },
  session: { kind: 'value', value: 'name', help: 'The session; new memories are stored with it.' },
  'encryption-key-file': {
    kind: 'value',
    value: 'file',
    help: 'The encryption key file of the database.',
  },
  url: {
    kind: 'value',
    value: 'address',
    help: 'Run the command on this server, for example http://127.0.0.1:20128.',
  },
  key: { kind: 'value', value: 'rc_…', help: 'The API key for that server.' },
  json: { kind: 'flag', help: 'Print JSON instead of text; errors as JSON on stderr.' },
  verbose: { kind: 'flag', help: 'Print stack traces.' },
  help: { kind: 'flag', help: 'Show help for the command.' },
  version: { kind: 'flag', help: 'Print the version.' },
} as const satisfies Options

export type ParsedCommandLine = {
  readonly command: Command | null
  readonly globals: OptionValues<typeof GLOBAL_OPTIONS>
  readonly options: OptionValues<Options>
  readonly positionals: readonly string[]
  /** The only argument is `-` for standard input; after `--` it would be text. */
  readonly isStdinRequested: boolean
}

/** Aliases known from other programs. */
const SYNONYMS: Readonly<Record<string, string>> = {
  remember: 'add',
  save: 'add',
  new: 'add',
  ls: 'list',
  show: 'get',
  cat: 'get',
  view: 'get',
  update: 'edit',
  change: 'edit',
  find: 'search',
  recall: 'search',
  query: 'search',
  grep: 'search',
  delete: 'forget',
  remove: 'forget',
  rm: 'forget',
  enable: 'restore',
  unforget: 'restore',
  purge: 'erase',
  log: 'history',
  revert: 'undo',
  dump: 'export',
  load: 'import',
  wipe: 'clear',
  token: 'keys',
  tokens: 'keys',
  key: 'keys',
  install: 'connect',
  users: 'owners',
  try: 'demo',
  info: 'status',
  check: 'doctor',
  repair: 'doctor',
  config: 'settings',
  extract: 'learn',
  start: 'serve',
  server: 'serve',
}

/** Command groups of other programs, such as `ltm search` and `memory status`. */
const GROUPS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  ltm: { list: ['list'], search: ['search'], query: ['search'], stats: ['status'] },
  memory: {
    add: ['add'],
    clear: ['clear'],
    delete: ['forget'],
    get: ['get'],
    health: ['status'],
    index: ['files', 'index'],
    list: ['list'],
    search: ['search'],
    status: ['files', 'status'],
  },
}

function expandGroup(argv: readonly string[]): readonly string[] {
  const at = findCommandWord(argv)
  if (at === null) return argv
  const expanded = GROUPS[argv[at] ?? '']?.[argv[at + 1] ?? '']
  return expanded === undefined ? argv : [...argv.slice(0, at), ...expanded, ...argv.slice(at + 2)]
}

export function parseCommandLine(
  given: readonly string[],
  commands: readonly Command[],
): ParsedCommandLine {
  const argv = expandGroup(given)
  const at = findCommandWord(argv)
  const command = at === null ? null : findCommand(argv[at] ?? '', commands)
  const rest = argv.filter((_, index) => index !== at)
  const before = at ?? argv.length
  const options: Options = { ...GLOBAL_OPTIONS, ...command?.options }
  const { tokens } = parseArgs({
    args: rest,
    options: Object.fromEntries(
      Object.entries(options).map(([name, { kind }]) => [
        name,
        kind === 'flag' ? { type: 'boolean' } : { type: 'string' },
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const values = new Map<string, (string | true)[]>()
  const general = new Map<string, (string | true)[]>()
  const words: string[] = []
  let terminator: number | null = null
  for (const token of tokens) {
    if (token.kind === 'option-terminator') terminator = token.index
    if (token.kind === 'positional') words.push(token.value)
    if (token.kind !== 'option') continue
    const isGeneral = token.index < before || !isOfCommand(command, token)
    const value = checkOption(token, isGeneral ? GLOBAL_OPTIONS : options, command)
    const meant = isGeneral ? general : values
    meant.set(token.name, [...(meant.get(token.name) ?? []), value])
  }
  const own = collect(command?.options ?? {}, values)
  const globals = collect(GLOBAL_OPTIONS, general) as OptionValues<typeof GLOBAL_OPTIONS> // from its own table
  if (command !== null && !globals.help && !globals.version) checkWords(command, words)
  const isStdinMeant = terminator === null && isTextADash(command, words)
  return { command, globals, options: own, positionals: words, isStdinRequested: isStdinMeant }
}

const SERVER_KEY = /^rc_[0-9a-z]{10,40}_[\w-]{20,}$/

/**
 * An option of the command hides the global one of the same name: `restore --version 2`. API keys are recognized by
 * their form, so that they never become the key of a memory: `add --url … --key rc_…`.
 */
function isOfCommand(command: Command | null, { name, value }: RawOption): boolean {
  if (name === 'key' && value !== undefined && SERVER_KEY.test(value)) return false
  return Object.hasOwn(command?.options ?? {}, name)
}

function isTextADash(command: Command | null, words: readonly string[]): boolean {
  const text = command?.arguments.findIndex((argument) => argument.isRepeated) ?? -1
  const place = Math.max(0, text)
  return words.length === place + 1 && words[place] === '-'
}

/** Global options may precede the command, so their values are not the command. */
function findCommandWord(argv: readonly string[]): number | null {
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? ''
    if (word === '--') return null
    if (!word.startsWith('-')) return index
    const [name = ''] = word.replace(/^--/, '').split('=', 1)
    const option = findOption(GLOBAL_OPTIONS, name)
    if (option === undefined || !word.startsWith('--')) {
      throw unknownOption({ name, rawName: word }, GLOBAL_OPTIONS, null)
    }
    if (option.kind === 'value' && !word.includes('=')) index++
  }
  return null
}

function findCommand(name: string, commands: readonly Command[]): Command {
  const found = commands.find((command) => command.name === name)
  if (found !== undefined) return found
  const meant =
    (Object.hasOwn(SYNONYMS, name) ? SYNONYMS[name] : undefined) ??
    findClosestMatch(
      name,
      commands.map((command) => command.name),
    )
  throw new UsageError(
    `Unknown command "${name.slice(0, 40)}".${meant == null ? '' : ` Did you mean \`${meant}\`?`}`,
    'Run `recollect help` for a list of commands.',
  )
}

function findOption(options: Options, name: string): Option | undefined {
  return Object.hasOwn(options, name) ? options[name] : undefined
}

type RawOption = {
  readonly name: string
  readonly rawName: string
  readonly value: string | undefined
  readonly inlineValue: boolean | undefined
}

function checkOption(token: RawOption, options: Options, command: Command | null): string | true {
  const option = token.rawName.startsWith('--') ? findOption(options, token.name) : undefined
  if (option === undefined) {
    throw unknownOption(token, { ...GLOBAL_OPTIONS, ...command?.options }, command)
  }
  if (option.kind === 'flag') {
    if (token.value === undefined) return true
    throw new UsageError(`${token.rawName} does not take a value.`)
  }
  const form = `${token.rawName} <${option.value}>`
  if (token.value === undefined) throw new UsageError(`${token.rawName} requires a value: ${form}`)
  if (token.inlineValue !== true && token.value.length > 1 && token.value.startsWith('-')) {
    throw new UsageError(
      `${token.rawName} requires a value: ${form}`,
      `For a value that begins with a dash, write ${token.rawName}=<${option.value}>.`,
    )
  }
  return token.value
}

function unknownOption(
  token: Pick<RawOption, 'name' | 'rawName'>,
  options: Options,
  command: Command | null,
): UsageError {
  const { name, rawName } = token
  const meant = rawName.startsWith('--') ? findClosestMatch(name, Object.keys(options)) : null
  const where = command === null ? ' before a command' : ` for \`${command.name}\``
  const suggestion = meant === null ? '' : ` Did you mean --${meant}?`
  const message = `Unknown option ${rawName.slice(0, 40)}${where}.${suggestion}`
  if (command === null) {
    return new UsageError(message, 'Put the options of a command after its name.')
  }
  const takesWords = command.arguments.some((argument) => argument.isRepeated)
  return new UsageError(
    message,
    takesWords && meant === null
      ? 'For text that begins with a dash, put -- before it.'
      : `Run \`recollect help ${command.name}\` for its options.`,
  )
}

function collect(options: Options, values: ReadonlyMap<string, readonly (string | true)[]>) {
  const given: { [name: string]: boolean | string | undefined | readonly string[] } = {}
  for (const [name, { kind }] of Object.entries(options)) {
    const all = values.get(name) ?? []
    if (kind === 'flag') given[name] = all.length > 0
    else if (kind === 'values') given[name] = all.map(String)
    else if (all.length > 1) throw new UsageError(`--${name} may be set only once.`)
    else given[name] = all[0] === undefined ? undefined : String(all[0])
  }
  return given
}

function checkWords(command: Command, words: readonly string[]): void {
  const required = command.arguments.filter((argument) => argument.isRequired)
  const isOpenEnded = command.arguments.some((argument) => argument.isRepeated)
  const missing = required[words.length]
  const usage = `Usage: ${renderUsage(command)}`
  if (missing !== undefined) {
    throw new UsageError(`\`${command.name}\` needs ${nameOf(missing.name)}.`, usage)
  }
  if (!isOpenEnded && words.length > command.arguments.length) {
    const surplus = words.length - command.arguments.length
    throw new UsageError(
      `\`${command.name}\` got ${surplus} argument${surplus === 1 ? '' : 's'} too many.`,
      usage,
    )
  }
}

function nameOf(argument: string): string {
  return /^[aeiou]/.test(argument) ? `an <${argument}>` : `a <${argument}>`
}

export function renderUsage(command: Command): string {
  const words = command.arguments.map(({ name, isRequired, isRepeated }) => {
    const word = `<${name}>${isRepeated ? '…' : ''}`
    return isRequired ? word : `[${word}]`
  })
  const options = Object.keys(command.options).length > 0 ? ['[options]'] : []
  return ['recollect', command.name, ...words, ...options].join(' ')
}
