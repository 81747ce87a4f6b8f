/**
 * A stand-in for Qdrant, in memory: it checks every request and every answer against Qdrant's public description, does what
 * Recollect uses of it, and misbehaves on request.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { Collection, type QueryRequest, type ScrollRequest } from './collection.ts'
import { type Operation, readDescription } from './description.ts'
import { QdrantFault } from './points.ts'

type Json = { readonly [name: string]: unknown }

export type QdrantRequest = {
  /** Such as `PUT /collections/one/points?wait=true`. */
  readonly line: string
  readonly headers: IncomingMessage['headers']
  readonly body: unknown
}

export type Misbehaviour =
  | { readonly kind: 'answer'; readonly status: number; readonly headers?: Record<string, string> }
  /** The connection ends before the work, or after it and without an answer. */
  | { readonly kind: 'cut'; readonly after?: boolean }
  /** No answer ever comes. */
  | { readonly kind: 'silent' }
  | { readonly kind: 'slow'; readonly ms: number }
  /** Writing is taken note of, and done later. */
  | { readonly kind: 'unfinished' }

export type StandInOptions = {
  readonly apiKey?: string
  readonly readOnlyKey?: string
  /** What stands before Qdrant's own paths. */
  readonly basePath?: string
}

export type QdrantStandIn = {
  readonly url: string
  readonly requests: readonly QdrantRequest[]
  /** What the stand-in itself got wrong about the description. */
  readonly mistakes: readonly string[]
  /** Of the next requests whose line matches, so many, after so many that pass. */
  misbehave(how: Misbehaviour, line?: RegExp, times?: number, passing?: number): void
  /** No more misbehaviour. */
  heal(): void
  setReady(isReady: boolean): void
  /** As if somebody had deleted all collections. */
  loseCollections(): void
  collectionNames(): readonly string[]
  stop(): Promise<void>
}

/** Answered without a key. */
const OPEN_PATHS = ['/', '/readyz', '/livez', '/healthz']
const READING = /^(?:GET|POST \/collections\/[^/]+\/points\/(?:scroll|query|count))/
const COLLECTION = '/collections/{collection_name}'
const BODY_BYTES_MAX = 32 * 1024 * 1024

type Call = {
  readonly operation: Operation
  readonly name: string
  readonly body: unknown
  readonly waits: boolean
}
type Answer = { readonly status: number; readonly body: unknown; readonly headers?: Json }

export async function startQdrant(options: StandInOptions = {}): Promise<QdrantStandIn> {
  const description = readDescription()
  const collections = new Map<string, Collection>()
  const requests: QdrantRequest[] = []
  const mistakes: string[] = []
  let misbehaviours: { how: Misbehaviour; line: RegExp; times: number; passing: number }[] = []
  let later: (() => unknown)[] = []
  let isReady = true

  function collectionOf(name: string): Collection {
    const collection = collections.get(name)
    if (collection !== undefined) return collection
    throw new QdrantFault(404, `Not found: Collection \`${name}\` doesn't exist!`)
  }

  function doWhatWaits(): void {
    const works = later
    later = []
    for (const work of works) work()
  }

  /**
   * In the order of asking. For those who don't wait it is done at some later time, here not before somebody waits: whoever
   * relies on it shows.
   */
  function updated({ waits }: Call, work: () => number): Json {
    if (waits) {
      doWhatWaits()
      return { operation_id: work(), status: 'completed' }
    }
    later.push(work)
    return { operation_id: 0, status: 'acknowledged' }
  }

  const results: Readonly<Record<string, (call: Call) => unknown>> = {
    'GET /collections': () => {
      return { collections: [...collections.keys()].map((name) => ({ name })) }
    },
    [`GET ${COLLECTION}`]: ({ name }) => collectionOf(name).info(),
    [`PUT ${COLLECTION}`]: ({ name, body }) => {
      if (collections.has(name)) {
        throw new QdrantFault(409, `Wrong input: Collection \`${name}\` already exists!`)
      }
      collections.set(name, new Collection(body as Json)) // checked before
      return true
    },
    [`PATCH ${COLLECTION}`]: ({ name, body }) => {
      collectionOf(name).update(body as Json) // checked before
      return true
    },
    [`DELETE ${COLLECTION}`]: ({ name }) => collections.delete(name),
    [`PUT ${COLLECTION}/index`]: (call) => {
      const collection = collectionOf(call.name)
      return updated(call, () => collection.createIndex(call.body as Json)) // checked before
    },
    [`PUT ${COLLECTION}/points`]: (call) => {
      const collection = collectionOf(call.name)
      const { points } = call.body as { points: Parameters<Collection['upsert']>[0] } // checked before
      return updated(call, () => collection.upsert(points))
    },
    [`POST ${COLLECTION}/points/delete`]: (call) => {
      const collection = collectionOf(call.name)
      const selector = call.body as Parameters<Collection['delete']>[0] // checked before
      return updated(call, () => collection.delete(selector))
    },
    [`POST ${COLLECTION}/points/count`]: ({ name, body }) => {
      return { count: collectionOf(name).count(body as Json) } // checked before
    },
    [`POST ${COLLECTION}/points/scroll`]: ({ name, body }) =>
      collectionOf(name).scroll(body as ScrollRequest), // checked before
    [`POST ${COLLECTION}/points/query`]: ({ name, body }) =>
      collectionOf(name).query(body as QueryRequest), // checked before
  }

  function answerTo({ line, headers, body }: QdrantRequest, url: URL): Answer | string {
    const [method = ''] = line.split(' ')
    const path = url.pathname
    if (path === '/readyz') return isReady ? 'all shards are ready' : refused(503, 'not ready')
    if (path === '/') return { status: 200, body: { title: 'qdrant', version: '1.18.0' } }
    const [, name] = /^\/collections\/([^/]+)/.exec(path) ?? []
    const pattern = name === undefined ? path : path.replace(name, '{collection_name}')
    const operation = { method, path: pattern }
    const result = results[`${method} ${pattern}`]
    if (result === undefined) return refused(404, `Not found: ${line}`)
    if (body !== undefined && headers['content-type'] !== 'application/json') {
      return refused(400, 'Content type error')
    }
    const fault = description?.faultOfRequest(operation, url.searchParams, body) ?? null
    if (fault !== null) return refused(400, `Format error in JSON body: ${fault}`)
    const waits = url.searchParams.get('wait') === 'true'
    const answer = inQdrantForm(() =>
      result({ operation, name: decodeURIComponent(name ?? ''), body, waits }),
    )
    const mistake = description?.faultOfAnswer(operation, answer.status, answer.body) ?? null
    if (mistake !== null) mistakes.push(`${line}: ${mistake}`)
    return answer
  }

  function keyFault({ headers, line }: QdrantRequest, path: string): [number, string] | null {
    if (options.apiKey === undefined || OPEN_PATHS.includes(path)) return null
    const given = headers['api-key']
    if (given === options.apiKey) return null
    if (given === undefined)
      return [401, 'Must provide an API key or an Authorization bearer token']
    if (given !== options.readOnlyKey) return [401, 'Invalid API key or JWT']
    return READING.test(line) ? null : [403, 'Forbidden: write access is required']
  }

  function misbehaviourFor(line: string): Misbehaviour | null {
    const found = misbehaviours.find((one) => one.line.test(line))
    if (found === undefined || found.passing-- > 0) return null
    found.times--
    misbehaviours = misbehaviours.filter(({ times }) => times > 0)
    return found.how
  }

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await bodyOf(incoming)
    const base = options.basePath ?? ''
    const address = incoming.url ?? ''
    const url = new URL(address.slice(base.length) || '/', 'http://stand-in')
    const line = `${incoming.method} ${url.pathname}${url.search}`
    const body = text === '' ? undefined : JSON.parse(text)
    const request = { line, headers: incoming.headers, body }
    requests.push(request)
    if (!address.startsWith(base)) return reply(response, refused(404, 'Not found'))
    const how = misbehaviourFor(line)
    if (how?.kind === 'silent') return
    if (how?.kind === 'slow') await delay(how.ms)
    if (how?.kind === 'answer') {
      return reply(response, {
        ...refused(how.status, 'Service internal error'),
        headers: how.headers ?? {},
      })
    }
    if (how?.kind === 'cut' && how.after !== true) return void incoming.socket.destroy()
    if (text.length > BODY_BYTES_MAX) return reply(response, refused(413, 'Payload too large'))
    const fault = keyFault(request, url.pathname)
    if (fault !== null) return void response.writeHead(fault[0]).end(fault[1])
    if (how?.kind === 'unfinished') url.searchParams.delete('wait')
    const answer = answerTo(request, url)
    if (how?.kind === 'cut') return void incoming.socket.destroy()
    return reply(response, answer)
  }

  const server = createServer((incoming, response) => {
    serve(incoming, response).catch((error: unknown) => response.destroy(error as Error)) // seen by the client
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on a port
  return {
    url: `http://127.0.0.1:${port}${options.basePath ?? ''}`,
    requests,
    mistakes,
    misbehave: (how, line = /./, times = 1, passing = 0) => {
      misbehaviours.push({ how, line, times, passing })
    },
    heal: () => {
      misbehaviours = []
    },
    setReady: (ready) => {
      isReady = ready
    },
    loseCollections: () => collections.clear(),
    collectionNames: () => [...collections.keys()],
    stop: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

function inQdrantForm(work: () => unknown): Answer {
  try {
    return { status: 200, body: { usage: null, status: 'ok', time: 0.001, result: work() } }
  } catch (thrown) {
    if (thrown instanceof QdrantFault) return refused(thrown.status, thrown.message)
    throw thrown
  }
}

function refused(status: number, error: string): Answer {
  return { status, body: { status: { error }, time: 0.001 } }
}

function reply(response: ServerResponse, answer: Answer | string): void {
  if (typeof answer === 'string') {
    response.writeHead(200, { 'content-type': 'text/plain' }).end(answer)
    return
  }
  const headers = {
    'content-type': 'application/json',
    ...(answer.headers as Record<string, string>),
  }
  response.writeHead(answer.status, headers).end(JSON.stringify(answer.body))
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}
