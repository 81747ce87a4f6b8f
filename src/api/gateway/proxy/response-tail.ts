/**
 * Holds back the end of a response until the exchange is recorded, so that a client that received a complete response
 * finds it in the transcript. While recording is fast, nothing is held back.
 */
import type { AnswerReader } from '../formats/format.ts'

type WriteChunk = (chunk: Uint8Array) => void

export type ResponseTail = {
  /** Writes a chunk that the reader has parsed, or holds it back. */
  push(chunk: Uint8Array, write: WriteChunk): void
  /** To be called when the body has ended. Resolves when the response may end; null when it may end at once. */
  end(): Promise<void> | null
  /** Writes the chunks that were held back. */
  release(write: WriteChunk): void
}

/** For responses that are not recorded. */
export const NO_TAIL: ResponseTail = {
  push: (chunk, write) => write(chunk),
  end: () => null,
  release: () => {},
}

type ResponseTailOptions = {
  /** Whether the body is an event stream; only the end of any other body tells which chunk is the last. */
  readonly isStream: boolean
  readonly reader: AnswerReader
  readonly canEnd: () => boolean
  /** Resolves when the exchange is recorded. */
  readonly record: () => Promise<void>
}

/** How long the last events are held back when the provider does not end its stream. */
const HOLD_TIMEOUT_MS = 250

export function createResponseTail(options: ResponseTailOptions): ResponseTail {
  const { isStream, reader, canEnd, record } = options
  const held: Uint8Array[] = []
  let timer: ReturnType<typeof setTimeout> | null = null
  let isReleased = false
  const release = (write: WriteChunk) => {
    for (const chunk of held.splice(0)) write(chunk)
  }
  const pushEvents = (chunk: Uint8Array, write: WriteChunk) => {
    if (timer === null && reader.isEnded() && !canEnd()) {
      timer = setTimeout(() => {
        isReleased = true
        release(write)
      }, HOLD_TIMEOUT_MS)
      timer.unref()
    }
    if (timer === null || isReleased) write(chunk)
    else held.push(chunk)
  }
  const pushBody = (chunk: Uint8Array, write: WriteChunk) => {
    release(write)
    held.push(chunk)
  }
  return {
    push: isStream ? pushEvents : pushBody,
    end: () => {
      if (timer !== null) clearTimeout(timer)
      return canEnd() ? null : record()
    },
    release,
  }
}
