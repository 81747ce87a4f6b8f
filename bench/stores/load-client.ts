/** The client of the load test: asks several servers at once, each by as many connections. */
import autocannon from 'autocannon'
import { Texts } from '../texts.ts'
import { type LoadShape, ownerOf, WRITTEN_SEED } from './load-data.ts'

export type LoadCall = 'search' | 'add'

export type LoadInput = LoadShape & {
  readonly call: LoadCall
  readonly urls: readonly string[]
  readonly key: string
  /** To all servers together. */
  readonly connections: number
  readonly seconds: number
  /** Differs between runs, so that no text repeats. */
  readonly run: number
}

export type Load = {
  readonly perSecond: number
  readonly p50: number
  readonly p95: number
  readonly errors: number
}

const QUERY_WORDS = 4
const HITS = 10

export async function load(input: LoadInput): Promise<Load> {
  const { urls, key, connections, seconds } = input
  const next = callsOf(input)
  const times: number[] = []
  const results = await Promise.all(
    urls.map((url) => {
      const instance = autocannon({
        url,
        connections: connections / urls.length,
        duration: seconds,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        requests: [{ setupRequest: (defaults) => ({ ...defaults, ...next() }) }],
      })
      instance.on('response', (_client, _status, _bytes, ms: number) => times.push(ms))
      return instance
    }),
  )
  times.sort((a, b) => a - b)
  const at = (share: number) => times[Math.floor((times.length - 1) * share)] ?? Number.NaN
  return {
    perSecond: results.reduce((sum, result) => sum + result['2xx'] / result.duration, 0),
    p50: at(0.5),
    p95: at(0.95),
    errors: results.reduce(
      (sum, { errors, timeouts, non2xx }) => sum + errors + timeouts + non2xx,
      0,
    ),
  }
}

/** One request after the other, each about the next owner. */
function callsOf({ call, owners, memories, run }: LoadInput) {
  const words = new Texts(23 + run)
  let wanted = new Texts(WRITTEN_SEED)
  let number = 0
  return () => {
    const owner = ownerOf(number % owners)
    // Texts come in the order in which they were written, so each query goes to the owner who has its memory.
    if (number % memories === 0) wanted = new Texts(WRITTEN_SEED)
    number++
    if (call === 'add') {
      return post('/api/memory', { owner, content: `${words.next()} ${run}-${number}` })
    }
    const query = words.queryFor(wanted.next(), QUERY_WORDS)
    return post('/api/memory/search', { owner, query, limit: HITS })
  }
}

function post(path: string, body: object) {
  return { method: 'POST', path, body: JSON.stringify(body) }
}
