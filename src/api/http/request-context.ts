/** One request on its way through the door. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Engine } from '../../engine/engine.ts'
import type { Caller } from '../operations/authorization.ts'
import type { Context, EmbeddingProvider } from '../operations/operation.ts'
import type { PathFields } from './router.ts'
import type { Identity } from './security/authentication.ts'

export type Exchange = {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly requestId: string
  readonly path: string
  readonly query: string
  readonly address: string
  /** Fires when the client leaves, or when the server stops and has waited long enough. */
  readonly signal: AbortSignal
  /** Null where no key is needed and none was given. */
  readonly identity: Identity | null
  readonly fields: PathFields
}

/** What every operation is given besides its caller. */
export type Surroundings = {
  readonly engine: Engine
  readonly version: string
  readonly embeddingProviders: readonly EmbeddingProvider[]
}

export function contextOf(
  { engine, version, embeddingProviders }: Surroundings,
  caller: Caller,
  signal: AbortSignal,
): Context {
  return { engine, version, embeddingProviders, caller, signal }
}
