/**
 * A typed client of the REST API, without dependencies.
 *
 * @example
 * import { createClient } from 'recollect/client'
 *
 * const client = createClient({ apiKey: 'rc_agent_…' })
 * const { memories } = await client.recall({ user: 'ada' }, { text: 'what should I drink?' })
 */

export type { Memory, Operations } from './api-types.ts'
export {
  type Client,
  type ClientFilter,
  type ClientListQuery,
  type ClientMessage,
  type ClientOptions,
  type ClientRecallQuery,
  type ClientRecallResult,
  type ClientScope,
  createClient,
  type Draft,
  type Edit,
  type Input,
  type OperationName,
  type Output,
  type RecalledTurn,
} from './rest-client.ts'
export { RecollectError } from './rest-error.ts'
export type { CallOptions } from './rest-transport.ts'
