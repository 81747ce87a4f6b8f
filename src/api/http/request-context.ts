/** The context of one HTTP request. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { z } from 'zod'
import type { Engine } from '../../engine/engine.ts'
import type { Caller } from '../operations/authorization.ts'
import type { EmbeddingProvider, OperationContext } from '../operations/operation.ts'
import type { PathFields } from './router.ts'
import type { Principal } from './security/authentication.ts'

export type RequestContext = {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly requestId: string
  readonly path: string
  readonly query: string
  readonly address: string
  /** Aborts when the client disconnects, or when the shutdown grace period is over. */
  readonly signal: AbortSignal
  /** Null where no key is required and none was sent. */
  readonly principal: Principal | null
  readonly fields: PathFields
}

/** What every operation gets besides its caller. */
export type ServerContext = {
  readonly engine: Engine
  readonly version: string
  readonly embeddingProviders: readonly EmbeddingProvider[]
}

export function createOperationContext(
  { engine, version, embeddingProviders }: ServerContext,
  caller: Caller,
  signal: AbortSignal,
): OperationContext {
  return { engine, version, embeddingProviders, caller, signal }
}

export type BuiltinRoute = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly summary: string
  /** `open` ignores keys. `optional` returns more to callers with a key. */
  readonly access: 'open' | 'optional' | 'key'
  /** Part of another documented route: left out of the description. */
  readonly isUndocumented?: boolean
  readonly input?: z.ZodObject
  /** Responses by status: JSON of this schema, text of this type, or no content. */
  readonly answers: { readonly [status: number]: z.ZodType | string | null }
  readonly handle: (exchange: RequestContext) => Promise<void>
}
