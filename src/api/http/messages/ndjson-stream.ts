/** Streams NDJSON with backpressure. */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createAbortedError } from '../../../lib/abort.ts'
import { LINES_TYPE } from './response.ts'

const CHUNK_CHARACTERS = 65_536

export async function streamLines(
  request: IncomingMessage,
  response: ServerResponse,
  lines: AsyncIterable<string>,
  signal: AbortSignal,
): Promise<void> {
  const iterator = lines[Symbol.asyncIterator]()
  try {
    // The first line is read before the headers are sent, so that an early failure can still change the status.
    let step = await iterator.next()
    response.setHeader('content-type', LINES_TYPE)
    response.writeHead(200)
    if (request.method === 'HEAD') {
      response.end()
      return
    }
    let pending = ''
    while (step.done !== true) {
      pending += `${step.value}\n`
      if (pending.length >= CHUNK_CHARACTERS) {
        await write(response, pending, signal)
        pending = ''
      }
      if (signal.aborted) throw createAbortedError()
      step = await iterator.next()
    }
    response.end(pending)
  } finally {
    await iterator.return?.()
  }
}

async function write(response: ServerResponse, text: string, signal: AbortSignal): Promise<void> {
  if (signal.aborted) throw createAbortedError()
  if (response.write(text)) return
  try {
    await once(response, 'drain', { signal })
  } catch (error) {
    throw signal.aborted ? createAbortedError() : error
  }
}
