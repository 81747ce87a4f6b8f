/** Sends requests to a gateway as a client would: in sequence over one connection, or many at once. */
import { Agent, request } from 'node:http'
import autocannon from 'autocannon'
import { Conversations } from './conversations.ts'
import { LAST_EVENT } from './script.ts'
import { CHAT, type Target } from './targets.ts'

/** What the gateway says about memory. */
const MEMORY_HEADER = 'x-recollect-memory'

export type ResponseTimes = {
  /** Until the first byte of the answer's body came, in milliseconds. */
  readonly firstMs: number
  /** Until its last one came. */
  readonly lastMs: number
  readonly isInjected: boolean
}

export class Client {
  readonly target: Target
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #conversations: Conversations

  constructor(target: Target) {
    this.target = target
    this.#conversations = new Conversations({ model: target.model, lanes: 1, seed: 47 })
  }

  /** Refuses an answer that is not whole, so that nothing fast and wrong is measured. */
  send(streams: boolean): Promise<ResponseTimes> {
    const { name, baseUrl, headers } = this.target
    const body = Buffer.from(this.#conversations.next(streams))
    return new Promise((resolve, reject) => {
      const started = performance.now()
      let firstMs: number | null = null
      let last: Buffer = Buffer.alloc(0)
      const asking = request(
        `${baseUrl}${CHAT}`,
        {
          agent: this.#agent,
          method: 'POST',
          headers: {
            ...headers,
            'content-type': 'application/json',
            'content-length': body.length,
          },
        },
        (response) => {
          response.on('data', (bytes: Buffer) => {
            firstMs ??= performance.now() - started
            last = bytes
          })
          response.once('error', reject)
          response.once('end', () => {
            const lastMs = performance.now() - started
            const isWhole = !streams || last.toString().endsWith(LAST_EVENT)
            if (response.statusCode !== 200 || firstMs === null || !isWhole) {
              const detail = `${response.statusCode}: ${last.toString().slice(0, 300)}`
              reject(new Error(`${name} answered with ${detail}`))
              return
            }
            const hasMemory = isInjected(response.headers[MEMORY_HEADER])
            resolve({ firstMs, lastMs, isInjected: hasMemory })
          })
        },
      )
      asking.once('error', reject)
      asking.end(body)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

export type Load = {
  readonly perSecond: number
  readonly answered: number
  readonly errors: number
  /** Of the answers, for how many memory had something to say in time. */
  readonly injectedShare: number
}

/** Many at once, for some seconds or for a number of requests. */
export class Crowd {
  readonly #target: Target
  readonly #connections: number
  readonly #conversations: Conversations

  constructor(target: Target, connections: number, seed: number) {
    this.#target = target
    this.#connections = connections
    const lanes = connections * 2
    this.#conversations = new Conversations({ model: target.model, lanes, seed })
  }

  async send(streams: boolean, until: { duration: number } | { amount: number }): Promise<Load> {
    const { baseUrl, headers } = this.#target
    let [answered, injected] = [0, 0]
    const instance = autocannon({
      url: `${baseUrl}${CHAT}`,
      connections: this.#connections,
      ...until,
      headers: { ...headers, 'content-type': 'application/json' },
      requests: [
        {
          method: 'POST',
          setupRequest: (defaults) => ({ ...defaults, body: this.#conversations.next(streams) }),
          onResponse: (_status, _body, _context, received) => {
            answered++
            if (isInjected(received[MEMORY_HEADER])) injected++
          },
        },
      ],
    })
    const { errors, timeouts, non2xx, duration } = await instance
    return {
      perSecond: answered / duration,
      answered,
      errors: errors + timeouts + non2xx,
      injectedShare: answered === 0 ? 0 : injected / answered,
    }
  }
}

function isInjected(memory: string | readonly string[] | undefined): boolean {
  return String(memory ?? '').startsWith('injected')
}
