/**
 * A loggable form of an error: its class, code and location, without anything that it may quote.
 */
import { AppError, type ErrorCode } from '../lib/errors.ts'
import { redactSecrets } from './log-redaction.ts'

export type SafeError = {
  readonly name: string
  readonly code?: string
  readonly message?: string
  /** Stack locations, innermost first. */
  readonly stack?: readonly string[]
  readonly cause?: SafeError
}

const FRAMES_MAX = 20
const CAUSES_MAX = 3
const MESSAGE_CHARACTERS_MAX = 300
/** Their messages quote input, or come from other packages. */
const QUOTING: ReadonlySet<ErrorCode> = new Set(['invalid_input', 'internal'])

export function toSafeError(thrown: unknown, causes = 0): SafeError {
  if (!(thrown instanceof Error)) return { name: typeof thrown }
  const code = 'code' in thrown ? thrown.code : undefined
  const stack = framesOf(thrown)
  return {
    name: /^\w{1,60}$/.test(thrown.name) ? thrown.name : 'Error',
    ...(isCode(code) ? { code } : {}),
    ...(thrown instanceof AppError && !QUOTING.has(thrown.code)
      ? { message: redactSecrets(thrown.message, MESSAGE_CHARACTERS_MAX) }
      : {}),
    ...(stack.length === 0 ? {} : { stack }),
    ...(thrown.cause === undefined || causes >= CAUSES_MAX
      ? {}
      : { cause: toSafeError(thrown.cause, causes + 1) }),
  }
}

/** For example `not_found`, `ECONNREFUSED` or `ERR_INVALID_ARG_TYPE`. */
function isCode(code: unknown): code is string {
  return typeof code === 'string' && /^[A-Za-z][A-Za-z0-9_]{1,60}$/.test(code)
}

const FRAME = /^\s+at (.+:\d+:\d+\)?|.*\(<anonymous>\)|.*\(native\))$/

/**
 * A stack begins with the message, which may have many lines, some of them crafted to look like
 * locations.
 */
function framesOf({ stack = '', message }: Error): readonly string[] {
  if (typeof stack !== 'string' || typeof message !== 'string') return []
  return stack
    .replace(message, () => '')
    .split('\n')
    .slice(1)
    .filter((line) => FRAME.test(line))
    .slice(0, FRAMES_MAX)
    .map((line) => line.trim())
}
