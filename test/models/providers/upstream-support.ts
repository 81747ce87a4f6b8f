/** Providers and servers for tests of what is sent to providers. */
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server as NetServer,
  type Socket,
} from 'node:net'
import { afterEach } from 'vitest'
import type { Provider } from '../../../src/models/provider.ts'
import {
  createHttpUpstream,
  type HttpUpstreamOptions,
} from '../../../src/models/providers/http-upstream.ts'
import type { Upstream, UpstreamRequest, UpstreamResponse } from '../../../src/models/upstream.ts'

const open: (() => Promise<void>)[] = []

/** To be called once by each file that uses the rest. */
export function cleanUpAfterEach(): void {
  afterEach(async () => {
    for (const close of open.splice(0).reverse()) await close()
  })
}

export function provider(baseUrl: string, rest: Partial<Provider> = {}): Provider {
  return {
    name: 'scripted',
    kind: 'openai',
    baseUrl,
    key: null,
    models: [],
    systemRole: null,
    supportsTools: true,
    isPrivate: false,
    headers: {},
    timeouts: { connectMs: 10_000, firstByteMs: 20_000, idleMs: 20_000 },
    ...rest,
  }
}

export function upstream(options: HttpUpstreamOptions = {}): Upstream {
  const created = createHttpUpstream(options)
  open.push(() => created.close())
  return created
}

export function request(to: Provider, rest: Partial<UpstreamRequest> = {}): UpstreamRequest {
  return {
    provider: to,
    method: 'POST',
    path: '/chat/completions',
    headers: [['content-type', 'application/json']],
    body: Buffer.from('{"model":"m"}'),
    signal: new AbortController().signal,
    ...rest,
  }
}

export type Listening = { readonly url: string; readonly port: number }

export async function serve(listener: RequestListener, port = 0): Promise<Listening> {
  return listen(createServer(listener), 'http', port)
}

export async function listen(server: Server, scheme: string, port = 0): Promise<Listening> {
  open.push(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return listening(server, scheme, port)
}

/** A server that speaks in bytes. `connection` hears each socket with its number, from 0. */
export async function serveRaw(
  connection: (socket: Socket, number: number) => void,
): Promise<Listening> {
  const sockets = new Set<Socket>()
  let count = 0
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    connection(socket, count++)
  })
  open.push(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return listening(server, 'http')
}

async function listening(server: NetServer, scheme: string, wanted = 0): Promise<Listening> {
  await new Promise<void>((resolve) => server.listen(wanted, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on a port
  return { url: `${scheme}://127.0.0.1:${port}/v1`, port }
}

/** A port of this machine that nobody listens on. */
export async function closedPort(): Promise<number> {
  const server = createTcpServer()
  const { port } = await listening(server, 'http')
  await new Promise((resolve) => server.close(resolve))
  return port
}

export async function textOf({ body }: Pick<UpstreamResponse, 'body'>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

export async function bodyOf(incoming: IncomingMessage): Promise<string> {
  return textOf({ body: incoming })
}

/** A promise, and what fulfils it. */
export function awaited<Value>(): {
  readonly promise: Promise<Value>
  readonly resolve: (value: Value) => void
} {
  let resolve: (value: Value) => void = () => {}
  const promise = new Promise<Value>((fulfil) => {
    resolve = fulfil
  })
  return { promise, resolve }
}
