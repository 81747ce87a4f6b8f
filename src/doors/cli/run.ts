/**
 * Runs one command line and returns its exit code. Every answer and every error is printed here and nowhere else,
 * so that standard output holds what was asked for and nothing besides.
 */
import { type AppError, ERRORS, toAppError } from '../../core/errors.ts'
import { type Answer, type Call, UsageError } from './command.ts'
import { COMMANDS } from './commands/index.ts'
import { type Host, OutputClosed, type Setup } from './host.ts'
import { type Parsed, parseCommandLine } from './parse.ts'
import { createStyle, harmless, quoted } from './render.ts'

export async function run(argv: readonly string[], host: Host): Promise<number> {
  const early = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : argv.length)
  const isJson = early.includes('--json')
  try {
    const parsed = parseCommandLine(argv, COMMANDS)
    const answer = await answerTo(parsed, host)
    if (answer !== null) await print(host, answer, isJson)
    return answer?.exit ?? 0
  } catch (error) {
    if (error instanceof OutputClosed) return 0
    await tell(host, error, { isJson, isVerbose: early.includes('--verbose') })
    return ERRORS[toAppError(error).code].exit
  }
}

async function answerTo(parsed: Parsed, host: Host): Promise<Answer | null> {
  const { command, globals } = parsed
  const style = createStyle(host.stdout, host.hasColor)
  if (globals.version) return { json: { version: host.version }, text: `recollect ${host.version}` }
  if (command === null || globals.help) {
    const asked = parseCommandLine(['help', ...(command === null ? [] : [command.name])], COMMANDS)
    if (asked.command !== null) return asked.command.run(toCall(asked, host, style))
  }
  return command === null ? null : command.run(toCall(parsed, host, style))
}

function toCall(parsed: Parsed, host: Host, style: Call['style']): Call {
  const { globals, given, words, isStdinMeant } = parsed
  let setup: Setup | undefined
  return {
    host,
    given,
    words,
    isStdinMeant,
    isJson: globals.json,
    style,
    setup: () => {
      setup ??= host.configure(flagsOf(globals))
      return setup
    },
    again: (commandLine) => ['recollect', commandLine, ...sameFlags(globals)].join(' '),
  }
}

function flagsOf({ data, owner, user, session, 'key-file': keyFile }: Parsed['globals']) {
  return {
    ...(data === undefined ? {} : { data }),
    ...(owner === undefined ? {} : { owner }),
    ...(user === undefined ? {} : { user }),
    ...(session === undefined ? {} : { session }),
    ...(keyFile === undefined ? {} : { keyFile }),
  }
}

function sameFlags(globals: Parsed['globals']): readonly string[] {
  return (['data', 'owner', 'user', 'session', 'key-file'] as const).flatMap((name) => {
    const value = globals[name]
    return value === undefined ? [] : [`--${name}`, quoted(value)]
  })
}

async function print({ stdout }: Host, answer: Answer, isJson: boolean): Promise<void> {
  if (!isJson) return stdout.write(answer.text === '' ? '' : `${answer.text}\n`)
  const json = JSON.stringify(answer.json, null, stdout.isTerminal ? 2 : 0)
  return stdout.write(`${stdout.isTerminal ? jsonForTerminal(json) : json}\n`)
}

/** What JSON leaves as it is and a terminal would obey. */
function jsonForTerminal(json: string): string {
  return json.replace(
    /[\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

async function tell(
  host: Host,
  thrown: unknown,
  { isJson, isVerbose }: { readonly isJson: boolean; readonly isVerbose: boolean },
): Promise<void> {
  const error = toAppError(thrown)
  const message = error.code === 'internal' ? unexpected(error) : error.message
  const trace = isVerbose ? traceOf(thrown) : []
  if (isJson) {
    const { code, facts } = error
    const json = { error: { code, message, facts, ...(isVerbose ? { trace } : {}) } }
    return host.stderr.write(`${JSON.stringify(json)}\n`)
  }
  const { red } = createStyle(host.stderr, host.hasColor)
  const hint = isVerbose && error.code === 'internal' ? null : hintFor(error)
  const lines = [`${red('recollect:')} ${harmless(message)}`, ...(hint === null ? [] : [hint])]
  await host.stderr.write(`${[...lines, ...trace].join('\n')}\n`)
}

/** The parser of JSON quotes what it could not parse, which may be part of a memory. */
function unexpected({ message, cause }: AppError): string {
  const what = cause instanceof SyntaxError ? 'something stored could not be parsed' : message
  return `unexpected error: ${what}`
}

function hintFor(error: AppError): string | null {
  if (error instanceof UsageError) return error.hint
  if (error.code === 'internal') {
    return 'This is a bug in Recollect. Run it again with --verbose to see where it happened.'
  }
  if (error.code === 'not_found' && error.facts.id !== undefined) {
    return '`recollect list --all-statuses` shows what is there; --owner and --user say where to look.'
  }
  return null
}

/** Where it happened, down to the first cause. Messages are left out: below ours, they may quote anything. */
function traceOf(thrown: unknown): readonly string[] {
  const lines: string[] = []
  for (let error = thrown; error instanceof Error; error = error.cause) {
    const places = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
    lines.push(lines.length === 0 ? error.name : `caused by ${error.name}`, ...places)
  }
  return lines
}
