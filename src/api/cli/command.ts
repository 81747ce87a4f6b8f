/**
 * A command is a table entry from which parsing, help and the reference are derived. It returns its result as JSON and
 * as text.
 */
import { throwIfAborted } from '../../lib/abort.ts'
import { AppError } from '../../lib/errors.ts'
import type { CliEnvironment, Host } from './host.ts'
import type { OperationClient } from './operation-client.ts'
import type { Style } from './output/text-rendering.ts'

/** `value` is the placeholder in help: `name`, `n`, `file`. */
export type Option =
  | { readonly kind: 'flag'; readonly help: string }
  | { readonly kind: 'value'; readonly value: string; readonly help: string }
  | { readonly kind: 'values'; readonly value: string; readonly help: string }
export type Options = { readonly [name: string]: Option }

type GivenOption<O extends Option> = O extends { readonly kind: 'flag' }
  ? boolean
  : O extends { readonly kind: 'value' }
    ? string | undefined
    : readonly string[]
export type OptionValues<O extends Options> = { readonly [Name in keyof O]: GivenOption<O[Name]> }

export type Argument = {
  readonly name: string
  readonly help: string
  readonly isRequired?: boolean
  readonly isRepeated?: boolean
}

export type Invocation<O extends Options = Options> = {
  readonly host: Host
  readonly options: OptionValues<O>
  readonly positionals: readonly string[]
  /** The only argument is `-` for standard input. */
  readonly isStdinRequested: boolean
  readonly isJson: boolean
  /** Whether `--data` was passed, as opposed to an environment variable. */
  readonly hasDataOption: boolean
  readonly style: Style
  /** Performs an operation locally or on the configured server. */
  readonly perform: OperationClient['perform']
  /** Parsed on first use, so that `help` works with an invalid environment. */
  getEnvironment(): CliEnvironment
  /** Formats a command line to suggest, with the same data folder, owner and user. */
  suggestCommand(commandLine: string): string
}

export type CommandResult = {
  readonly json: unknown
  readonly text: string
  readonly exitCode?: number
}

export type CommandGroup =
  | 'Write'
  | 'Read'
  | 'Edit'
  | 'Import and export'
  | 'Server'
  | 'Administration'

export type Command = {
  readonly name: string
  readonly group: CommandGroup
  readonly summary: string
  /** Further explanation in whole sentences. */
  readonly details?: string
  readonly arguments: readonly Argument[]
  readonly options: Options
  readonly examples: readonly string[]
  /** The command concerns this machine and cannot run against a server. */
  readonly isLocalOnly?: boolean
  /** Null when the command has printed its own output. */
  run(call: Invocation): Promise<CommandResult | null>
}

/** Infers the option types of `run`. */
export function defineCommand<const O extends Options>(
  command: Omit<Command, 'options' | 'run'> & {
    readonly options: O
    run(call: Invocation<O>): Promise<CommandResult | null>
  },
): Command {
  return command
}

/** An invalid command line, with a hint. */
export class UsageError extends AppError {
  readonly hint: string | null

  constructor(message: string, hint: string | null = null) {
    super('invalid_input', message)
    this.hint = hint
  }
}

/** Refuses commands that cannot run against a server. */
export function assertLocal(call: Invocation, what: string): void {
  const { remote } = call.getEnvironment()
  if (remote === null) return
  throw new UsageError(
    `${what} works on this machine only, but ${remote.origin} names a server.`,
    `Run it without ${remote.origin} on the machine that has the database.`,
  )
}

/** The first required argument. */
export function requirePositional(call: Invocation): string {
  const [word] = call.positionals
  if (word === undefined) throw new UsageError('A required argument is missing.')
  return word
}

/** Asks for confirmation on a terminal; without a terminal, `--yes` is required. */
export async function confirmAction(
  call: Invocation<{ readonly yes: { readonly kind: 'flag'; readonly help: string } }>,
  question: string,
  otherwise: string,
): Promise<void> {
  if (call.options.yes) return
  if (!call.host.stdin.isTerminal || !call.host.stderr.isTerminal) {
    throw new UsageError('Confirmation is required, but there is no terminal. Add --yes.')
  }
  if (!(await call.host.confirm(question))) throw new AppError('cancelled', otherwise)
}

export const YES_OPTION = { yes: { kind: 'flag', help: 'Skip the confirmation.' } } as const

export function assertNotAborted(call: Invocation, message: string): void {
  throwIfAborted(call.host.stopSignal, message)
}
