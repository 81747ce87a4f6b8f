/**
 * Runs one command line and returns its exit code. All results and errors are printed here, so that standard output
 * contains only the result.
 */
import { type AppError, ERRORS, toAppError } from '../../lib/errors.ts'
import {
  assertLocal,
  type Command,
  type CommandResult,
  type Invocation,
  UsageError,
} from './command.ts'
import { COMMANDS } from './commands/index.ts'
import { type CliEnvironment, type Host, OutputClosed } from './host.ts'
import { type ParsedCommandLine, parseCommandLine } from './input/command-line.ts'
import { createLocalClient } from './local-client.ts'
import type { OperationClient } from './operation-client.ts'
import { optionHint, toOptionNames } from './output/error-hints.ts'
import { createStyle, escapeControlCharacters, quoteForShell } from './output/text-rendering.ts'
import { createRemoteClient } from './remote-client.ts'

export async function runCommandLine(argv: readonly string[], host: Host): Promise<number> {
  const early = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : argv.length)
  const isJson = early.includes('--json')
  let command: Command | null = null
  try {
    const parsed = parseCommandLine(argv, COMMANDS)
    command = parsed.command
    const answer = await execute(parsed, host)
    if (answer !== null) await print(host, answer, isJson)
    return answer?.exitCode ?? 0
  } catch (error) {
    if (error instanceof OutputClosed) return 0
    await printError(host, error, { isJson, isVerbose: early.includes('--verbose'), command })
    return ERRORS[toAppError(error).code].exit
  }
}

async function execute(parsed: ParsedCommandLine, host: Host): Promise<CommandResult | null> {
  const { command, globals } = parsed
  const style = createStyle(host.stdout, host.hasColor)
  if (globals.version) return { json: { version: host.version }, text: `recollect ${host.version}` }
  if (command === null || globals.help) {
    const help = parseCommandLine(['help', ...(command === null ? [] : [command.name])], COMMANDS)
    return help.command === null ? null : runCommand(help.command, help, host, style)
  }
  return runCommand(command, parsed, host, style)
}

async function runCommand(
  command: Command,
  parsed: ParsedCommandLine,
  host: Host,
  style: Invocation['style'],
) {
  const operations = lazy(() => operationsFor(host, setup()))
  let known: CliEnvironment | undefined
  const setup = () => {
    known ??= host.configure(flagsOf(parsed.globals))
    return known
  }
  const { globals, options: given, positionals: words, isStdinRequested: isStdinMeant } = parsed
  const call: Invocation = {
    host,
    options: given,
    positionals: words,
    isStdinRequested: isStdinMeant,
    isJson: globals.json,
    hasDataOption: globals.data !== undefined,
    style,
    perform: (operation, input, onProgress) =>
      operations.get().perform(operation, input, onProgress),
    getEnvironment: setup,
    suggestCommand: (commandLine) => ['recollect', commandLine, ...sameFlags(globals)].join(' '),
  }
  if (command.isLocalOnly === true) assertLocal(call, `\`${command.name}\``)
  try {
    return await command.run(call)
  } finally {
    await operations.close()
  }
}

function operationsFor(host: Host, setup: CliEnvironment): OperationClient {
  const { remote, explicitScope: named } = setup
  return remote === null
    ? createLocalClient({ setup, version: host.version, signal: host.stopSignal })
    : createRemoteClient({ server: remote, explicitScope: named, signal: host.stopSignal })
}

/** Lazy, because some commands need no operations. */
function lazy(create: () => OperationClient) {
  let made: OperationClient | undefined
  return {
    get: () => {
      made ??= create()
      return made
    },
    close: async () => made?.close(),
  }
}

function flagsOf(globals: ParsedCommandLine['globals']) {
  const { data, owner, user, session, 'encryption-key-file': keyFile, url, key } = globals
  return {
    ...(data === undefined ? {} : { data }),
    ...(owner === undefined ? {} : { owner }),
    ...(user === undefined ? {} : { user }),
    ...(session === undefined ? {} : { session }),
    ...(keyFile === undefined ? {} : { keyFile }),
    ...(url === undefined ? {} : { url }),
    ...(key === undefined ? {} : { key }),
  }
}

/** Omits the key, which must not appear in printed output. */
function sameFlags(globals: ParsedCommandLine['globals']): readonly string[] {
  return (['data', 'owner', 'user', 'session', 'encryption-key-file', 'url'] as const).flatMap(
    (name) => {
      const value = globals[name]
      return value === undefined ? [] : [`--${name}`, quoteForShell(value)]
    },
  )
}

async function print({ stdout }: Host, answer: CommandResult, isJson: boolean): Promise<void> {
  if (!isJson) return stdout.write(answer.text === '' ? '' : `${answer.text}\n`)
  const json = JSON.stringify(answer.json, null, stdout.isTerminal ? 2 : 0)
  return stdout.write(`${stdout.isTerminal ? jsonForTerminal(json) : json}\n`)
}

/** Escapes characters that JSON allows and a terminal interprets. */
function jsonForTerminal(json: string): string {
  return json.replace(
    /[\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

async function printError(
  host: Host,
  thrown: unknown,
  {
    isJson,
    isVerbose,
    command,
  }: { readonly isJson: boolean; readonly isVerbose: boolean; readonly command: Command | null },
): Promise<void> {
  const error = toAppError(thrown)
  const message = error.code === 'internal' ? unexpected(error) : toOptionNames(error.message)
  const trace = isVerbose ? traceOf(thrown) : []
  if (isJson) {
    const { code, facts, details } = error
    const about = { code, message, facts, ...(details.length > 0 ? { details } : {}) }
    const json = { error: { ...about, ...(isVerbose ? { trace } : {}) } }
    return host.stderr.write(`${JSON.stringify(json)}\n`)
  }
  const { red } = createStyle(host.stderr, host.hasColor)
  const hint = isVerbose && error.code === 'internal' ? null : hintFor(error, command)
  const several = error.details.length > 1 ? error.details.map((each) => `  ${each.message}`) : []
  const lines = [
    `${red('recollect:')} ${escapeControlCharacters(message)}`,
    ...several.map(escapeControlCharacters),
  ]
  const whole = [...lines, ...(hint === null ? [] : [hint]), ...trace]
  await host.stderr.write(`${whole.join('\n')}\n`)
}

/** JSON syntax errors quote the input, which may be part of a memory. */
function unexpected({ message, cause }: AppError): string {
  const what = cause instanceof SyntaxError ? 'stored data could not be parsed' : message
  return `Unexpected error: ${what}`
}

function hintFor(error: AppError, command: Command | null): string | null {
  if (error instanceof UsageError) return error.hint
  if (error.code === 'internal') {
    return 'This is a bug in Recollect. Run the command with --verbose for a stack trace.'
  }
  if (error.code === 'not_found' && /\bmem_/.test(error.message)) {
    return '`recollect list --all-statuses` lists all memories; set the scope with --owner and --user.'
  }
  return optionHint(error, command)
}

/** The stack down to the first cause, without messages, which may quote private text. */
function traceOf(thrown: unknown): readonly string[] {
  const lines: string[] = []
  for (let error = thrown; error instanceof Error; error = error.cause) {
    const places = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
    lines.push(lines.length === 0 ? error.name : `caused by ${error.name}`, ...places)
  }
  return lines
}
