import type { z } from 'zod'
import type { RequestContext } from './request-context.ts'

export type BuiltinRoute = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly summary: string
  /** `open`: a key is not even looked at. `optional`: tells more to those who bring one. */
  readonly access: 'open' | 'optional' | 'key'
  /** A part of something else that is described: left out of the description. */
  readonly isUndocumented?: boolean
  readonly input?: z.ZodObject
  /** By status, what is answered: JSON of this shape, a text of this type, or nothing. */
  readonly answers: { readonly [status: number]: z.ZodType | string | null }
  readonly handle: (exchange: RequestContext) => Promise<void>
}
