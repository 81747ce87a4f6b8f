/** An engine behind an MCP door on a free port, and the official clients of both generations to talk to it. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { PassThrough } from 'node:stream'
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client'
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport as FirstTransportType } from '@modelcontextprotocol/sdk/shared/transport.js'
import { createMcpHttpHandler } from '../../../src/api/mcp/http-transport.ts'
import type { ToolSets } from '../../../src/api/mcp/tool-registry.ts'
import type { Caller } from '../../../src/api/operations/authorization.ts'
import type { OperationContext } from '../../../src/api/operations/operation.ts'
import { createEngine } from '../../../src/app/composition.ts'
import type { Engine } from '../../../src/engine/engine.ts'

export const VERSION = '9.9.9'
export const ANN: Caller = { key: null, role: 'user', home: 'ann', actsFor: [] }
export const BEN: Caller = { key: null, role: 'user', home: 'ben', actsFor: [] }
export const ADMIN: Caller = { key: null, role: 'superadmin', home: 'admin', actsFor: [] }

export function contextsOf(engine: Engine) {
  return (caller: Caller, signal: AbortSignal): OperationContext => ({
    engine,
    caller,
    version: VERSION,
    embeddingProviders: [],
    signal,
  })
}

export type Host = {
  readonly engine: Engine
  readonly url: URL
  /** Who calls from now on. */
  as(caller: Caller): void
  readonly errors: readonly Error[]
  close(): Promise<void>
}

export async function openHost(
  options: Partial<ToolSets> & { readonly engine?: Engine } = {},
): Promise<Host> {
  const engine = options.engine ?? (await createEngine({ embedding: false }))
  const errors: Error[] = []
  const door = createMcpHttpHandler({
    contextOf: contextsOf(engine),
    version: VERSION,
    hasCompatibilityTools: options.hasCompatibilityTools ?? false,
    hasExtendedTools: options.hasExtendedTools ?? false,
    onError: (error) => errors.push(error),
  })
  let caller = ANN
  const server = createServer((request, response) => {
    door.handle(request, response, caller).catch((error: Error) => {
      errors.push(error)
      response.destroy()
    })
  })
  await listen(server)
  const { port } = server.address() as AddressInfo // it listens on a port
  return {
    engine,
    url: new URL(`http://127.0.0.1:${port}/mcp`),
    as: (next) => {
      caller = next
    },
    errors,
    close: async () => {
      await door.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await engine.close()
    },
  }
}

function listen(server: Server): Promise<void> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
}

export type Called = {
  readonly text: string
  readonly structured: { readonly [field: string]: unknown }
  readonly isError: boolean
}

export type TestClient = {
  readonly tools: () => Promise<readonly ListedTool[]>
  readonly call: (name: string, given?: { [field: string]: unknown }) => Promise<Called>
  readonly close: () => Promise<void>
}

export type ListedTool = {
  readonly name: string
  readonly description?: string | undefined
  readonly inputSchema: { readonly [keyword: string]: unknown }
  readonly outputSchema?: { readonly [keyword: string]: unknown } | undefined
  readonly annotations?: { readonly [hint: string]: unknown } | undefined
}

const INFO = { name: 'tests', version: '1.0.0' }

/** One of each kind that must work on the one address. */
export const CLIENTS: {
  readonly [name: string]: (url: URL, fetch?: typeof globalThis.fetch) => Promise<TestClient>
} = {
  'SDK 1': async (url) => {
    const client = new FirstClient(INFO)
    await client.connect(new FirstTransport(url) as FirstTransportType) // its types disagree on undefined
    return toTestClient(client)
  },
  'SDK 2': (url) => modern(url, 'legacy'),
  'SDK 2, auto': (url) => modern(url, 'auto'),
  'SDK 2, pinned': (url) => modern(url, { pin: '2026-07-28' }),
}

async function modern(url: URL, mode: 'legacy' | 'auto' | { pin: string }): Promise<TestClient> {
  const client = new ModernClient(INFO, { versionNegotiation: { mode } })
  await client.connect(new ModernTransport(url))
  return toTestClient(client)
}

type AnyClient = {
  listTools(): Promise<{ tools: readonly object[] }>
  callTool(params: { name: string; arguments?: { [field: string]: unknown } }): Promise<object>
  close(): Promise<void>
}

export function toTestClient(given: object): TestClient {
  const client = given as AnyClient // both generations have these
  return {
    tools: async () => (await client.listTools()).tools as readonly ListedTool[],
    call: async (name, fields = {}) => {
      const result = (await client.callTool({ name, arguments: fields })) as {
        content: readonly { text: string }[]
        structuredContent?: { [field: string]: unknown }
        isError?: boolean
      }
      return {
        text: result.content.map(({ text }) => text).join('\n'),
        structured: result.structuredContent ?? {},
        isError: result.isError ?? false,
      }
    },
    close: () => client.close(),
  }
}

type Message = { readonly [field: string]: unknown }

/** A transport of the clients over two streams. */
export function transportOver(stdin: PassThrough, stdout: PassThrough) {
  let rest = ''
  const transport = {
    onmessage: undefined as ((message: Message) => void) | undefined,
    onclose: undefined as (() => void) | undefined,
    start: async () => {
      stdout.on('data', (piece: Buffer) => {
        const lines = (rest + piece.toString()).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) transport.onmessage?.(JSON.parse(line))
      })
    },
    send: async (message: object) => void stdin.write(`${JSON.stringify(message)}\n`),
    close: async () => {
      stdin.end()
      transport.onclose?.()
    },
  }
  return transport as never // as much of a transport as either client needs
}
