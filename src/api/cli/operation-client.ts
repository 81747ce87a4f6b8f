/** Performs operations from the table, locally or on a server. */
import type { z } from 'zod'
import type { Operation, ProgressListener } from '../operations/operation.ts'

export interface OperationClient {
  perform<Input extends z.ZodObject, Output extends z.ZodType>(
    operation: Operation<Input, Output>,
    input: z.input<Input>,
    /** Called for local operations only. */
    onProgress?: ProgressListener,
  ): Promise<z.output<Output>>
  /** Releases resources. No operation may be running. */
  close(): Promise<void>
}
