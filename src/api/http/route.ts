import type { z } from 'zod'
import type { RequestContext } from './request-context.ts'

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
