/**
 * Servers that speak the protocols of the services, with vectors of the reference embedder. They check what they are
 * asked, note it, and misbehave on request.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { EmbeddingPurpose } from '../../../src/models/embedder.ts'
import { createHashingEmbedder } from '../../../src/models/embedders/hashing-embedder.ts'

export type Json = { readonly [name: string]: unknown }

export type ServiceRequest = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: Json
}

/** Answers in its own way, or leaves it to the service when it returns nothing. */
export type Misbehaviour = (
  request: ServiceRequest,
  response: ServerResponse,
  number: number,
) => boolean

export type Service = {
  readonly url: string
  readonly requests: ServiceRequest[]
  misbehave(how: Misbehaviour | null): void
  stop(): Promise<void>
}

/** How a service is asked and answers. */
export type Wire = {
  /** Texts and purpose of a request; null for a purpose that can't be told. */
  read(body: Json): { readonly texts: readonly string[]; readonly purpose: EmbeddingPurpose | null }
  answer(vectors: readonly (readonly number[])[]): unknown
}

const listOfTexts = (value: unknown) => value as readonly string[] // it is compared with what was sent

export const WIRES = {
  openai: {
    read: (body) => ({ texts: listOfTexts(body.input), purpose: null }),
    // Out of order, as the index allows.
    answer: (vectors) => ({
      object: 'list',
      data: vectors
        .map((embedding, index) => ({ object: 'embedding', index, embedding }))
        .reverse(),
      usage: { prompt_tokens: 1, total_tokens: 1 },
    }),
  },
  voyage: {
    read: (body) => ({
      texts: listOfTexts(body.input),
      purpose: body.input_type as EmbeddingPurpose, // compared with what was asked
    }),
    answer: (vectors) => ({
      object: 'list',
      data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
      usage: { total_tokens: 1 },
    }),
  },
  cohere: {
    read: (body) => ({
      texts: listOfTexts(body.texts),
      purpose: body.input_type === 'search_query' ? 'query' : 'document',
    }),
    answer: (vectors) => ({ id: '1', embeddings: { float: vectors }, texts: [] }),
  },
  gemini: {
    read: (body) => {
      const requests = body.requests as readonly {
        content: { parts: [{ text: string }] }
        taskType?: string
      }[] // as sent
      return {
        texts: requests.map(({ content }) => content.parts[0].text),
        purpose: requests[0]?.taskType === 'RETRIEVAL_QUERY' ? 'query' : 'document',
      }
    },
    answer: (vectors) => ({ embeddings: vectors.map((values) => ({ values })) }),
  },
  ollama: {
    read: (body) => ({ texts: listOfTexts(body.input), purpose: null }),
    answer: (vectors) => ({ model: 'any', embeddings: vectors, total_duration: 1 }),
  },
} as const satisfies Record<string, Wire>

export async function startService(wire: Wire): Promise<Service> {
  const requests: ServiceRequest[] = []
  let misbehaviour: Misbehaviour | null = null
  const embedder = createHashingEmbedder()

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = {
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      headers: incoming.headers,
      body: JSON.parse(await bodyOf(incoming)) as Json, // only objects are sent
    }
    requests.push(request)
    if (misbehaviour?.(request, response, requests.length) === true) return
    const { texts } = wire.read(request.body)
    const vectors = await embedder.embed(texts, { purpose: 'document' })
    const longer = vectors.map((vector) => Array.from(vector, (number) => number * 7))
    reply(response, 200, wire.answer(longer))
  }

  const server: Server = createServer((incoming, response) => {
    serve(incoming, response).catch((error: unknown) => response.destroy(error as Error)) // seen by the client
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on a port
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    misbehave: (how) => {
      misbehaviour = how
    },
    stop: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

export function reply(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): true {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
  return true
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}
