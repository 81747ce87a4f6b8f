/**
 * MCP client programs: where each keeps its configuration, and the form of our entry in it. Pure:
 * no file is read or written here.
 */
import { posix, win32 } from 'node:path'
import { AppError } from '../../../lib/errors.ts'
import type { ToolSets } from '../tool-registry.ts'
import { removeJsoncValue, setJsoncValue } from './jsonc-editor.ts'
import { removeTomlTable, setTomlTable, type TomlValue } from './toml-editor.ts'

export { unifiedDiff } from './unified-diff.ts'

export type Platform = 'darwin' | 'linux' | 'win32'

/** How a client reaches memory: it starts a process (stdio) or connects to a server (HTTP). */
export type ServerEntry =
  | {
      readonly kind: 'stdio'
      readonly command: string
      readonly args: readonly string[]
      readonly env?: { readonly [name: string]: string }
    }
  | {
      readonly kind: 'http'
      readonly url: string
      readonly headers: { readonly [name: string]: string }
      /** The environment variable that the client reads the key from; null when the key is in the headers. */
      readonly keyVariable: string | null
    }

type Fields = { readonly [field: string]: TomlValue }

type Client = {
  /** The program's name as its makers write it. */
  readonly title: string
  /** Relative to its base folder: the home folder, or the platform's settings folder. */
  readonly path: { readonly [Each in Platform]: readonly ['home' | 'settings', ...string[]] }
  readonly form: 'json' | 'toml'
  /** The path of the server list within the file. */
  readonly servers: string
  /** How its file refers to an environment variable in a header; without it, keys stand there in clear text. */
  readonly variable?: (name: string) => string
  /** Null where the client supports no HTTP servers. */
  readonly fields: (entry: ServerEntry) => Fields | null
  /** What the user does next. */
  readonly next: string
}

export type ConfigChange = {
  readonly path: string
  readonly before: string | null
  readonly after: string
  readonly isChanged: boolean
  /** Shown to the user after the file was written. */
  readonly next: string
}

export const ENTRY_NAME = 'recollect'

export const CLIENTS = {
  'claude-desktop': {
    title: 'Claude Desktop',
    path: onEveryPlatform('settings', 'Claude', 'claude_desktop_config.json'),
    form: 'json',
    servers: 'mcpServers',
    fields: (entry) => (entry.kind === 'stdio' ? commandFields(entry) : null),
    next: 'Quit Claude Desktop completely and start it again.',
  },
  'claude-code': {
    title: 'Claude Code',
    path: onEveryPlatform('home', '.claude.json'),
    form: 'json',
    servers: 'mcpServers',
    fields: (entry) =>
      entry.kind === 'stdio'
        ? { type: 'stdio', ...commandFields(entry) }
        : { type: 'http', url: entry.url, headers: entry.headers },
    next: 'Start a new session; /mcp shows the server.',
  },
  cursor: {
    title: 'Cursor',
    path: onEveryPlatform('home', '.cursor', 'mcp.json'),
    form: 'json',
    variable: (name) => `\${env:${name}}`,
    servers: 'mcpServers',
    fields: (entry) =>
      entry.kind === 'stdio' ? commandFields(entry) : { url: entry.url, headers: entry.headers },
    next: 'Restart Cursor, and switch the server on in its settings under MCP.',
  },
  vscode: {
    title: 'Visual Studio Code',
    path: onEveryPlatform('settings', 'Code', 'User', 'mcp.json'),
    form: 'json',
    variable: (name) => `\${env:${name}}`,
    servers: 'servers',
    fields: (entry) =>
      entry.kind === 'stdio'
        ? { type: 'stdio', ...commandFields(entry) }
        : { type: 'http', url: entry.url, headers: entry.headers },
    next: 'Run the command “MCP: List Servers” and start it there.',
  },
  windsurf: {
    title: 'Windsurf',
    path: onEveryPlatform('home', '.codeium', 'windsurf', 'mcp_config.json'),
    form: 'json',
    variable: (name) => `\${env:${name}}`,
    servers: 'mcpServers',
    fields: (entry) =>
      entry.kind === 'stdio'
        ? commandFields(entry)
        : { serverUrl: entry.url, headers: entry.headers },
    next: 'Press refresh in the list of MCP servers.',
  },
  zed: {
    title: 'Zed',
    path: {
      darwin: ['home', '.config', 'zed', 'settings.json'],
      linux: ['home', '.config', 'zed', 'settings.json'],
      win32: ['settings', 'Zed', 'settings.json'],
    },
    form: 'json',
    servers: 'context_servers',
    fields: (entry) =>
      entry.kind === 'stdio' ? commandFields(entry) : { url: entry.url, headers: entry.headers },
    next: 'The settings of the agent panel show the server.',
  },
  codex: {
    title: 'Codex',
    path: onEveryPlatform('home', '.codex', 'config.toml'),
    form: 'toml',
    servers: 'mcp_servers',
    variable: (name) => name,
    fields: (entry) => {
      if (entry.kind === 'stdio') return commandFields(entry)
      const { url, headers, keyVariable } = entry
      return keyVariable === null
        ? { url, http_headers: headers }
        : { url, bearer_token_env_var: keyVariable }
    },
    next: 'Start a new session; /mcp shows the server.',
  },
  gemini: {
    title: 'Gemini CLI',
    path: onEveryPlatform('home', '.gemini', 'settings.json'),
    form: 'json',
    variable: (name) => `\${${name}}`,
    servers: 'mcpServers',
    fields: (entry) =>
      entry.kind === 'stdio'
        ? commandFields(entry)
        : { httpUrl: entry.url, headers: entry.headers },
    next: 'Start a new session; /mcp shows the server.',
  },
} as const satisfies { readonly [name: string]: Client }

export type ClientName = keyof typeof CLIENTS

export function clientNames(): readonly ClientName[] {
  return Object.keys(CLIENTS) as ClientName[] // the table's own names
}

export function isClientName(name: string): name is ClientName {
  return Object.hasOwn(CLIENTS, name)
}

/**
 * An entry that starts a program. It is always a file of this installation: a name that the client looks up in a registry
 * could be somebody else's package.
 */
export function createStdioEntry(options: {
  /** The command and its first arguments. */
  readonly program: readonly [string, ...string[]]
  readonly owner?: string
  readonly data?: string
  readonly tools?: ToolSets
}): ServerEntry {
  const { owner, data, tools, program } = options
  const given = [
    'mcp',
    ...(owner === undefined ? [] : ['--owner', owner]),
    ...(data === undefined ? [] : ['--data', data]),
    ...(tools?.hasCompatibilityTools === true ? ['--compatibility-tools'] : []),
    ...(tools?.hasExtendedTools === true ? ['--extended-tools'] : []),
  ]
  const [command, ...args] = program
  return { kind: 'stdio', command, args: [...args, ...given] }
}

/** An entry for a running server. The URL may omit `/mcp`. With `keyVariable`, the file names that variable for the key. */
export function createHttpEntry(options: {
  readonly url: string
  readonly key?: string
  readonly keyVariable?: string
}): ServerEntry {
  const address = URL.canParse(options.url) ? new URL(options.url) : null
  if (address === null || !/^https?:$/.test(address.protocol)) {
    throw new AppError('invalid_input', '`url` must have the form http://127.0.0.1:20128.', {
      field: 'url',
    })
  }
  if (address.pathname === '/') address.pathname = '/mcp'
  const headers = options.key === undefined ? {} : { Authorization: `Bearer ${options.key}` }
  const keyVariable = options.key === undefined ? null : (options.keyVariable ?? null)
  return { kind: 'http', url: address.href, headers, keyVariable }
}

/** The configuration file of a client. */
export function configPath(name: ClientName, platform: Platform, home: string): string {
  const { join } = platform === 'win32' ? win32 : posix
  const [base, ...parts] = CLIENTS[name].path[platform]
  return join(home, ...(base === 'home' ? [] : SETTINGS_FOLDER[platform]), ...parts)
}

const SETTINGS_FOLDER: { readonly [Each in Platform]: readonly string[] } = {
  darwin: ['Library', 'Application Support'],
  linux: ['.config'],
  win32: ['AppData', 'Roaming'],
}

/** The backup path. The timestamp keeps earlier backups. */
export function backupPath(path: string, at: Date): string {
  return `${path}.${at.toISOString().replaceAll(/[-:]|\.\d+/g, '')}.backup`
}

/** The file with our entry in it. `existing` is its text, or null when there is none. */
export function planInstallation(
  name: ClientName,
  platform: Platform,
  home: string,
  existing: string | null,
  entry: ServerEntry,
): ConfigChange {
  const client: Client = CLIENTS[name]
  const path = configPath(name, platform, home)
  const fields = client.fields(referToKey(client, entry))
  if (fields === null) {
    throw new AppError(
      'invalid_input',
      `${client.title} starts programs from its file and asks no servers. Connect it without a url.`,
    )
  }
  const place = [client.servers, ENTRY_NAME]
  const after = withPathInError(path, () =>
    client.form === 'toml'
      ? setTomlTable(existing ?? '', place, fields)
      : setJsoncValue(existing ?? '', place, fields),
  )
  return { path, before: existing, after, isChanged: after !== existing, next: client.next }
}

/** Whether the file of this client names an environment variable instead of holding the key. */
export function supportsKeyVariable(name: ClientName): boolean {
  const client: Client = CLIENTS[name]
  return client.variable !== undefined
}

/** The entry with the key by reference, where its client can read one. */
function referToKey({ variable }: Client, entry: ServerEntry): ServerEntry {
  if (entry.kind === 'stdio' || entry.keyVariable === null) return entry
  if (variable === undefined) return { ...entry, keyVariable: null }
  return { ...entry, headers: { Authorization: `Bearer ${variable(entry.keyVariable)}` } }
}

/** The file without our entry. */
export function planRemoval(
  name: ClientName,
  platform: Platform,
  home: string,
  existing: string | null,
): ConfigChange {
  const client: Client = CLIENTS[name]
  const path = configPath(name, platform, home)
  const place = [client.servers, ENTRY_NAME]
  const after = withPathInError(path, () =>
    client.form === 'toml'
      ? removeTomlTable(existing ?? '', place)
      : removeJsoncValue(existing ?? '', place),
  )
  const changed = existing !== null && after !== existing
  return { path, before: existing, after, isChanged: changed, next: client.next }
}

/** Errors name the file and leave the decision to the user. */
export function withPathInError(path: string, change: () => string): string {
  try {
    return change()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw new AppError(
      'invalid_input',
      `${path}: ${error.message} Nothing was changed; --print shows the entry to put in by hand.`,
    )
  }
}

/** Our entry as it would stand in the file, for `--print`. */
export function renderEntry(name: ClientName, platform: Platform, entry: ServerEntry): string {
  return planInstallation(name, platform, '', null, entry).after
}

function onEveryPlatform(...path: readonly ['home' | 'settings', ...string[]]): Client['path'] {
  return { darwin: path, linux: path, win32: path }
}

function commandFields({ command, args, env }: Extract<ServerEntry, { kind: 'stdio' }>): Fields {
  return { command, args, ...(env === undefined ? {} : { env }) }
}
