/** Requests in flight, and graceful shutdown. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { resolvesWithin } from '../../lib/timeout.ts'
import { SHUTDOWN_ABORT_MS, SHUTDOWN_GRACE_MS } from './http-limits.ts'

export class ConnectionTracker {
  readonly #running = new Map<ServerResponse, AbortController>()
  /** Pending responses per connection. */
  readonly #open = new WeakMap<Socket, Set<ServerResponse>>()
  #closing: Promise<void> | undefined
  #onIdle: () => void = () => {}
  readonly #stopping = new AbortController()

  /** Aborts when shutdown starts: open-ended responses such as event streams end here. */
  get stopping(): AbortSignal {
    return this.#stopping.signal
  }

  get isStopping(): boolean {
    return this.#closing !== undefined
  }

  /**
   * Aborts when the client disconnects before its response is complete, or when the shutdown grace
   * period is over.
   */
  track({ socket }: IncomingMessage, response: ServerResponse): AbortSignal {
    const controller = new AbortController()
    this.#running.set(response, controller)
    const open = this.#openOn(socket)
    open.add(response)
    response.once('close', () => {
      open.delete(response)
      this.#leave(response)
    })
    return controller.signal
  }

  /** A pipelined response does not receive the close event of its connection. */
  #openOn(socket: Socket): Set<ServerResponse> {
    const known = this.#open.get(socket)
    if (known !== undefined) return known
    const open = new Set<ServerResponse>()
    this.#open.set(socket, open)
    socket.once('close', () => {
      for (const response of open) this.#leave(response)
    })
    return open
  }

  #leave(response: ServerResponse): void {
    const controller = this.#running.get(response)
    if (controller === undefined) return
    this.#running.delete(response)
    if (!response.writableFinished) controller.abort()
    if (this.#running.size === 0) this.#onIdle()
  }

  /** Closing is idempotent. */
  close(server: Server, graceMs: number = SHUTDOWN_GRACE_MS): Promise<void> {
    this.#closing ??= this.#close(server, graceMs)
    return this.#closing
  }

  async #close(server: Server, graceMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    server.closeIdleConnections()
    this.#stopping.abort()
    await this.#idleWithin(graceMs)
    for (const controller of this.#running.values()) controller.abort()
    await this.#idleWithin(SHUTDOWN_ABORT_MS)
    server.closeAllConnections()
    await closed
  }

  async #idleWithin(ms: number): Promise<void> {
    if (this.#running.size === 0) return
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve
    })
    await resolvesWithin(ms, idle)
  }
}
