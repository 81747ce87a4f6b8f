/**
 * A provider of models by script: a real HTTP server that speaks the three APIs as their own services do, and misbehaves
 * as they do. What comes in is kept to the byte; what goes out is what a test says, cut where a test says.
 */
import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { listModels, speak } from './wire-format.ts'
import type { Said } from './wire-parts.ts'

/** One answer. */
export type Reply = {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** An endless or huge one is made while it is sent. */
  readonly body?: string | Uint8Array | Iterable<Uint8Array>
  readonly isGzipped?: boolean
  /** Sends the body in pieces of random sizes, the same ones for the same seed; in one piece without it. */
  readonly cutSeed?: number
  /** Waited for before anything is sent. */
  readonly notBefore?: Promise<unknown>
  /** What happens after so many bytes of the body; `headers` stands for the moment before the headers. */
  readonly trouble?: {
    readonly after: number | 'headers'
    /** `hang`: nothing more comes. `reset`: the connection breaks. A promise: it goes on when that is settled. */
    readonly what: 'hang' | 'reset' | Promise<unknown>
  }
}

export type Respond = (request: Received) => Reply | Promise<Reply>

/** What became of an answer: all of it was sent, the client left, or the script broke it off. */
export type Ending = 'sent' | 'left' | 'reset'

/** A request as it came in. */
export type Received = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  readonly bytes: Buffer
  readonly text: string
  /** What the text says; undefined when it is no JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into requests of every shape
  readonly body: any
  /** Bytes of the answer's body that were handed to the socket so far. */
  sent(): number
  /** Of those, what the socket still holds because nobody reads. */
  waiting(): number
  readonly ended: Promise<Ending>
}

export type Upstream = {
  /** Without `/v1`. */
  readonly url: string
  /** All questions to models, in order; those for the list of models are not among them. */
  readonly requests: readonly Received[]
  /** The one that came last. */
  last(): Received
  /** Waits for the request of that number, counted from 1. */
  request(number: number): Promise<Received>
  /** What is answered next, in order, before the responder is asked again. */
  queue(...replies: readonly (Reply | Respond)[]): void
  /** What is answered when nothing is queued. */
  respond(responder: Respond): void
  /** Forgets what came in. */
  clear(): void
  close(): Promise<void>
}

export async function openUpstream(
  responder: Respond | Said = { text: 'Noted.' },
): Promise<Upstream> {
  const requests: Received[] = []
  const queued: (Reply | Respond)[] = []
  const arrivals = new Set<() => void>()
  let respond = toResponder(responder)
  const server = createServer((incoming, response) => {
    void receive(incoming, response).then(async (received) => {
      if (received === null) return
      if (received.method === 'GET' && received.path.split('?')[0]?.endsWith('/models')) {
        return deliver(listModels(received.headers), response, received)
      }
      requests.push(received)
      for (const arrived of arrivals) arrived()
      const next = queued.shift() ?? respond
      await deliver(typeof next === 'function' ? await next(received) : next, response, received)
    })
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens on a port, not on a pipe
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    last: () => {
      const last = requests.at(-1)
      if (last === undefined) throw new Error('Nothing has been asked yet.')
      return last
    },
    request: async (number) => {
      let received = requests[number - 1]
      while (received === undefined) {
        await new Promise<void>((resolve) => {
          const arrived = () => {
            arrivals.delete(arrived)
            resolve()
          }
          arrivals.add(arrived)
        })
        received = requests[number - 1]
      }
      return received
    },
    queue: (...replies) => {
      queued.push(...replies)
    },
    respond: (next) => {
      respond = next
    },
    clear: () => {
      requests.length = 0
      queued.length = 0
    },
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

function toResponder(responder: Respond | Said): Respond {
  return typeof responder === 'function' ? responder : (request) => speak(request, responder)
}

/** Null when the client left before it had said everything. */
async function receive(
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<(Received & Progress) | null> {
  const pieces: Buffer[] = []
  try {
    for await (const piece of incoming) pieces.push(piece as Buffer) // no encoding is set
  } catch {
    return null
  }
  const bytes = Buffer.concat(pieces)
  const progress: Progress = { sentBytes: 0, isReset: false }
  return Object.assign(progress, {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: incoming.headers,
    rawHeaders: incoming.rawHeaders,
    bytes,
    text: bytes.toString('utf8'),
    body: parse(bytes),
    sent: () => progress.sentBytes,
    waiting: () => response.writableLength,
    ended: new Promise<Ending>((resolve) => {
      response.once('close', () => {
        resolve(response.writableFinished ? 'sent' : progress.isReset ? 'reset' : 'left')
      })
    }),
  })
}

type Progress = { sentBytes: number; isReset: boolean }

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}

async function deliver(reply: Reply, response: ServerResponse, progress: Progress): Promise<void> {
  const { status = 200, headers = {}, trouble } = reply
  await reply.notBefore
  if (trouble?.after === 'headers' && !(await bear(trouble.what, response, progress))) return
  const body = bodyOf(reply)
  response.writeHead(status, {
    ...(body instanceof Uint8Array && !isStream(headers) && status !== 204
      ? { 'content-length': body.length }
      : {}),
    ...(reply.isGzipped === true ? { 'content-encoding': 'gzip' } : {}),
    ...headers,
  })
  response.flushHeaders()
  response.socket?.setNoDelay(true)
  const isWhole = await send(piecesOf(body, reply), reply, response, progress)
  if (isWhole) response.end()
}

/** False when the answer ended before everything was sent. */
async function send(
  pieces: Iterable<Uint8Array>,
  { trouble }: Reply,
  response: ServerResponse,
  progress: Progress,
): Promise<boolean> {
  const stop = typeof trouble?.after === 'number' ? trouble.after : null
  let isDue = trouble !== undefined && stop !== null
  for (const piece of pieces) {
    let rest = piece
    if (
      isDue &&
      trouble !== undefined &&
      stop !== null &&
      progress.sentBytes + piece.length >= stop
    ) {
      isDue = false
      const before = piece.subarray(0, stop - progress.sentBytes)
      rest = piece.subarray(before.length)
      if (before.length > 0) await write(before, response, progress)
      if (!(await bear(trouble.what, response, progress))) return false
    }
    if (rest.length > 0) await write(rest, response, progress)
    if (response.destroyed) return false
  }
  return true
}

/** Each piece has left for the network, as far as that takes it, before the next one comes. */
async function write(
  piece: Uint8Array,
  response: ServerResponse,
  progress: Progress,
): Promise<void> {
  progress.sentBytes += piece.length
  if (!response.write(piece)) {
    const ended = new AbortController()
    const { signal } = ended
    await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })])
    ended.abort()
  }
  await nextTurn()
}

/** Whether the answer goes on afterwards. */
async function bear(
  what: NonNullable<Reply['trouble']>['what'],
  response: ServerResponse,
  progress: Progress,
): Promise<boolean> {
  if (what === 'reset') {
    progress.isReset = true
    response.socket?.resetAndDestroy()
    return false
  }
  if (what === 'hang') {
    if (!response.destroyed) await once(response, 'close')
    return false
  }
  await what
  return !response.destroyed
}

function bodyOf({ body = '', isGzipped }: Reply): Uint8Array | Iterable<Uint8Array> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  return isGzipped === true && bytes instanceof Uint8Array ? gzipSync(bytes) : bytes
}

function isStream(headers: Readonly<Record<string, string>>): boolean {
  return headers['content-type']?.startsWith('text/event-stream') === true
}

function piecesOf(
  body: Uint8Array | Iterable<Uint8Array>,
  { cutSeed }: Reply,
): Iterable<Uint8Array> {
  if (!(body instanceof Uint8Array)) return body
  return cutSeed === undefined ? [body] : cut(body, cutSeed)
}

/** Pieces of random sizes, many of them of one byte: inside characters, and between a `\r` and its `\n`. */
export function cut(bytes: Uint8Array, seed: number): readonly Uint8Array[] {
  const random = randomFrom(seed)
  const sizeMax = [1, 3, 16, 200, 4_000][Math.floor(random() * 5)] ?? 1
  // At most about 400 pieces, so that long bodies don't take all day.
  const sizeMin = Math.ceil(bytes.length / 400)
  const pieces: Uint8Array[] = []
  for (let at = 0; at < bytes.length; ) {
    const size = Math.max(1, Math.ceil(random() * Math.max(sizeMax, 2 * sizeMin)))
    pieces.push(bytes.subarray(at, at + size))
    at += size
  }
  return pieces
}

/** Numbers from 0 to 1, the same ones for the same seed (a linear congruential generator, and a mix of its bits). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    const mixed = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d)
    return ((mixed ^ (mixed >>> 12)) >>> 0) / 2 ** 32
  }
}
