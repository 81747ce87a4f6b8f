/**
 * Hooks of agent programs: where each keeps them, and the form of ours. A hook runs `recollect hook` at an event of the
 * program. Pure: no file is read or written here.
 */
import { posix, win32 } from 'node:path'
import { AppError } from '../../../lib/errors.ts'
import { isObject } from '../../../lib/json.ts'
import { type ConfigChange, type Platform, withPathInError } from './client-config.ts'
import { readJsonc, removeJsoncValue, setJsoncValue } from './jsonc-editor.ts'

type HookClient = {
  /** Relative to the home folder. */
  readonly path: readonly string[]
  /** The names of its events. Prompts and the start of a session get context; the others record the conversation. */
  readonly events: readonly string[]
  readonly timeout: { readonly perSecond: number; readonly name: string }
  /** Whether the file lists commands directly, with a version of its form. */
  readonly isFlat?: boolean
  /** What the user does next. */
  readonly next: string
}

const SECONDS = { perSecond: 1, name: 'timeout' }

export const HOOK_CLIENTS = {
  'claude-code': {
    path: ['.claude', 'settings.json'],
    events: ['SessionStart', 'UserPromptSubmit', 'PreCompact', 'Stop', 'SessionEnd'],
    timeout: SECONDS,
    next: 'Start a new session; /hooks lists the hooks.',
  },
  codex: {
    path: ['.codex', 'hooks.json'],
    events: ['SessionStart', 'UserPromptSubmit', 'PreCompact', 'Stop'],
    timeout: SECONDS,
    next: 'Start a new session and allow the hooks there. Older versions need `hooks = true` under [features] in config.toml.',
  },
  gemini: {
    path: ['.gemini', 'settings.json'],
    events: ['SessionStart', 'BeforeAgent', 'PreCompress', 'AfterAgent', 'SessionEnd'],
    timeout: { ...SECONDS, perSecond: 1_000 },
    next: 'Start a new session; /hooks lists the hooks.',
  },
  cursor: {
    path: ['.cursor', 'hooks.json'],
    events: ['sessionStart', 'beforeSubmitPrompt', 'preCompact', 'stop', 'sessionEnd'],
    timeout: SECONDS,
    isFlat: true,
    next: 'Open a new chat; the settings list the hooks.',
  },
} as const satisfies { readonly [name: string]: HookClient }

export type HookClientName = keyof typeof HOOK_CLIENTS

export function hookClientNames(): readonly HookClientName[] {
  return Object.keys(HOOK_CLIENTS) as HookClientName[] // the table's own names
}

export function isHookClientName(name: string): name is HookClientName {
  return Object.hasOwn(HOOK_CLIENTS, name)
}

export function hookConfigPath(name: HookClientName, platform: Platform, home: string): string {
  const { join } = platform === 'win32' ? win32 : posix
  return join(home, ...HOOK_CLIENTS[name].path)
}

/** A model may learn from the conversation meanwhile. Prompts wait for their hook, which ends much earlier. */
const TIMEOUT_SECONDS = 60

/** The shell command of a hook. `words` are the program and its options; each is quoted as needed. */
export function hookCommandLine(words: readonly string[]): string {
  return [...words, 'hook'].map(quote).join(' ')
}

function quote(word: string): string {
  if (/["$`\\]/.test(word) && !/^[A-Za-z]:\\/.test(word))
    return `'${word.replaceAll("'", `'\\''`)}'`
  return /^[\w@%+=:,./\\-]+$/.test(word) ? word : `"${word}"`
}

/** The file with our hooks in it, or without them when `command` is null. */
export function planHooks(
  name: HookClientName,
  platform: Platform,
  home: string,
  existing: string | null,
  command: string | null,
): ConfigChange {
  const { next, events }: HookClient = HOOK_CLIENTS[name]
  const path = hookConfigPath(name, platform, home)
  const after = withPathInError(path, () =>
    events.reduce(
      (text, event) => setHooksOf(name, text, event, command),
      withVersion(name, existing, command),
    ),
  )
  const isChanged = after !== (existing ?? '')
  return { path, before: existing, after, isChanged, next }
}

function withVersion(
  name: HookClientName,
  existing: string | null,
  command: string | null,
): string {
  const { isFlat = false }: HookClient = HOOK_CLIENTS[name]
  const text = existing ?? ''
  const hasVersion = isObject(readJsonc(text)) && Object.hasOwn(Object(readJsonc(text)), 'version')
  return isFlat && command !== null && !hasVersion ? setJsoncValue(text, ['version'], 1) : text
}

function setHooksOf(
  name: HookClientName,
  text: string,
  event: string,
  command: string | null,
): string {
  const hooks = Object(readJsonc(text)).hooks
  const listed: unknown = Object(hooks)[event]
  if (listed !== undefined && !Array.isArray(listed)) {
    throw new AppError('invalid_input', `"hooks.${event}" is no list.`)
  }
  const known: readonly unknown[] = listed ?? []
  const foreign = known.filter((entry) => !isOurs(entry))
  const ours = command === null ? [] : [toEntry(name, command)]
  if (foreign.length + ours.length === 0) return removeJsoncValue(text, ['hooks', event])
  return setJsoncValue(text, ['hooks', event], [...foreign, ...ours])
}

function toEntry(name: HookClientName, command: string): object {
  const { timeout, isFlat = false }: HookClient = HOOK_CLIENTS[name]
  const limit = { [timeout.name]: TIMEOUT_SECONDS * timeout.perSecond }
  return isFlat ? { command, ...limit } : { hooks: [{ type: 'command', command, ...limit }] }
}

/** Whether an entry holds nothing but a hook of ours, whatever the path and options of an earlier installation. */
function isOurs(entry: unknown): boolean {
  const inner: unknown = Object(entry).hooks
  const handlers: readonly unknown[] = Array.isArray(inner) ? inner : [entry]
  return handlers.length > 0 && handlers.every((handler) => runsOurs(Object(handler).command))
}

function runsOurs(command: unknown): boolean {
  return typeof command === 'string' && /(?:recollect|cli-main).* hook$/.test(command)
}
