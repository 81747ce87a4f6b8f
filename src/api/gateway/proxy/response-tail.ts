/**
 * The end of an answer. It is passed on once the answer is recorded, or may be recorded afterwards, so that a client which
 * has all of an answer can rely on the transcript. Where recording keeps up, nothing is held back.
 */
import type { AnswerReader } from '../formats/format.ts'

export type Write = (piece: Uint8Array) => void

export type AnswerTail = {
  /** Passes a piece on that was read along, or holds it back. */
  pass(piece: Uint8Array, write: Write): void
  /** The body has come to its end: resolves when the answer may end as well, at once where this is null. */
  end(): Promise<void> | null
  /** Passes on what was held back. */
  release(write: Write): void
}

/** For answers that nobody records. */
export const NO_TAIL: AnswerTail = {
  pass: (piece, write) => write(piece),
  end: () => null,
  release: () => {},
}

export type AnswerTailOptions = {
  /** Whether the body is a stream of events; the last piece of any other body is told by its end alone. */
  readonly isStream: boolean
  readonly reader: AnswerReader
  readonly mayEnd: () => boolean
  /** Resolves when the answer is recorded. */
  readonly record: () => Promise<void>
}

/** How long the last events are held back for a provider that doesn't end its stream. */
const HELD_MS_MAX = 250

export function createAnswerTail(options: AnswerTailOptions): AnswerTail {
  const { isStream, reader, mayEnd, record } = options
  const held: Uint8Array[] = []
  let timer: ReturnType<typeof setTimeout> | null = null
  let isReleased = false
  const release = (write: Write) => {
    for (const piece of held.splice(0)) write(piece)
  }
  const passEvents = (piece: Uint8Array, write: Write) => {
    if (timer === null && reader.isEnded() && !mayEnd()) {
      timer = setTimeout(() => {
        isReleased = true
        release(write)
      }, HELD_MS_MAX)
      timer.unref()
    }
    if (timer === null || isReleased) write(piece)
    else held.push(piece)
  }
  const passWhole = (piece: Uint8Array, write: Write) => {
    release(write)
    held.push(piece)
  }
  return {
    pass: isStream ? passEvents : passWhole,
    end: () => {
      if (timer !== null) clearTimeout(timer)
      return mayEnd() ? null : record()
    },
    release,
  }
}
