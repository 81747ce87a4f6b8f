/** Passes an answer on, byte for byte and no faster than it is read, while somebody reads along. */
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { AppError } from '../../../lib/errors.ts'
import { createSseParser } from '../../../lib/sse.ts'
import { type HeaderPairs, headerValue, type UpstreamResponse } from '../../../models/upstream.ts'
import type { AnswerReader } from '../formats/format.ts'
import { NO_TAIL, type ResponseTail } from './response-tail.ts'

/** Hears the bytes of an answer. It can neither slow nor break it. */
export type ResponseListener = {
  chunk(bytes: Uint8Array): void
  /** When all has been heard. */
  end(): Promise<void>
}

export const NO_LISTENER: ResponseListener = { chunk: () => {}, end: async () => {} }

/** Larger ones, which don't stream, are not worth keeping in memory a second time. */
const WHOLE_BYTES_MAX = 8 * 1_048_576

/**
 * Sends the body to the client. Ends normally only when it came to its end: a provider that breaks off, or a client that
 * leaves, is an error. By events, because an iterator takes a turn or two more for every piece.
 */
export function pipeResponse(
  body: UpstreamResponse['body'],
  response: ServerResponse,
  listener: ResponseListener,
  onFirstByte: () => void,
  tail: ResponseTail = NO_TAIL,
): Promise<void> {
  const source = body instanceof Readable ? body : Readable.from(body)
  return new Promise<void>((resolve, reject) => {
    let [hasBegun, hasWritten, hasEnded] = [false, false, false]
    // A provider that thinks for long after its headers must not leave the client in doubt; else both go out as one.
    setImmediate(() => {
      // They count as sent as soon as they are written down, and yet wait for a body until they are flushed.
      if (!hasWritten && !response.destroyed) response.flushHeaders()
    })
    const resume = () => source.resume()
    const write = (piece: Uint8Array) => {
      if (response.destroyed) return // the client left while it was held back
      hasWritten = true
      if (!response.write(piece)) source.pause()
    }
    const end = () => {
      tail.release(write)
      if (!response.destroyed) response.end()
    }
    const leave = () => {
      // Answers that were whole come to their end this way as well.
      if (response.writableFinished) return
      reject(clientClosedError())
      source.destroy()
    }
    source
      .on('data', (chunk: Uint8Array) => {
        if (!hasBegun) onFirstByte()
        hasBegun = true
        // First heard, because what was said tells whether this is the end.
        ignoreErrors(() => listener.chunk(chunk))
        tail.push(chunk, write)
      })
      .once('end', () => {
        hasEnded = true
        const recording = tail.end()
        if (recording === null) end()
        else recording.then(end, end)
      })
      .on('error', reject)
      .once('close', () => {
        if (!hasEnded) reject(source.errored ?? clientClosedError())
      })
    response.on('drain', resume).once('finish', resolve).once('close', leave)
    if (response.destroyed) leave()
    // Nothing more is heard of what broke off before anybody listened.
    if (source.destroyed) reject(source.errored ?? clientClosedError())
  })
}

function clientClosedError(): AppError {
  return new AppError('cancelled', 'The client left before its answer was complete.')
}

/** Reads an answer into a reader of its format, whether it streams or not. Null where it is packed in unknown ways. */
export function createReaderListener(
  reader: AnswerReader,
  headers: HeaderPairs,
): ResponseListener | null {
  const heard = isEventStream(headers) ? parseEventsInto(reader) : bufferInto(reader)
  return decompressing(headerValue(headers, 'content-encoding'), heard)
}

export function isEventStream(headers: HeaderPairs): boolean {
  return headerValue(headers, 'content-type').includes('text/event-stream')
}

function parseEventsInto(reader: AnswerReader): ResponseListener {
  const read = createSseParser((event) => reader.readEvent(event))
  return { chunk: (bytes) => read(bytes), end: async () => read(null) }
}

function bufferInto(reader: AnswerReader): ResponseListener {
  const chunks: Uint8Array[] = []
  let length = 0
  return {
    chunk: (bytes) => {
      length += bytes.length
      if (length <= WHOLE_BYTES_MAX) chunks.push(bytes)
    },
    end: async () => {
      if (length > WHOLE_BYTES_MAX) return
      ignoreErrors(() => reader.readBody(JSON.parse(Buffer.concat(chunks).toString('utf8'))))
    },
  }
}

const DECOMPRESSORS = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
} as const

/** What the client accepts, as far as it can be read along. */
export function limitAcceptEncoding(headers: HeaderPairs): HeaderPairs {
  return headers.map(([name, value]) => {
    if (name.toLowerCase() !== 'accept-encoding') return [name, value]
    const accepted = value.split(',').map((each) => each.trim())
    const known = accepted.filter((each) =>
      isSupportedEncoding(each.split(';')[0]?.trim().toLowerCase() ?? ''),
    )
    if (known.length === accepted.length) return [name, value]
    return [name, known.length === 0 ? 'identity' : known.join(', ')]
  })
}

function isSupportedEncoding(encoding: string): boolean {
  return encoding === 'identity' || Object.hasOwn(DECOMPRESSORS, encoding)
}

function decompressing(encoding: string, listener: ResponseListener): ResponseListener | null {
  if (encoding === '' || encoding === 'identity') return listener
  const create = DECOMPRESSORS[encoding as keyof typeof DECOMPRESSORS]
  if (create === undefined) return null
  const unpacker = create()
  unpacker.on('data', (bytes: Buffer) => ignoreErrors(() => listener.chunk(bytes)))
  const ended = new Promise<void>((resolve) => {
    unpacker.once('end', resolve).once('error', () => resolve())
  })
  return {
    chunk: (bytes) => void unpacker.write(bytes),
    end: async () => {
      unpacker.end()
      await ended
      await listener.end()
    },
  }
}

/** Two that hear the same, neither in the other's way. */
export function combineListeners(one: ResponseListener, other: ResponseListener): ResponseListener {
  if (one === NO_LISTENER) return other
  if (other === NO_LISTENER) return one
  return {
    chunk: (bytes) => {
      ignoreErrors(() => one.chunk(bytes))
      other.chunk(bytes)
    },
    end: async () => {
      await Promise.all([one.end(), other.end()])
    },
  }
}

function ignoreErrors(listen: () => void): void {
  try {
    listen()
  } catch {
    /* what can't be read is passed on all the same */
  }
}
