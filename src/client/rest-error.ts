/** What a server answered instead of the result, or why there is no answer. */
export class RecollectError extends Error {
  override readonly name = 'RecollectError'
  /** A code of the table in docs/reference/errors.md, or `unreachable`, `timeout` and `cancelled` without an answer. */
  readonly code: string
  /** 0 without an answer. */
  readonly status: number
  readonly details: readonly { readonly field: string; readonly message: string }[]
  /** Whether the same request may succeed later. */
  readonly retryable: boolean
  /** Finds the request in the log of the server. */
  readonly requestId: string | null
  /** How long the server asked to wait. */
  readonly retryAfterMs: number | null

  constructor(
    code: string,
    message: string,
    facts: {
      readonly status?: number
      readonly details?: RecollectError['details']
      readonly retryable?: boolean
      readonly requestId?: string | null
      readonly retryAfterMs?: number | null
      readonly cause?: unknown
    } = {},
  ) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.code = code
    this.status = facts.status ?? 0
    this.details = facts.details ?? []
    this.retryable = facts.retryable ?? false
    this.requestId = facts.requestId ?? null
    this.retryAfterMs = facts.retryAfterMs ?? null
  }
}
