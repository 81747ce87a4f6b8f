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

export type FailureChannel = {
  readonly report: FailureListener
  /** Returns a function that ends the subscription. */
  readonly subscribe: (listener: FailureListener) => () => void
}

export function createFailureChannel(): FailureChannel {
  const listeners = new Set<FailureListener>()
  return {
    report: (failure) => {
      for (const listener of listeners) listener(failure)
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
