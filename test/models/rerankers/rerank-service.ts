/**
 * A server that reranks as the services do: a text's score is the number of words it shares with the question. It notes
 * what it is asked, and misbehaves on request.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type RerankRequest = {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: {
    readonly model: string
    readonly query: string
    readonly documents: readonly string[]
    readonly top_n?: number
    readonly top_k?: number
  }
}

export type RerankResult = { readonly index: number; readonly relevance_score: number }

/** Answers in its own way. */
export type Misbehaviour = (response: ServerResponse, request: RerankRequest) => void

export type RerankService = {
  readonly url: string
  readonly requests: RerankRequest[]
  misbehave(how: Misbehaviour | null): void
  stop(): Promise<void>
}

/** Best first, as services answer. */
export function rerankedByWords({ query, documents }: RerankRequest['body']): RerankResult[] {
  const asked = new Set(words(query))
  return documents
    .map((text, index) => ({
      index,
      relevance_score: words(text).filter((word) => asked.has(word)).length / 1_000_000,
    }))
    .sort((one, other) => other.relevance_score - one.relevance_score)
}

function words(text: string): readonly string[] {
  return text.toLowerCase().match(/\p{L}+/gu) ?? []
}

/** `form` is what surrounds the results. */
export async function startRerankService(
  form: (results: RerankResult[], request: RerankRequest) => unknown = (results) => ({ results }),
): Promise<RerankService> {
  const requests: RerankRequest[] = []
  let misbehaviour: Misbehaviour | null = null

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = {
      path: `${incoming.method} ${incoming.url}`,
      headers: incoming.headers,
      body: JSON.parse(await bodyOf(incoming)) as RerankRequest['body'], // as sent
    }
    requests.push(request)
    if (misbehaviour !== null) misbehaviour(response, request)
    else reply(response, 200, form(rerankedByWords(request.body), request))
  }

  const server = createServer((incoming, response) => {
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
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}
