/** What commands call: the entries of the one table of operations, done here or by a server. They can't tell which. */
import type { z } from 'zod'
import type { Operation, ProgressListener } from '../operations/operation.ts'

export interface OperationClient {
  perform<Input extends z.ZodObject, Output extends z.ZodType>(
    operation: Operation<Input, Output>,
    input: z.input<Input>,
    /** Heard where the work is done here; a server tells only the end. */
    onProgress?: ProgressListener,
  ): Promise<z.output<Output>>
  /** Lets go of what was opened. Nothing may be under way. */
  close(): Promise<void>
}
