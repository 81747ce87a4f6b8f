/** The server as a part of another program: REST, MCP, gateway, Studio and docs over an engine that the program created. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RunningServer, ServeOptions } from '../api/cli/host.ts'
import type { ToolSets } from '../api/mcp/tool-registry.ts'
import type { Engine } from '../engine/engine.ts'
import { AppError } from '../lib/errors.ts'
import { readProviders } from './config/providers-file.ts'
import { serveWithGateway } from './gateway-mount.ts'
import { serveWithMcp } from './mcp-mount.ts'
import { readPackageVersion } from './package-version.ts'
import { createServerWith, serve } from './serve.ts'

const DEFAULT_PORT = 20_128

export type ServerOptions = {
  /** Stays open when the server closes. */
  readonly engine: Engine
  /** Default: `127.0.0.1`, this machine only. */
  readonly host?: string
  /** Default: 20128. 0 takes any free port. */
  readonly port?: number
  /** `off` gives everyone who reaches the port full access; allowed on loopback only. Default: `keys`. */
  readonly auth?: 'keys' | 'off'
  readonly tls?: { readonly certFile: string; readonly keyFile: string }
  /** Trusts `X-Forwarded-For` and `X-Forwarded-Proto`. Safe only behind a proxy that sets them. Default: false. */
  readonly trustProxy?: boolean
  /** Host names that the server answers to, besides its address. */
  readonly allowedHosts?: readonly string[]
  /** Origins of web pages that may call the API, such as `https://app.example`. */
  readonly allowedOrigins?: readonly string[]
  /** A providers file, as `recollect serve` reads it. Default: the providers that `environment` implies. */
  readonly providersFile?: string
  /** Holds the keys of providers, as `process.env` does. Nothing is read from the environment without it. */
  readonly environment?: { readonly [name: string]: string | undefined }
  /** Further sets of MCP tools. */
  readonly mcpTools?: Partial<ToolSets>
  /** Whether the server also runs background jobs: distillation, consolidation, re-embedding. Default: true. */
  readonly backgroundJobs?: boolean
  /** The body of `/metrics` in the text format of Prometheus; without it there is none. */
  readonly metrics?: () => Promise<string>
  /** How long running requests may take to finish when the server closes. */
  readonly graceMs?: number
}

const OPTIONS: ReadonlySet<string> = new Set<keyof ServerOptions>([
  ...(['engine', 'host', 'port', 'auth', 'tls', 'trustProxy', 'allowedHosts'] as const),
  ...(['allowedOrigins', 'providersFile', 'environment', 'mcpTools', 'backgroundJobs'] as const),
  ...(['metrics', 'graceMs'] as const),
])

export type EmbeddedServer = {
  /** Where it listens: `http://127.0.0.1:20128`. */
  readonly url: string
  /** The management key, if this start created one. It is not shown again. */
  readonly managementKey: string | null
  /** What an operator should know, such as plaintext connections. */
  readonly warnings: readonly string[]
  /** Stops accepting requests, lets running ones finish, and stops background jobs. The engine stays open. */
  close(): Promise<void>
}

/**
 * Serves an engine over HTTP: REST at `/api`, the gateway at `/v1`, MCP at `/mcp`, the Studio at `/` and the
 * documentation at `/docs`.
 *
 * @example
 * import { createEngine } from 'recollect'
 * import { startServer } from 'recollect/server'
 *
 * const engine = await createEngine({ path: 'memory.db' })
 * const server = await startServer({ engine, port: 0, environment: process.env })
 * console.log(server.url, server.managementKey)
 * await server.close()
 * await engine.close()
 */
export async function startServer(options: ServerOptions): Promise<EmbeddedServer> {
  const { managementKey = null, warnings = [], ...running } = await start(options, serve)
  return { ...running, managementKey, warnings }
}

export type RequestHandler = {
  /** Answers one request of a Node HTTP server. Paths are absolute: `/api`, `/v1`, `/mcp`, `/docs` and `/`. */
  handle(request: IncomingMessage, response: ServerResponse): void
  /** The management key, if this call created one. It is not shown again. */
  readonly managementKey: string | null
  /** Waits for running requests and stops background jobs. The engine stays open. */
  close(): Promise<void>
}

/**
 * The same without a port: answers requests of an HTTP server that the program runs. `host` is the address at which
 * clients reach that server.
 *
 * @example
 * import { createServer } from 'node:http'
 * import { createEngine } from 'recollect'
 * import { createRequestHandler } from 'recollect/server'
 *
 * const engine = await createEngine({ path: 'memory.db' })
 * const memory = await createRequestHandler({ engine })
 * createServer((request, response) => memory.handle(request, response)).listen(3000, '127.0.0.1')
 */
export async function createRequestHandler(
  options: Omit<ServerOptions, 'port' | 'tls'>,
): Promise<RequestHandler> {
  const { auth = 'keys', engine } = options
  let handle: RequestHandler['handle'] = () => {}
  const running = await start(options, async (resolved) => {
    const { server, close } = createServerWith(resolved)
    handle = (request, response) => {
      server.emit('request', request, response)
    }
    const managementKey = auth === 'off' ? null : await engine.admin.keys.ensureManagement()
    return { url: '', managementKey, close: () => close(options.graceMs) }
  })
  return {
    handle: (request, response) => handle(request, response),
    managementKey: running.managementKey ?? null,
    close: running.close,
  }
}

async function start(
  options: ServerOptions,
  listen: (options: ServeOptions) => Promise<RunningServer>,
): Promise<RunningServer> {
  assertKnownOptions(options)
  const { engine, providersFile = '', environment = {}, mcpTools = {} } = options
  const { backgroundJobs = true, host = '127.0.0.1', port = DEFAULT_PORT } = options
  const { providersFile: _p, environment: _e, mcpTools: _m, backgroundJobs: _b, ...rest } = options
  const registry = readProviders({
    path: providersFile,
    isNamed: providersFile !== '',
    environment,
  })
  const running = await serveWithGateway(
    { ...rest, host, port, version: readPackageVersion() },
    { registry },
    (observed) => serveWithMcp(observed, mcpTools, listen),
  )
  if (!backgroundJobs) return running
  // A store that is temporarily read-only can still be served.
  const starting = Promise.allSettled([engine.jobs.start(), engine.files?.start()])
  return {
    ...running,
    close: async () => {
      await starting
      await Promise.all([running.close(), engine.jobs.stop()])
    },
  }
}

/** A misspelled `auth` would leave the default in force. */
function assertKnownOptions(options: object): void {
  const unknown = Object.keys(options).find((name) => !OPTIONS.has(name))
  if (unknown === undefined) return
  const message = `The server has no option "${unknown}".`
  throw new AppError('invalid_input', message, { option: unknown })
}
