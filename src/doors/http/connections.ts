/** Requests under way, and how they end when the server does. */
import type { Server, ServerResponse } from 'node:http'
import { ABORT_MS, GRACE_MS } from './limits.ts'

export class Connections {
  readonly #running = new Map<ServerResponse, AbortController>()
  #closing: Promise<void> | undefined
  #onIdle: () => void = () => {}

  get isStopping(): boolean {
    return this.#closing !== undefined
  }

  /** Fires when the client leaves before its answer is complete, or when the server no longer waits. */
  enter(response: ServerResponse): AbortSignal {
    const controller = new AbortController()
    this.#running.set(response, controller)
    response.once('close', () => {
      this.#running.delete(response)
      if (!response.writableFinished) controller.abort()
      if (this.#running.size === 0) this.#onIdle()
    })
    return controller.signal
  }

  /** Closing twice is closing once. */
  close(server: Server, graceMs: number = GRACE_MS): Promise<void> {
    this.#closing ??= this.#close(server, graceMs)
    return this.#closing
  }

  async #close(server: Server, graceMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    server.closeIdleConnections()
    await this.#idleWithin(graceMs)
    for (const controller of this.#running.values()) controller.abort()
    await this.#idleWithin(ABORT_MS)
    server.closeAllConnections()
    await closed
  }

  #idleWithin(ms: number): Promise<void> {
    if (this.#running.size === 0) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#onIdle = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
