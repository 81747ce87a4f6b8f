/** Streams a response to the client, byte for byte and with backpressure, while listeners parse a copy. */
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { AppError } from '../../../lib/errors.ts'
import { createSseParser } from '../../../lib/sse.ts'
import { type HeaderPairs, headerValue, type UpstreamResponse } from '../../../models/upstream.ts'
import type { AnswerReader } from '../formats/format.ts'
import { NO_TAIL, type ResponseTail } from './response-tail.ts'

/** Receives the bytes of a response. A listener can neither delay nor fail the response. */
export type ResponseListener = {
  chunk(bytes: Uint8Array): void
  /** Called when the body has ended, before the client receives the end. */
  ended?(): void
  /** Resolves when all bytes are processed. */
  end(): Promise<void>
}

export const NO_LISTENER: ResponseListener = { chunk: () => {}, end: async () => {} }

/** Larger bodies that are not streamed are not buffered for parsing. */
const BUFFERED_BYTES_MAX = 8 * 1_048_576

/**
 * Pipes the body to the client. Resolves when the body has ended; rejects when the provider breaks off or the client
 * disconnects. Uses events, because an async iterator costs extra ticks per chunk.
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
    let [hasStarted, hasWritten, hasEnded] = [false, false, false]
    // Headers and the first chunk go out together, unless the provider pauses after its headers.
    setImmediate(() => {
      // `writeHead` marks headers as sent, but Node holds them back until a body or a flush.
      if (!hasWritten && !response.destroyed) response.flushHeaders()
    })
    const resume = () => source.resume()
    const write = (chunk: Uint8Array) => {
      if (response.destroyed) return // the client disconnected while the chunk was held back
      hasWritten = true
      if (!response.write(chunk)) source.pause()
    }
    const end = () => {
      tail.release(write)
      if (!response.destroyed) response.end()
    }
    const onDisconnect = () => {
      // `close` also follows a complete response.
      if (response.writableFinished) return
      reject(clientClosedError())
      source.destroy()
    }
    source
      .on('data', (chunk: Uint8Array) => {
        if (!hasStarted) onFirstByte()
        hasStarted = true
        // The listener goes first: the tail asks the reader whether the response has ended.
        ignoreErrors(() => listener.chunk(chunk))
        tail.push(chunk, write)
      })
      .once('end', () => {
        hasEnded = true
        ignoreErrors(() => listener.ended?.())
        const recording = tail.end()
        if (recording === null) end()
        else recording.then(end, end)
      })
      .on('error', reject)
      .once('close', () => {
        if (!hasEnded) reject(source.errored ?? clientClosedError())
      })
    response.on('drain', resume).once('finish', resolve).once('close', onDisconnect)
    if (response.destroyed) onDisconnect()
    // A source that failed before the handlers were attached emits nothing more.
    if (source.destroyed) reject(source.errored ?? clientClosedError())
  })
}

function clientClosedError(): AppError {
  return new AppError('cancelled', 'The client disconnected before the response was complete.')
}

type ResponseReader = Pick<AnswerReader, 'readEvent' | 'readBody'>

/** Parses a response into a reader, streamed or not. Null when its content encoding is unknown. */
export function createReaderListener(
  reader: ResponseReader,
  headers: HeaderPairs,
): ResponseListener | null {
  const listener = isEventStream(headers) ? parseEventsInto(reader) : bufferInto(reader)
  return decompressInto(headerValue(headers, 'content-encoding'), listener)
}

export function isEventStream(headers: HeaderPairs): boolean {
  return headerValue(headers, 'content-type').includes('text/event-stream')
}

function parseEventsInto(reader: ResponseReader): ResponseListener {
  const parse = createSseParser((event) => reader.readEvent(event))
  return { chunk: (bytes) => parse(bytes), end: async () => parse(null) }
}

function bufferInto(reader: ResponseReader): ResponseListener {
  const chunks: Uint8Array[] = []
  let length = 0
  return {
    chunk: (bytes) => {
      length += bytes.length
      if (length <= BUFFERED_BYTES_MAX) chunks.push(bytes)
    },
    end: async () => {
      if (length > BUFFERED_BYTES_MAX) return
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

/** Limits `Accept-Encoding` to encodings that can be decoded here. */
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

function decompressInto(encoding: string, listener: ResponseListener): ResponseListener | null {
  if (encoding === '' || encoding === 'identity') return listener
  const create = DECOMPRESSORS[encoding as keyof typeof DECOMPRESSORS]
  if (create === undefined) return null
  const decompressor = create()
  decompressor.on('data', (bytes: Buffer) => ignoreErrors(() => listener.chunk(bytes)))
  const ended = new Promise<void>((resolve) => {
    decompressor.once('end', resolve).once('error', () => resolve())
  })
  return {
    chunk: (bytes) => void decompressor.write(bytes),
    end: async () => {
      decompressor.end()
      await ended
      await listener.end()
    },
  }
}

/** An error of one listener does not affect the other. */
export function combineListeners(one: ResponseListener, other: ResponseListener): ResponseListener {
  if (one === NO_LISTENER) return other
  if (other === NO_LISTENER) return one
  return {
    chunk: (bytes) => {
      ignoreErrors(() => one.chunk(bytes))
      other.chunk(bytes)
    },
    ended: () => {
      one.ended?.()
      other.ended?.()
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
    // A response that cannot be parsed is passed through all the same.
  }
}
