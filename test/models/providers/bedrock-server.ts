/** A stand-in for Amazon Bedrock: it checks signatures on its own, and answers with the real framing. */
import { createHash, createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { crc32 } from 'node:zlib'
import { onTestFinished } from 'vitest'
import type { AwsCredentials } from '../../../src/models/provider.ts'

export const REGION = 'eu-central-1'
export const CREDENTIALS: AwsCredentials = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  sessionToken: 'token-of-a-session',
}

export type BedrockCall = {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly text: string
  readonly body: { readonly [name: string]: unknown }
}

export type BedrockAnswer =
  | { readonly json: object; readonly status?: number; readonly errorType?: string }
  /** `cut`: bytes that are missing at the end. `slice`: bytes per write. */
  | { readonly events: readonly BedrockEvent[]; readonly cut?: number; readonly slice?: number }

export type BedrockEvent = readonly [name: string, payload: object, type?: 'event' | 'exception']

export type BedrockServer = {
  readonly url: string
  readonly calls: readonly BedrockCall[]
  queue(...answers: readonly BedrockAnswer[]): void
}

export async function openBedrock(): Promise<BedrockServer> {
  const calls: BedrockCall[] = []
  const answers: BedrockAnswer[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const bytes = Buffer.concat(chunks)
    if (request.headers.authorization !== expectedAuthorization(request, bytes)) {
      return sendAnswer(response, {
        status: 403,
        errorType: 'InvalidSignatureException:http://internal.amazon.com/',
        json: { message: 'The request signature we calculated does not match.' },
      })
    }
    const text = bytes.toString('utf8')
    calls.push({ path: request.url ?? '', headers: request.headers, text, body: JSON.parse(text) })
    await sendAnswer(response, answers.shift() ?? { json: { message: 'No answer.' }, status: 500 })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo // it listens on a port
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    queue: (...more) => {
      answers.push(...more)
    },
  }
}

async function sendAnswer(response: ServerResponse, answer: BedrockAnswer): Promise<void> {
  if ('json' in answer) {
    response.writeHead(answer.status ?? 200, {
      'content-type': 'application/json',
      'x-amzn-requestid': 'request-of-aws',
      ...(answer.errorType === undefined ? {} : { 'x-amzn-errortype': answer.errorType }),
    })
    response.end(JSON.stringify(answer.json))
    return
  }
  const { events, cut = 0, slice = Number.POSITIVE_INFINITY } = answer
  const bytes = Buffer.concat(events.map(encodeEvent))
  response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' })
  const end = bytes.length - cut
  for (let at = 0; at < end; at += slice) {
    response.write(bytes.subarray(at, Math.min(end, at + slice)))
    if (Number.isFinite(slice)) await new Promise((resolve) => setImmediate(resolve))
  }
  response.end()
}

export function encodeEvent([name, payload, type = 'event']: BedrockEvent): Buffer {
  return encodeMessage(
    [
      [`:${type}-type`, name],
      [':content-type', 'application/json'],
      [':message-type', type],
    ],
    Buffer.from(JSON.stringify(payload)),
  )
}

export function encodeMessage(
  headers: readonly (readonly [name: string, value: string])[],
  payload: Buffer,
): Buffer {
  const encoded = Buffer.concat(
    headers.flatMap(([name, value]) => {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(Buffer.byteLength(value))
      return [
        Buffer.from([name.length]),
        Buffer.from(name),
        Buffer.from([7]),
        length,
        Buffer.from(value),
      ]
    }),
  )
  const prelude = Buffer.alloc(12)
  prelude.writeUInt32BE(12 + encoded.length + payload.length + 4, 0)
  prelude.writeUInt32BE(encoded.length, 4)
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8)
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE(crc32(Buffer.concat([prelude, encoded, payload])))
  return Buffer.concat([prelude, encoded, payload, checksum])
}

/** As the documentation of Signature Version 4 describes it, step by step. */
function expectedAuthorization(
  { method, url = '', headers }: IncomingMessage,
  body: Buffer,
): string {
  const date = String(headers['x-amz-date'])
  const [, signed = ''] = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '') ?? []
  const canonical = [
    method,
    // Encoded once more than in the request.
    url
      .split('/')
      .map((part) => encodeURIComponent(part))
      .join('/'),
    '',
    ...signed.split(';').map((name) => `${name}:${headers[name]}`),
    '',
    signed,
    sha256(body),
  ].join('\n')
  const scope = `${date.slice(0, 8)}/${REGION}/bedrock/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n')
  const key = [date.slice(0, 8), REGION, 'bedrock', 'aws4_request'].reduce<Buffer>(
    (each, part) => hmac(each, part),
    Buffer.from(`AWS4${CREDENTIALS.secretAccessKey}`),
  )
  const signature = hmac(key, toSign).toString('hex')
  return `AWS4-HMAC-SHA256 Credential=${CREDENTIALS.accessKeyId}/${scope}, SignedHeaders=${signed}, Signature=${signature}`
}

function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex')
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
