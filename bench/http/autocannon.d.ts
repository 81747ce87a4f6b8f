/** What the bench uses of it. */
declare module 'autocannon' {
  import type { EventEmitter } from 'node:events'

  type Request = {
    readonly method?: string
    readonly path?: string
    readonly body?: string
    readonly headers?: { readonly [name: string]: string }
    readonly setupRequest?: (request: Request) => Request
    readonly onResponse?: (
      status: number,
      body: string,
      context: object,
      headers: { readonly [name: string]: string | readonly string[] },
    ) => void
  }
  type Options = {
    readonly url: string
    readonly connections: number
    readonly duration?: number
    /** How many requests to make, instead of for how long. */
    readonly amount?: number
    readonly headers?: { readonly [name: string]: string }
    readonly requests: readonly Request[]
  }
  type Result = {
    readonly errors: number
    readonly timeouts: number
    readonly non2xx: number
    readonly '2xx': number
    readonly duration: number
  }
  type Instance = EventEmitter & PromiseLike<Result>
  function autocannon(options: Options): Instance
  export = autocannon
}
