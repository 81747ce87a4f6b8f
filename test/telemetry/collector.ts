/** A collector for tests: keeps what it is sent, and answers as it is told to. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

export type SentSpan = {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly {
    readonly key: string
    readonly value: Readonly<Record<string, unknown>>
  }[]
  readonly status: { readonly code?: number }
}

export type Collected = {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly spans: readonly SentSpan[]
}

export interface Collector {
  readonly url: string
  readonly requests: readonly Collected[]
  spans(): readonly SentSpan[]
  /** From now on. `null`: never. */
  answerWith(status: number | null, headers?: Readonly<Record<string, string>>): void
  close(): Promise<void>
}

export async function openCollector(): Promise<Collector> {
  const requests: Collected[] = []
  let status: number | null = 200
  let more: Readonly<Record<string, string>> = {}
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    const body = JSON.parse(text)
    const spans = body.resourceSpans[0].scopeSpans[0].spans
    requests.push({ path: request.url ?? '', headers: request.headers, text, spans })
    if (status === null) return
    response.writeHead(status, { 'content-type': 'application/json', ...more }).end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens on a port
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    spans: () => requests.flatMap((request) => request.spans),
    answerWith: (next, headers = {}) => {
      status = next
      more = headers
    },
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** The attributes of a span by name, with the wrapping of the protocol taken off. */
export function attributesOf(span: SentSpan | undefined): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    (span?.attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0]]),
  )
}
