/** Failures of memory that do not fail the request: it continues with less memory or none, and the operator is told. */

export type FailureStage =
  | 'settings'
  | 'context'
  | 'identity'
  | 'gate'
  | 'recall'
  | 'inject'
  | 'record'
  | 'learn'
  | 'receipt'

export type MemoryFailure = {
  readonly stage: FailureStage
  readonly owner: string
  /** Null when the failure concerns several requests. */
  readonly requestId: string | null
  readonly error: unknown
}

export type FailureListener = (failure: MemoryFailure) => void
