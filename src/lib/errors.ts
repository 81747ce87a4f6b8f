/**
 * The closed list of error codes. REST, MCP and CLI map a code to a status or an exit code by this table alone, so that a
 * failure looks the same everywhere.
 */
export const ERRORS = {
  invalid_input: { status: 400, exit: 2, retryable: false, help: 'The input breaks a rule.' },
  unauthenticated: {
    status: 401,
    exit: 15,
    retryable: false,
    help: 'No key was given, or it is not known, expired or revoked.',
  },
  forbidden: { status: 403, exit: 16, retryable: false, help: 'The key may not do this.' },
  not_found: { status: 404, exit: 4, retryable: false, help: 'No such thing in this scope.' },
  conflict: {
    status: 409,
    exit: 5,
    retryable: true,
    help: 'Something else changed it first, or holds the same key.',
  },
  method_not_allowed: {
    status: 405,
    exit: 17,
    retryable: false,
    help: 'The address exists, but not for this method.',
  },
  precondition_failed: {
    status: 412,
    exit: 18,
    retryable: false,
    help: 'It is no longer the version that was named.',
  },
  timeout: {
    status: 408,
    exit: 22,
    retryable: true,
    help: 'What was sent did not arrive in time.',
  },
  too_large: { status: 413, exit: 19, retryable: false, help: 'More was sent than fits.' },
  unsupported_media_type: {
    status: 415,
    exit: 20,
    retryable: false,
    help: 'The body is in a form that is not read here.',
  },
  too_many_requests: {
    status: 429,
    exit: 21,
    retryable: true,
    help: 'The key asks more often than it may. The answer says when to ask again.',
  },
  forgotten: {
    status: 410,
    exit: 6,
    retryable: false,
    help: 'It was forgotten after this was said, and stays forgotten.',
  },
  locked: {
    status: 503,
    exit: 7,
    retryable: false,
    help: 'The database is encrypted and the key is missing or wrong.',
  },
  damaged: {
    status: 503,
    exit: 8,
    retryable: false,
    help: 'A file is damaged: the database, or that of a model.',
  },
  schema_mismatch: {
    status: 503,
    exit: 9,
    retryable: false,
    help: 'The database was written by another version of Recollect.',
  },
  busy: {
    status: 503,
    exit: 10,
    retryable: true,
    help: 'Another process kept the database locked, or worked for the same owner, for too long.',
  },
  disk_full: { status: 507, exit: 11, retryable: true, help: 'There is no space left to write.' },
  read_only: {
    status: 503,
    exit: 12,
    retryable: false,
    help: 'The database cannot be written to.',
  },
  unavailable: {
    status: 503,
    exit: 13,
    retryable: true,
    help: 'A part that is needed cannot be reached.',
  },
  bad_gateway: {
    status: 502,
    exit: 23,
    retryable: true,
    help: 'The provider of a model cannot be reached.',
  },
  gateway_timeout: {
    status: 504,
    exit: 24,
    retryable: true,
    help: 'The provider of a model did not answer in time.',
  },
  missing_part: {
    status: 501,
    exit: 14,
    retryable: false,
    help: 'Something that this needs is not there: an optional package, or a model.',
  },
  cancelled: { status: 499, exit: 130, retryable: true, help: 'It was stopped before it ended.' },
  internal: { status: 500, exit: 1, retryable: false, help: 'A bug in Recollect.' },
} as const

export type ErrorCode = keyof typeof ERRORS

/** Structured details of a message: ids, names, limits. Never memory text, never secrets. */
export type ErrorDetails = { readonly [name: string]: string | number | boolean | null }

/** An error in one field of the input; `field` is a path such as `metadata.tags.0`. */
export type FieldError = { readonly field: string; readonly message: string }

export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: ErrorCode
  readonly facts: ErrorDetails

  constructor(code: ErrorCode, message: string, facts: ErrorDetails = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.facts = facts
  }

  get retryable(): boolean {
    return ERRORS[this.code].retryable
  }

  /** The invalid fields, if the input is invalid. */
  get details(): readonly FieldError[] {
    const { field } = this.facts
    return typeof field === 'string' ? [{ field, message: this.message }] : []
  }
}

/** Input with several invalid fields. */
export class ValidationError extends AppError {
  readonly #fields: readonly FieldError[]

  constructor(fields: readonly FieldError[]) {
    const [first] = fields
    super(
      'invalid_input',
      fields.length === 1 && first !== undefined
        ? first.message
        : `${fields.length} fields are wrong: ${fields.map(({ field }) => field).join(', ')}.`,
    )
    this.#fields = fields
  }

  override get details(): readonly FieldError[] {
    return this.#fields
  }
}

/** Turns anything that was thrown into an AppError; what is none becomes `internal` and keeps its cause. */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  return new AppError('internal', message, {}, thrown)
}
