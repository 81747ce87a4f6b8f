/**
 * MCP over stdio, for clients that start a process. Output carries protocol messages only. The
 * session ends with the input, after pending calls have been answered.
 */
import { PassThrough, type Readable, type Writable } from 'node:stream'
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
  type RequestId,
  type Transport,
} from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio as serve } from '@modelcontextprotocol/server/stdio'
import { yieldToEventLoop } from '../../lib/event-loop.ts'
import { resolvesWithin } from '../../lib/timeout.ts'
import type { Caller } from '../operations/authorization.ts'
import { createMcpServerFactory, type McpServerOptions } from './mcp-server.ts'

export type StdioOptions = McpServerOptions & {
  readonly caller: Caller
  readonly stdin: Readable
  readonly stdout: Writable
  /** Ends the session at once. */
  readonly signal: AbortSignal
}

const MESSAGE_BYTES_MAX = 10_485_760
/** Time limit for pending calls after the input has ended. */
const SHUTDOWN_GRACE_MS = 10_000

/** The local user, restricted to one owner, so that a model cannot reach other owners. */
export function localCaller(owner: string, user?: string): Caller {
  const caller = { key: null, role: 'user', home: owner, actsFor: [] } as const
  return user === undefined ? caller : { ...caller, user }
}

/** Resolves when the session has ended. */
export async function serveStdio(options: StdioOptions): Promise<void> {
  const { caller, stdin, stdout, signal, onError } = options
  if (signal.aborted) return
  const servers = createMcpServerFactory(options)
  const connection = new Connection(stdin, stdout)
  const ended = new AbortController()
  const session = { connection: ended.signal }
  const handle = serve(({ era }) => servers.serverFor(caller, { era, ...session }), {
    transport: connection,
    ...(onError === undefined ? {} : { onerror: onError }),
  })
  const stop = () => void handle.close()
  signal.addEventListener('abort', stop, { once: true })
  await connection.closed
  ended.abort()
  signal.removeEventListener('abort', stop)
  await handle.close()
}

/** The SDK's transport drops pending calls when the input ends; this one answers them first. */
class Connection implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly closed: Promise<void>
  readonly #inner: StdioServerTransport
  readonly #input = new PassThrough()
  readonly #pending = new Set<RequestId>()
  #onSettled: () => void = () => {}
  #finishing: Promise<void> | undefined

  constructor(stdin: Readable, stdout: Writable) {
    this.#inner = new StdioServerTransport(this.#input, stdout, {
      maxBufferSize: MESSAGE_BYTES_MAX,
    })
    stdin.pipe(this.#input, { end: false })
    const finish = () => {
      this.#finishing ??= this.#finish()
    }
    for (const end of ['end', 'close', 'error']) stdin.once(end, finish)
    this.closed = new Promise((resolve) => {
      this.#inner.onclose = () => {
        resolve()
        this.#onSettled()
        stdin.destroy()
        this.#input.destroy()
        this.onclose?.()
      }
    })
    this.#inner.onerror = (error) => this.onerror?.(error)
    this.#inner.onmessage = (message) => {
      this.#trackRequest(message)
      this.onmessage?.(message)
    }
  }

  start(): Promise<void> {
    return this.#inner.start()
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await this.#inner.send(message)
    if (isJSONRPCResponse(message) && message.id !== undefined) this.#settle(message.id)
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  /** The input has ended: remaining messages are read and answered before the transport closes. */
  async #finish(): Promise<void> {
    const hasMore = () => this.#input.readableLength + this.#input.writableLength > 0
    while (!this.#input.destroyed && hasMore()) {
      await yieldToEventLoop()
    }
    if (this.#pending.size > 0) {
      const answered = new Promise<void>((resolve) => {
        this.#onSettled = resolve
      })
      await resolvesWithin(SHUTDOWN_GRACE_MS, answered)
    }
    this.#input.end()
  }

  #trackRequest(message: JSONRPCMessage): void {
    // Subscriptions stay pending until the session ends, so they are not waited for.
    if (isJSONRPCRequest(message) && message.method !== 'subscriptions/listen') {
      this.#pending.add(message.id)
    }
    // Canceled requests get no response.
    if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled') {
      this.#settle(message.params?.requestId as RequestId) // any other value waits for nothing
    }
  }

  #settle(id: RequestId): void {
    this.#pending.delete(id)
    if (this.#pending.size === 0) this.#onSettled()
  }
}
