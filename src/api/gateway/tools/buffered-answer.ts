/** Tool loop over answers that are not streamed. */

import { type JsonObject, parseJsonObject } from '../../../lib/json.ts'
import { type HeaderPairs, headerValue, type UpstreamResponse } from '../../../models/upstream.ts'
import type { BufferedRound } from '../formats/tools/tool-dialect.ts'
import type { ToolLoop } from './tool-loop.ts'

/** Longer answers are passed through unparsed. */
const ANSWER_BYTES_MAX = 32 * 1_048_576

/** The last answer with the text of all rounds before it. An answer that cannot be parsed ends the loop. */
export async function bufferAnswer(
  loop: ToolLoop,
  first: UpstreamResponse,
): Promise<UpstreamResponse> {
  const earlier: BufferedRound[] = []
  let response = first
  for (;;) {
    if (!isUsableAnswer(response, 'json')) return response
    const { bytes, body } = await collectBytes(response.body)
    const answer = bytes === null ? null : parseJsonObject(bytes.toString('utf8'))
    const round = answer === null ? null : loop.dialect.read(answer, loop.memoryToolNames)
    if (answer === null || round === null) return { ...response, body }
    if (!(await loop.runTools(round))) {
      const merged = loop.dialect.mergeRounds(earlier, { answer, round }, loop.memoryToolNames)
      return merged === null ? { ...response, body } : withBody(response, merged)
    }
    earlier.push({ answer, round })
    response = await loop.send()
  }
}

/** Statuses with which providers reject tools that a model does not support; the wording differs. */
const REJECTION_STATUSES: ReadonlySet<number> = new Set([400, 404, 422])
const MENTIONS_TOOLS = /tool|function/i

/** The response, or null when it is an error about tools. */
export async function nullIfToolsRejected(
  response: UpstreamResponse,
): Promise<UpstreamResponse | null> {
  const { status, headers } = response
  if (!REJECTION_STATUSES.has(status) || !isUncompressed(headers)) return response
  const { bytes, body } = await collectBytes(response.body)
  const isRejection = bytes !== null && MENTIONS_TOOLS.test(bytes.toString('utf8'))
  return isRejection ? null : { ...response, body }
}

/** Whether a response is a successful, uncompressed answer of the requested kind. */
export function isUsableAnswer(
  { status, headers }: UpstreamResponse,
  kind: 'json' | 'stream',
): boolean {
  const type = kind === 'json' ? /\bjson\b/ : /^text\/event-stream\b/
  return (
    status === 200 && isUncompressed(headers) && type.test(headerValue(headers, 'content-type'))
  )
}

function isUncompressed(headers: HeaderPairs): boolean {
  return ['', 'identity'].includes(headerValue(headers, 'content-encoding'))
}

/** The whole body, or null when it is too long; `body` can be passed through in either case. */
async function collectBytes(body: UpstreamResponse['body']): Promise<{
  readonly bytes: Buffer | null
  readonly body: UpstreamResponse['body']
}> {
  const iterator = body[Symbol.asyncIterator]()
  const chunks: Uint8Array[] = []
  let length = 0
  for (;;) {
    const { done, value } = await iterator.next()
    if (done === true) break
    chunks.push(value)
    length += value.length
    if (length > ANSWER_BYTES_MAX) return { bytes: null, body: concatChunks(chunks, iterator) }
  }
  const bytes = Buffer.concat(chunks)
  return { bytes, body: concatChunks([bytes]) }
}

async function* concatChunks(
  chunks: readonly Uint8Array[],
  rest?: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* chunks
  if (rest !== undefined) yield* { [Symbol.asyncIterator]: () => rest }
}

function withBody(response: UpstreamResponse, answer: JsonObject): UpstreamResponse {
  const bytes = Buffer.from(JSON.stringify(answer), 'utf8')
  const headers = omitContentLength(response.headers)
  return {
    ...response,
    headers: [...headers, ['content-length', String(bytes.length)]],
    body: concatChunks([bytes]),
  }
}

export function omitContentLength(headers: HeaderPairs): HeaderPairs {
  return headers.filter(([name]) => name.toLowerCase() !== 'content-length')
}
