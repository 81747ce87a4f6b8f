/**
 * The end of an answer. It is passed on once the answer is recorded, or may be recorded afterwards, so that a client which
 * has all of an answer can rely on the transcript. Where recording keeps up, nothing is held back.
 */
import type { AnswerReader } from '../formats/format.ts'

export type WriteChunk = (piece: Uint8Array) => void

export type ResponseTail = {
  /** Passes a piece on that was read along, or holds it back. */
  push(piece: Uint8Array, write: WriteChunk): void
  /** The body has come to its end: resolves when the answer may end as well, at once where this is null. */
  end(): Promise<void> | null
  /** Passes on what was held back. */
  release(write: WriteChunk): void
}

/** For answers that nobody records. */
export const NO_TAIL: ResponseTail = {
  push: (piece, write) => write(piece),
  end: () => null,
  release: () => {},
}

export type ResponseTailOptions = {
  /** Whether the body is a stream of events; the last piece of any other body is told by its end alone. */
  readonly isStream: boolean
  readonly reader: AnswerReader
  readonly canEnd: () => boolean
  /** Resolves when the answer is recorded. */
  readonly record: () => Promise<void>
}

/** How long the last events are held back for a provider that doesn't end its stream. */
const HOLD_TIMEOUT_MS = 250

export function createResponseTail(options: ResponseTailOptions): ResponseTail {
  const { isStream, reader, canEnd: mayEnd, record } = options
  const held: Uint8Array[] = []
  let timer: ReturnType<typeof setTimeout> | null = null
  let isReleased = false
  const release = (write: WriteChunk) => {
    for (const piece of held.splice(0)) write(piece)
  }
  const passEvents = (piece: Uint8Array, write: WriteChunk) => {
    if (timer === null && reader.isEnded() && !mayEnd()) {
      timer = setTimeout(() => {
        isReleased = true
        release(write)
      }, HOLD_TIMEOUT_MS)
      timer.unref()
    }
    if (timer === null || isReleased) write(piece)
    else held.push(piece)
  }
  const passWhole = (piece: Uint8Array, write: WriteChunk) => {
    release(write)
    held.push(piece)
  }
  return {
    push: isStream ? passEvents : passWhole,
    end: () => {
      if (timer !== null) clearTimeout(timer)
      return mayEnd() ? null : record()
    },
    release,
  }
}
