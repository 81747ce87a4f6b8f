/** Configures MCP clients to use this memory. */
import { copyFile, mkdir, readFile, realpath, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { writeFileAtomic } from '../../../../lib/atomic-file.ts'
import { findClosestMatch } from '../../../../lib/closest-match.ts'
import { getSystemErrorCode } from '../../../../lib/system-error.ts'
import {
  backupPath,
  CLIENTS,
  type ClientName,
  type ConfigChange,
  clientNames,
  configPath,
  createHttpEntry,
  createStdioEntry,
  isClientName,
  type Platform,
  planInstallation,
  planRemoval,
  renderEntry,
  type ServerEntry,
  supportsKeyVariable,
  unifiedDiff,
} from '../../../mcp/clients/client-config.ts'
import {
  type HookClientName,
  hookClientNames,
  hookCommandLine,
  hookConfigPath,
  isHookClientName,
  planHooks,
} from '../../../mcp/clients/hook-config.ts'
import {
  type CommandResult,
  confirmAction,
  defineCommand,
  type Invocation,
  UsageError,
  YES_OPTION,
} from '../../command.ts'
import { toFileError } from '../../input/file-access.ts'
import type { Style } from '../../output/text-rendering.ts'
import { parseToolSets, TOOL_OPTIONS } from './serve-commands.ts'

const KEY_VARIABLE = 'RECOLLECT_API_KEY'

const OPTIONS = {
  print: { kind: 'flag', help: 'Only print the entry.' },
  remove: { kind: 'flag', help: 'Remove the entry and the hooks.' },
  hooks: {
    kind: 'flag',
    help: 'Also install hooks, which give every prompt its context and record conversations.',
  },
  'plain-key': {
    kind: 'flag',
    help: 'Write the key itself into the file, also where the client could read it from RECOLLECT_API_KEY.',
  },
  ...TOOL_OPTIONS,
  ...YES_OPTION,
} as const
type ConnectCall = Invocation<typeof OPTIONS>

export const connectCommand = defineCommand({
  name: 'connect',
  group: 'Server',
  summary: 'Connect an MCP client: add Recollect to its configuration.',
  details:
    'Shows the change and asks for confirmation; without a terminal it needs `--yes`. ' +
    'The previous file is kept as a copy. With `--url` and `--key` the client uses that ' +
    'server, and reads the key from RECOLLECT_API_KEY where it can; otherwise it starts `recollect mcp` of this ' +
    'installation with the given `--data` and `--owner`. `--hooks` also installs hooks of Claude Code, Codex, ' +
    'Gemini CLI and Cursor, which run `recollect hook`.',
  arguments: [{ name: 'client', help: `One of ${clientNames().join(', ')}.`, isRequired: true }],
  options: OPTIONS,
  examples: [
    'recollect connect claude-desktop',
    'recollect connect claude-code --hooks',
    'recollect connect cursor --url http://127.0.0.1:20128 --key rc_…',
    'recollect connect vscode --print',
  ],
  async run(call) {
    const name = clientNamed(call.positionals[0] ?? '')
    if (call.options.print && call.options.remove) {
      throw new UsageError('--print and --remove cannot be combined.')
    }
    const platform = platformOf(call)
    const hookClient = hookClientFor(call, name)
    if (call.options.print) return printed(call, name, platform, hookClient)
    const entry = await planFor(call, name, platform)
    if (hookClient === null) return written(call, name, [entry])
    const hooks = await planHooksFor(call, hookClient, platform, entry)
    const isSameFile = hooks.path === entry.path
    return written(call, name, isSameFile ? [{ ...hooks, before: entry.before }] : [entry, hooks])
  },
})

/** Whose hooks are to be installed or removed; null for none. */
function hookClientFor(call: ConnectCall, name: ClientName): HookClientName | null {
  const { hooks, remove } = call.options
  if (isHookClientName(name)) return hooks || remove ? name : null
  if (!hooks) return null
  const known = hookClientNames().join(', ')
  throw new UsageError(`${CLIENTS[name].title} has no hooks. Those with hooks are: ${known}.`)
}

function printed(
  call: ConnectCall,
  name: ClientName,
  platform: Platform,
  hookClient: HookClientName | null,
): CommandResult {
  const { home } = call.host.homes
  const entry = renderEntry(name, platform, entryFor(call))
  const path = configPath(name, platform, home)
  if (hookClient === null) {
    return { json: { client: name, path, text: entry }, text: entry.trimEnd() }
  }
  const hooks = planHooks(hookClient, platform, home, null, hookCommandFor(call))
  const parts = [`${path}:`, entry.trimEnd(), `${hooks.path}:`, hooks.after.trimEnd()]
  const json = { client: name, path, text: entry, hooks: { path: hooks.path, text: hooks.after } }
  return { json, text: parts.join('\n') }
}

/** The command with its scope, and with the server that it asks; the key comes from the environment. */
function hookCommandFor(call: ConnectCall): string {
  const { remote, explicitScope, explicitDataFolder } = call.getEnvironment()
  const { owner, user } = explicitScope
  const key = remote?.key ?? null
  return hookCommandLine([
    ...programFor(call),
    ...(remote === null ? [] : ['--url', remote.url]),
    ...(key === null || !call.options['plain-key'] ? [] : ['--key', key]),
    ...(explicitDataFolder === null || remote !== null ? [] : ['--data', explicitDataFolder]),
    ...(owner === undefined ? [] : ['--owner', owner]),
    ...(user === undefined ? [] : ['--user', user]),
  ])
}

async function planHooksFor(
  call: ConnectCall,
  client: HookClientName,
  platform: Platform,
  entry: ConfigChange,
): Promise<ConfigChange> {
  const { home } = call.host.homes
  const path = hookConfigPath(client, platform, home)
  const existing = path === entry.path ? entry.after : await textOf(path)
  const command = call.options.remove ? null : hookCommandFor(call)
  const plan = planHooks(client, platform, home, existing, command)
  return path === entry.path ? { ...plan, isChanged: plan.after !== (entry.before ?? '') } : plan
}

function clientNamed(word: string): ClientName {
  if (isClientName(word)) return word
  const meant = findClosestMatch(word, clientNames())
  throw new UsageError(
    `Unknown client "${word.slice(0, 40)}".${meant === null ? '' : ` Did you mean ${meant}?`}`,
    `There are: ${clientNames().join(', ')}. For others, --print shows an entry to copy.`,
  )
}

function platformOf({ host }: Invocation): Platform {
  const { platform } = host.homes
  return platform === 'darwin' || platform === 'win32' ? platform : 'linux'
}

/** Writes explicitly configured values only, because the defaults are the same in the client. */
function entryFor(call: ConnectCall): ServerEntry {
  const { remote, explicitScope: named } = call.getEnvironment()
  if (remote !== null) {
    return createHttpEntry({
      url: remote.url,
      ...(remote.key === null ? {} : { key: remote.key }),
      ...(call.options['plain-key'] ? {} : { keyVariable: KEY_VARIABLE }),
    })
  }
  const program = programFor(call)
  const { explicitDataFolder: dataNamed } = call.getEnvironment()
  return createStdioEntry({
    program,
    ...(named.owner === undefined ? {} : { owner: named.owner }),
    ...(dataNamed === null ? {} : { data: dataNamed }),
    tools: parseToolSets(call),
  })
}

function programFor({ host: { program } }: ConnectCall): readonly [string, ...string[]] {
  if (program !== null) return program
  throw new UsageError(
    'This copy of Recollect is in the cache of npx, which may be cleared, so a client cannot be told to start it.',
    'Install it with `npm install --global recollect`, or connect to a running server with --url and --key.',
  )
}

/** How the client gets the key of a server. */
function keyAdvice(call: ConnectCall, name: ClientName): readonly string[] {
  const { remote } = call.getEnvironment()
  if (remote === null || remote.key === null || call.options.remove) return []
  const { title } = CLIENTS[name]
  if (call.options['plain-key'] || !supportsKeyVariable(name)) {
    return [`The file contains the key in clear text. Keep it readable for yourself only.`]
  }
  return [
    `${title} reads the key from the environment: set ${KEY_VARIABLE} where it is started, or use --plain-key.`,
  ]
}

async function planFor(
  call: ConnectCall,
  name: ClientName,
  platform: Platform,
): Promise<ConfigChange> {
  const { home } = call.host.homes
  const existing = await textOf(configPath(name, platform, home))
  return call.options.remove
    ? planRemoval(name, platform, home, existing)
    : planInstallation(name, platform, home, existing, entryFor(call))
}

async function textOf(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (getSystemErrorCode(error) === 'ENOENT') return null
    throw toFileError(error, path)
  }
}

async function written(
  call: ConnectCall,
  name: ClientName,
  plans: readonly ConfigChange[],
): Promise<CommandResult> {
  const { title } = CLIENTS[name]
  const changes = plans.filter(({ isChanged }) => isChanged)
  const [entry, hooks] = plans
  if (changes.length === 0) {
    const state = call.options.remove ? 'has no such entry' : 'is connected already'
    const json = { client: name, path: entry?.path, changed: false, backup: null }
    return { json, text: `${title} ${state} (${entry?.path}).` }
  }
  for (const { path, before, after } of changes) {
    const diff = unifiedDiff(path, before, after)
    if (!call.isJson) await call.host.stderr.write(`${colored(call.style, diff)}\n`)
  }
  const paths = [...new Set(changes.map(({ path }) => path))].join(' and ')
  await confirmAction(call, `Change ${paths}?`, 'Nothing was changed.')
  const backups = new Map<string, string | null>()
  for (const { path, before, after } of changes) {
    const backup = before === null ? null : backupPath(path, new Date(call.host.now()))
    await replace(path, after, backup)
    backups.set(path, backup)
  }
  const saved = [...backups.values()].filter((path) => path !== null)
  const lines = [
    call.options.remove ? `${title} is no longer connected.` : `${title} is connected.`,
    ...saved.map((path) => `The file as it was: ${path}`),
    ...keyAdvice(call, name),
    ...new Set(changes.map(({ next }) => next)),
  ]
  const report = (plan: ConfigChange) => ({
    path: plan.path,
    changed: plan.isChanged,
    backup: backups.get(plan.path) ?? null,
  })
  const json = {
    client: name,
    ...(entry === undefined ? {} : report(entry)),
    ...(hooks === undefined ? {} : { hooks: report(hooks) }),
  }
  return { json, text: lines.join('\n') }
}

/** Replaces the file atomically, because the client may be reading it. */
async function replace(named: string, text: string, backup: string | null): Promise<void> {
  // Follows symbolic links, because many people link their configuration files.
  const path = backup === null ? named : await realpath(named)
  try {
    await mkdir(dirname(path), { recursive: true })
    const mode = backup === null ? 0o600 : (await stat(path)).mode & 0o777
    if (backup !== null) await copyFile(path, backup)
    await writeFileAtomic(path, text, { mode })
  } catch (error) {
    throw toFileError(error, path)
  }
}

function colored({ green, red }: Style, diff: string): string {
  return diff
    .split('\n')
    .map((line) => {
      if (/^\+(?!\+\+)/.test(line)) return green(line)
      return /^-(?!--)/.test(line) ? red(line) : line
    })
    .join('\n')
}
