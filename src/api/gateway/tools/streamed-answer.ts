/** Answers that stream: several streams become one, in which every visible part goes out as soon as it comes. */
import { toAppError } from '../../../lib/errors.ts'
import type { UpstreamResponse } from '../../../models/upstream.ts'
import { EventSplitter } from '../formats/tools/event-splitter.ts'
import type { Fault, Stitcher } from '../formats/tools/index.ts'
import { isJsonAnswer, omitContentLength } from './buffered-answer.ts'
import type { ToolLoop } from './tool-loop.ts'

const FAULT_BYTES_MAX = 65_536

export function streamAnswer(
  loop: ToolLoop,
  first: UpstreamResponse,
  signal: AbortSignal,
): UpstreamResponse {
  if (!isJsonAnswer(first, 'stream')) return first
  const body = stitchRounds(loop, first, signal)
  return { status: first.status, headers: omitContentLength(first.headers), body }
}

async function* stitchRounds(
  loop: ToolLoop,
  first: UpstreamResponse,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const stitcher = loop.dialect.createStitcher(loop.ownToolNames)
  yield* streamVisibleEvents(first, stitcher)
  while (await loop.goesOn(stitcher.round())) {
    stitcher.next()
    try {
      const response = await loop.send()
      if (!isJsonAnswer(response, 'stream')) {
        yield* toBytes(stitcher.fail(await faultIn(response)))
        return
      }
      yield* streamVisibleEvents(response, stitcher)
    } catch (error) {
      // The client has begun to read an answer: it must hear in the same way why there is no more of it.
      signal.throwIfAborted()
      yield* toBytes(stitcher.fail(faultOf(error)))
      return
    }
  }
  yield* toBytes(stitcher.finish())
}

async function* streamVisibleEvents(
  { body }: UpstreamResponse,
  stitcher: Stitcher,
): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const splitter = new EventSplitter()
  for await (const chunk of body) {
    const blocks = splitter.push(decoder.decode(chunk, { stream: true }))
    yield* toBytes(blocks.flatMap((block) => stitcher.event(block)))
  }
  const rest = [...splitter.push(decoder.decode()), ...splitter.end()]
  yield* toBytes(rest.flatMap((block) => stitcher.event(block)))
}

function* toBytes(texts: readonly string[]): Generator<Uint8Array> {
  if (texts.length > 0) yield Buffer.from(texts.join(''), 'utf8')
}

/** What went wrong inside, or on the line, stays inside. */
function faultOf(thrown: unknown): Fault {
  const { code, message } = toAppError(thrown)
  const told = code === 'internal' ? 'The provider did not finish its answer.' : message
  return { message: told, type: null, code: null }
}

/** What the provider says went wrong, in whichever of the usual shapes. */
async function faultIn({ status, body }: UpstreamResponse): Promise<Fault> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    length += chunk.length
    if (length > FAULT_BYTES_MAX) break
  }
  const error = errorIn(Buffer.concat(chunks).toString('utf8'))
  const text = (name: string) => {
    const value: unknown = Reflect.get(error, name)
    return typeof value === 'string' && value !== '' ? value : null
  }
  return {
    message: text('message') ?? `The provider answered with status ${status}.`,
    type: text('type'),
    code: text('code'),
  }
}

function errorIn(text: string): object {
  try {
    const body: unknown = Object(JSON.parse(text))
    const error: unknown = Reflect.get(Object(body), 'error')
    return typeof error === 'string' ? { message: error } : Object(error ?? body)
  } catch {
    return {}
  }
}
