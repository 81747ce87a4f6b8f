/**
 * Mounts MCP: over stdio, for clients that start a process, and over HTTP on the server's port.
 */
import type { Readable, Writable } from 'node:stream'
import type { McpStdioOptions, RunningServer, ServeOptions } from '../api/cli/host.ts'
import { createMcpHttpHandler } from '../api/mcp/http-transport.ts'
import { localCaller, serveStdio } from '../api/mcp/stdio-transport.ts'
import type { ToolSets } from '../api/mcp/tool-registry.ts'
import type { Caller } from '../api/operations/authorization.ts'
import type { OperationContext } from '../api/operations/operation.ts'
import { serve } from './serve.ts'

const PATH = '/mcp'

/** While it serves, it also runs background jobs, as a server does. */
export async function serveMcpStdio(
  options: McpStdioOptions,
  streams: { readonly stdin: Readable; readonly stdout: Writable },
): Promise<void> {
  const { engine, version, scope, tools, stop } = options
  // A store that is temporarily read-only can still be served.
  const starting = Promise.allSettled([engine.jobs.start(), engine.files?.start()])
  try {
    await serveStdio({
      ...streams,
      contextOf: contextOf(options),
      version,
      ...tools,
      caller: localCaller(scope.owner, scope.user),
      signal: stop,
    })
  } finally {
    await starting
    await engine.jobs.stop()
  }
}

/** The server with MCP at `/mcp` on the same port. */
export async function serveWithMcp(
  options: ServeOptions,
  tools: Partial<ToolSets> = {},
  start: (options: ServeOptions) => Promise<RunningServer> = serve,
): Promise<RunningServer> {
  const { engine, version, embeddingProviders = [], mounts = [] } = options
  const door = createMcpHttpHandler({
    contextOf: contextOf({ engine, version, embeddingProviders }),
    version,
    ...tools,
  })
  const serving = await start({
    ...options,
    mounts: [...mounts, { path: PATH, handle: (...given) => door.handle(...given) }],
  })
  return {
    ...serving,
    close: async () => {
      // Clients keep streams open indefinitely, which would prevent the server from closing.
      await Promise.all([serving.close(), door.close()])
    },
  }
}

function contextOf(parts: Pick<OperationContext, 'engine' | 'version' | 'embeddingProviders'>) {
  const { engine, version, embeddingProviders } = parts
  return (caller: Caller, signal: AbortSignal): OperationContext => ({
    engine,
    caller,
    version,
    embeddingProviders,
    signal,
  })
}
