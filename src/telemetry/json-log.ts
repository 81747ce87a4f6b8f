/**
 * Log lines as JSON, one event each, written by pino. A line holds only fields of the closed table,
 * and only short plain values: a header, a body or a memory passed by mistake cannot get in. Errors
 * are logged with code and location; messages of errors from other packages are omitted, because
 * they tend to quote their input.
 */
import { type DestinationStream, destination, pino, stdTimeFunctions } from 'pino'
import { redactSecrets } from './log-redaction.ts'
import { toSafeError } from './safe-error.ts'
import {
  LOG_EVENTS,
  LOG_FIELDS,
  type LogEvent,
  type LogField,
  type LogFields,
  type LogLevel,
} from './telemetry.ts'

export type LogOptions = {
  /** The minimum level. Default: `info`. */
  readonly level?: LogLevel | 'silent'
  /** A file descriptor, or anything with `write`. Default: standard error. */
  readonly destination?: number | DestinationStream
}

export interface JsonLog {
  write(level: LogLevel, event: LogEvent, fields?: LogFields): void
  /** Flushes buffered lines and closes the file, unless it is a stream of the process. */
  close(): Promise<void>
}

const STANDARD_ERROR = 2
/** When nobody reads the output, lines are dropped: logging must not fill the memory. */
const UNWRITTEN_BYTES_MAX = 4 * 1024 * 1024
/** Lines are batched: a system call for each would cost more than the rest of a small request. */
const TOGETHER_BYTES = 8_192
const FLUSH_MS = 100
const CLOSE_MS = 1_000
const VALUE_CHARACTERS_MAX = 200
const LIST_VALUES_MAX = 20

type LogLine = { [name: string]: unknown }

export function createJsonLog({
  level = 'info',
  destination: to = STANDARD_ERROR,
}: LogOptions = {}): JsonLog {
  const file =
    typeof to === 'number'
      ? destination({
          fd: to,
          sync: false,
          maxLength: UNWRITTEN_BYTES_MAX,
          minLength: TOGETHER_BYTES,
        })
      : null
  let isClosed = false
  let flushing: NodeJS.Timeout | undefined
  /**
   * Repeats until nothing is pending, since a write in progress cannot be flushed; the timer stops
   * on an idle server.
   */
  const flushSoon = () => {
    flushing ??= setTimeout(() => {
      flushing = undefined
      if (isClosed || waiting <= 0) return
      file?.flush()
      flushSoon()
    }, FLUSH_MS).unref()
  }
  const flush = () => file?.flushSync()
  if (file !== null) process.once('exit', flush)
  // A full disk must not crash the process. pino handles a broken pipe.
  file?.on('error', () => {})
  /** Bytes handed over but not yet written to the file. */
  let waiting = 0
  file?.on('write', (bytes: number) => {
    waiting -= bytes
  })
  file?.on('drop', (line: string) => {
    waiting -= Buffer.byteLength(line)
  })
  const stream: DestinationStream =
    file === null
      ? (to as DestinationStream) // the number became a stream above
      : {
          write: (line) => {
            waiting += Buffer.byteLength(line)
            file.write(line)
            flushSoon()
          },
        }
  const logger = pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  )
  return {
    write: (level, event, fields = {}) => {
      if (!logger.isLevelEnabled(level)) return
      try {
        logger[level](toLogLine(event, fields))
      } catch {
        // A failed log write must not fail anything else.
      }
    },
    close: () =>
      new Promise((resolve) => {
        if (file === null || isClosed) return resolve()
        isClosed = true
        clearTimeout(flushing)
        process.off('exit', flush)
        // When the reader is gone, the `finish` event never comes.
        const patience = setTimeout(resolve, CLOSE_MS).unref()
        file.once('close', () => {
          clearTimeout(patience)
          resolve()
        })
        file.end()
      }),
  }
}

/** The line of an event: known fields with harmless values, and nothing else. */
export function toLogLine(event: LogEvent, fields: LogFields): LogLine {
  const line: LogLine = { event: Object.hasOwn(LOG_EVENTS, event) ? event : 'unknown' }
  let leftOut = 0
  for (const name of Object.keys(fields)) {
    if (name === 'error') continue
    const value = isField(name) ? safeValue(fields[name]) : undefined
    if (value !== undefined) line[name] = value
    else if (!isField(name) || fields[name] !== undefined) leftOut++
  }
  if (fields.error !== undefined) line.error = toSafeError(fields.error)
  if (leftOut > 0) line.leftOut = leftOut
  return line
}

function isField(name: string): name is LogField {
  return Object.hasOwn(LOG_FIELDS, name)
}

/** Undefined for a value that does not belong in a line. */
function safeValue(value: unknown): unknown {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) ? value : null
    case 'boolean':
      return value
    case 'string':
      return redactSecrets(value, VALUE_CHARACTERS_MAX)
    default:
      return value === null ? null : safeList(value)
  }
}

function safeList(value: unknown): unknown {
  if (!Array.isArray(value)) return undefined
  const texts = value.slice(0, LIST_VALUES_MAX).filter((each) => typeof each === 'string')
  return texts.map((text) => redactSecrets(text, VALUE_CHARACTERS_MAX))
}
