/** Servers: HTTP and MCP over stdio. */
import type { Engine } from '../../../../engine/engine.ts'
import { MINUTE_MS } from '../../../../lib/time.ts'
import type { ServerNetworkOptions } from '../../../http/server-options.ts'
import type { ToolSets } from '../../../mcp/tool-registry.ts'
import { defineCommand, type Invocation, UsageError } from '../../command.ts'
import type { RunningServer } from '../../host.ts'
import { parseInteger } from '../../input/option-values.ts'
import { createStyle } from '../../output/text-rendering.ts'

const PORT_MAX = 65_535

const SERVE_OPTIONS = {
  host: {
    kind: 'value',
    value: 'address',
    help: 'The address to listen on. Default: 127.0.0.1, this machine only.',
  },
  port: { kind: 'value', value: 'n', help: 'The port. Default: 20128; 0 for any free port.' },
  'no-auth': {
    kind: 'flag',
    help: 'Disable authentication. Use it only on addresses that no one else can reach.',
  },
  'tls-cert': { kind: 'value', value: 'file', help: 'TLS certificate file, for HTTPS.' },
  'tls-key': { kind: 'value', value: 'file', help: 'TLS private key file.' },
  'trust-proxy': {
    kind: 'flag',
    help: 'Trust the forwarded headers of a reverse proxy.',
  },
  'allow-host': {
    kind: 'values',
    value: 'name',
    help: 'An additional host name, such as memory.example.org; repeatable.',
  },
  'allow-origin': {
    kind: 'values',
    value: 'origin',
    help: 'An allowed origin of web pages, such as https://app.example.org; repeatable.',
  },
} as const

type ServeCall = Invocation<typeof SERVE_OPTIONS>

export const serveCommand = defineCommand({
  name: 'serve',
  group: 'Server',
  summary: 'Run the HTTP server.',
  details:
    'The first start creates a management key and shows it once. Ctrl-C or SIGTERM stops ' +
    'the server after running requests; a second one stops it immediately.',
  arguments: [],
  options: SERVE_OPTIONS,
  examples: [
    'recollect serve',
    'recollect serve --host 0.0.0.0 --tls-cert server.crt --tls-key server.key',
  ],
  isLocalOnly: true,
  async run(call) {
    const { host } = call
    const { listen, serve: startServing, embeddingProviders } = call.getEnvironment()
    const { host: address = listen.host, port } = call.options
    const server = serverOf(call)
    if (call.options['no-auth'] && !isLoopback(address)) {
      throw new UsageError(
        `--no-auth would give access to anyone who can reach ${address}.`,
        'Remove it, or listen on 127.0.0.1.',
      )
    }
    const number = port === undefined ? listen.port : parseInteger('port', port, 0, PORT_MAX)
    return withEngine(call, async (engine) => {
      const serving = await startServing({
        host: address,
        port: number,
        engine,
        version: host.version,
        auth: call.options['no-auth'] ? 'off' : 'keys',
        ...server,
        embeddingProviders,
      })
      // Lexical search works meanwhile; `status` reports failures.
      engine.warmUp().catch(() => {})
      const upkeep = setInterval(() => catchUp(engine).catch(() => {}), CATCH_UP_MS)
      try {
        await announce(call, serving)
        await stopped(host.stopSignal)
        if (!call.isJson) await host.stderr.write('Stopping…\n')
      } finally {
        clearInterval(upkeep)
        await serving.close()
      }
      return null
    })
  },
})

/** Also embeds what other processes write. */
async function catchUp(engine: Engine): Promise<void> {
  const { index } = await engine.status()
  if (index !== null && index.withoutVector > 0 && index.queued === 0) await engine.warmUp()
}
const CATCH_UP_MS = MINUTE_MS

function serverOf(call: ServeCall): ServerNetworkOptions {
  const { options: given } = call
  const { server } = call.getEnvironment()
  const { 'tls-cert': certFile, 'tls-key': keyFile } = given
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new UsageError('--tls-cert and --tls-key must be set together.')
  }
  return {
    tls: certFile === undefined || keyFile === undefined ? server.tls : { certFile, keyFile },
    trustProxy: given['trust-proxy'] || server.trustProxy,
    allowedHosts: [...server.allowedHosts, ...given['allow-host']],
    allowedOrigins: [...server.allowedOrigins, ...given['allow-origin']],
  }
}

/** Prints the address and the first key, which is shown only once. */
async function announce(
  call: ServeCall,
  { url, managementKey, signInUrl, warnings = [] }: RunningServer,
): Promise<void> {
  const { host } = call
  const { yellow } = createStyle(host.stderr, host.hasColor)
  for (const warning of warnings) await host.stderr.write(`${yellow('Warning:')} ${warning}\n`)
  if (call.isJson) {
    const key = managementKey == null ? {} : { managementKey }
    const signIn = signInUrl == null ? {} : { signInUrl }
    return host.stdout.write(`${JSON.stringify({ url, ...key, ...signIn })}\n`)
  }
  const lines = [
    `Recollect ${host.version} listens on ${url}`,
    `Memories: ${call.getEnvironment().database.file}`,
    `Studio:   ${signInUrl ?? url}${signInUrl == null ? '' : '  (signs you in once, within 15 minutes)'}`,
    ...(managementKey == null ? [] : firstKey(call, url, managementKey)),
    'Stop it with Ctrl-C.',
  ]
  await host.stdout.write(`${lines.join('\n')}\n`)
}

function firstKey({ style }: Invocation, url: string, key: string): readonly string[] {
  return [
    '',
    'The management key has full access and is shown only once. Store it in a safe place:',
    '',
    `  ${style.bold(key)}`,
    '',
    `Try it:            RECOLLECT_API_KEY=${key} recollect status --url ${url}`,
    'For programs:      recollect keys create "what it is for" --role agent',
    'When it is lost:   recollect keys reset',
    '',
  ]
}

const LOOPBACK = /^(127(\.\d{1,3}){3}|::1|\[::1\]|localhost)$/i

function isLoopback(address: string): boolean {
  return LOOPBACK.test(address)
}

export const TOOL_OPTIONS = {
  'compatibility-tools': {
    kind: 'flag',
    help: 'Also offer tools with the names of other memory servers.',
  },
  'extended-tools': { kind: 'flag', help: 'Also offer tools for conversations and maintenance.' },
} as const

/** Origins from the option or the environment. */
export function parseToolSets(call: Invocation<typeof TOOL_OPTIONS>): ToolSets {
  const { 'compatibility-tools': compatibility, 'extended-tools': extended } = call.options
  const { mcpTools } = call.getEnvironment()
  return {
    hasCompatibilityTools: compatibility || mcpTools.hasCompatibilityTools,
    hasExtendedTools: extended || mcpTools.hasExtendedTools,
  }
}

export const mcpCommand = defineCommand({
  name: 'mcp',
  group: 'Server',
  summary: 'Run an MCP server over stdio.',
  details:
    'Clients start this command; `recollect connect` configures them. The model can ' +
    'access the memories of the given owner and user only.',
  arguments: [],
  options: TOOL_OPTIONS,
  examples: ['recollect mcp', 'recollect mcp --owner ada --compatibility-tools'],
  isLocalOnly: true,
  async run(call) {
    const { scope, embeddingProviders, serveMcp } = call.getEnvironment()
    return withEngine(call, async (engine) => {
      engine.warmUp().catch(() => {})
      await serveMcp({
        engine,
        version: call.host.version,
        scope,
        tools: parseToolSets(call),
        embeddingProviders,
        stop: call.host.stopSignal,
      })
      return null
    })
  },
})

export async function withEngine<Result>(
  call: Invocation,
  work: (engine: Engine) => Promise<Result>,
): Promise<Result> {
  const engine = await call.getEnvironment().database.openEngine({ create: true })
  try {
    return await work(engine)
  } finally {
    await engine.close()
  }
}

function stopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
