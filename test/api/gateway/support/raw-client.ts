/** A client without opinions: it sends bytes and keeps the bytes that come back. */
import { Agent, type IncomingMessage, request } from 'node:http'

export type RawRequest = {
  readonly method?: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array | string
}

export type RawAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Buffer
  /** Whether the answer came to its end; false when the connection broke. */
  readonly isWhole: boolean
}

/** Rejects when there was no answer at all. */
export function send(
  url: string,
  { method = 'POST', headers, body }: RawRequest,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    // A connection of its own: what one call leaves behind must not touch the next.
    const agent = new Agent({ keepAlive: false })
    const outgoing = request(url, { method, headers, agent }, (response) => {
      collect(response).then(resolve, reject)
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

async function collect(response: IncomingMessage): Promise<RawAnswer> {
  const pieces: Buffer[] = []
  try {
    for await (const piece of response) pieces.push(piece as Buffer) // no encoding is set
  } catch {
    // The connection broke; what came before it counts.
  }
  return {
    status: response.statusCode ?? 0,
    headers: Object.fromEntries(
      Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
    ),
    bytes: Buffer.concat(pieces),
    isWhole: response.complete,
  }
}
