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
  remove: { kind: 'flag', help: 'Remove the entry.' },
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
    'installation with the given `--data` and `--owner`.',
  arguments: [{ name: 'client', help: `One of ${clientNames().join(', ')}.`, isRequired: true }],
  options: OPTIONS,
  examples: [
    'recollect connect claude-desktop',
    'recollect connect cursor --url http://127.0.0.1:20128 --key rc_…',
    'recollect connect vscode --print',
  ],
  async run(call) {
    const name = clientNamed(call.positionals[0] ?? '')
    if (call.options.print && call.options.remove) {
      throw new UsageError('--print and --remove cannot be combined.')
    }
    const platform = platformOf(call)
    if (call.options.print) {
      const { home } = call.host.homes
      const text = renderEntry(name, platform, entryFor(call))
      const json = { client: name, path: configPath(name, platform, home), text }
      return { json, text: text.trimEnd() }
    }
    return written(call, name, await planFor(call, name, platform))
  },
})

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
  const { program } = call.host
  if (program === null) {
    throw new UsageError(
      'This copy of Recollect is in the cache of npx, which may be cleared, so a client cannot be told to start it.',
      'Install it with `npm install --global recollect`, or connect to a running server with --url and --key.',
    )
  }
  const { explicitDataFolder: dataNamed } = call.getEnvironment()
  return createStdioEntry({
    program,
    ...(named.owner === undefined ? {} : { owner: named.owner }),
    ...(dataNamed === null ? {} : { data: dataNamed }),
    tools: parseToolSets(call),
  })
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
  planned: ConfigChange,
): Promise<CommandResult> {
  const { path, before, after, isChanged: changed, next } = planned
  const { title } = CLIENTS[name]
  const about = { client: name, path, changed }
  if (!changed) {
    const state = call.options.remove ? 'has no such entry' : 'is connected already'
    return { json: { ...about, backup: null }, text: `${title} ${state} (${path}).` }
  }
  const diff = unifiedDiff(path, before, after)
  if (!call.isJson) await call.host.stderr.write(`${colored(call.style, diff)}\n`)
  await confirmAction(call, `Change ${path}?`, 'Nothing was changed.')
  const backup = before === null ? null : backupPath(path, new Date(call.host.now()))
  await replace(path, after, backup)
  const lines = [
    call.options.remove ? `${title} is no longer connected.` : `${title} is connected.`,
    ...(backup === null ? [] : [`The file as it was: ${backup}`]),
    ...keyAdvice(call, name),
    next,
  ]
  return { json: { ...about, backup }, text: lines.join('\n') }
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
