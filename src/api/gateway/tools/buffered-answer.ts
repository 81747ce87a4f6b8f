/** Answers that come in one piece. */

import { type JsonObject, parseJsonObject } from '../../../lib/json.ts'
import { type HeaderPairs, headerValue, type UpstreamResponse } from '../../../models/upstream.ts'
import type { BufferedRound } from '../formats/tools/tool-dialect.ts'
import type { ToolLoop } from './tool-loop.ts'

/** Longer ones are passed on unread. */
const ANSWER_BYTES_MAX = 32 * 1_048_576

/** The last answer of several, with what the model said in those before. One that can't be read is the last one. */
export async function bufferAnswer(
  loop: ToolLoop,
  first: UpstreamResponse,
): Promise<UpstreamResponse> {
  const earlier: BufferedRound[] = []
  let response = first
  for (;;) {
    if (!isJsonAnswer(response, 'json')) return response
    const { bytes, body } = await collectBytes(response.body)
    const answer = bytes === null ? null : parseJsonObject(bytes.toString('utf8'))
    const round = answer === null ? null : loop.dialect.read(answer, loop.ownToolNames)
    if (answer === null || round === null) return { ...response, body }
    if (!(await loop.goesOn(round))) {
      const joined = loop.dialect.mergeRounds(earlier, { answer, round }, loop.ownToolNames)
      return joined === null ? { ...response, body } : withBody(response, joined)
    }
    earlier.push({ answer, round })
    response = await loop.send()
  }
}

/** With which providers say that a model takes no tools, in words of their own. */
const REFUSALS: ReadonlySet<number> = new Set([400, 404, 422])
const ABOUT_TOOLS = /tool|function/i

/** The answer as it came, or null when it is an error that tells of tools. */
export async function nullIfToolsRejected(
  response: UpstreamResponse,
): Promise<UpstreamResponse | null> {
  const { status, headers } = response
  if (!REFUSALS.has(status) || !isUncompressed(headers)) return response
  const { bytes, body } = await collectBytes(response.body)
  const isRefused = bytes !== null && ABOUT_TOOLS.test(bytes.toString('utf8'))
  return isRefused ? null : { ...response, body }
}

/** Whether an answer is what was asked for, and not an error or something packed. */
export function isJsonAnswer(
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

/** All bytes, or null when there are too many; in any case a body to pass on. */
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
  return { bytes, body: only(bytes) }
}

async function* concatChunks(
  chunks: readonly Uint8Array[],
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* chunks
  yield* { [Symbol.asyncIterator]: () => rest }
}

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

function withBody(response: UpstreamResponse, answer: JsonObject): UpstreamResponse {
  const bytes = Buffer.from(JSON.stringify(answer), 'utf8')
  const headers = omitContentLength(response.headers)
  return {
    ...response,
    headers: [...headers, ['content-length', String(bytes.length)]],
    body: only(bytes),
  }
}

export function omitContentLength(headers: HeaderPairs): HeaderPairs {
  return headers.filter(([name]) => name.toLowerCase() !== 'content-length')
}
