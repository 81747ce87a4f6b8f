/** Tool loop over streamed answers: the streams of all rounds become one, and visible events go out as they arrive. */
import { toAppError } from '../../../lib/errors.ts'
import { getField } from '../../../lib/json.ts'
import type { UpstreamResponse } from '../../../models/upstream.ts'
import { EventSplitter } from '../formats/tools/event-splitter.ts'
import type { ProviderError, StreamMerger } from '../formats/tools/tool-dialect.ts'
import { isUsableAnswer, omitContentLength } from './buffered-answer.ts'
import type { ToolLoop } from './tool-loop.ts'

const ERROR_BYTES_MAX = 65_536

export function streamAnswer(
  loop: ToolLoop,
  first: UpstreamResponse,
  signal: AbortSignal,
): UpstreamResponse {
  if (!isUsableAnswer(first, 'stream')) return first
  const body = mergeRounds(loop, first, signal)
  return { status: first.status, headers: omitContentLength(first.headers), body }
}

async function* mergeRounds(
  loop: ToolLoop,
  first: UpstreamResponse,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const merger = loop.dialect.createStreamMerger(loop.memoryToolNames)
  yield* streamVisibleEvents(first, merger)
  while (await loop.runTools(merger.round())) {
    merger.next()
    try {
      const response = await loop.send()
      if (!isUsableAnswer(response, 'stream')) {
        yield* toBytes(merger.fail(await readProviderError(response)))
        return
      }
      yield* streamVisibleEvents(response, merger)
    } catch (error) {
      // The client is already reading the stream, so the error has to be an event of the stream.
      signal.throwIfAborted()
      yield* toBytes(merger.fail(toProviderError(error)))
      return
    }
  }
  yield* toBytes(merger.finish())
}

async function* streamVisibleEvents(
  { body }: UpstreamResponse,
  merger: StreamMerger,
): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const splitter = new EventSplitter()
  for await (const chunk of body) {
    const events = splitter.push(decoder.decode(chunk, { stream: true }))
    yield* toBytes(events.flatMap((event) => merger.event(event)))
  }
  const rest = [...splitter.push(decoder.decode()), ...splitter.end()]
  yield* toBytes(rest.flatMap((event) => merger.event(event)))
}

function* toBytes(texts: readonly string[]): Generator<Uint8Array> {
  if (texts.length > 0) yield Buffer.from(texts.join(''), 'utf8')
}

/** Messages of internal errors are not shown to clients. */
function toProviderError(thrown: unknown): ProviderError {
  const { code, message } = toAppError(thrown)
  const shown = code === 'internal' ? 'The provider did not finish its answer.' : message
  return { message: shown, type: null, code: null }
}

/** The error in a provider's response, in any of the usual shapes. */
async function readProviderError({ status, body }: UpstreamResponse): Promise<ProviderError> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    length += chunk.length
    if (length > ERROR_BYTES_MAX) break
  }
  const error = parseError(Buffer.concat(chunks).toString('utf8'))
  const readText = (name: string) => {
    const value = getField(error, name)
    return typeof value === 'string' && value !== '' ? value : null
  }
  return {
    message: readText('message') ?? `The provider answered with status ${status}.`,
    type: readText('type'),
    code: readText('code'),
  }
}

function parseError(text: string): unknown {
  try {
    const body: unknown = JSON.parse(text)
    const error = getField(body, 'error')
    return typeof error === 'string' ? { message: error } : (error ?? body)
  } catch {
    return {}
  }
}
