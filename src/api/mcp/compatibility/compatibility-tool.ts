/** Tools with the names and shapes of other systems, built on operations. */
import { z } from 'zod'
import { AppError } from '../../../lib/errors.ts'
import type { Access, Caller } from '../../operations/authorization.ts'
import { findOperation } from '../../operations/index.ts'
import type { WireMemory } from '../../operations/memory-schema.ts'
import { type OperationContext, parseInput, performOperation } from '../../operations/operation.ts'
import { inputSchemaOf, outputSchemaOf, type Tool, type ToolFields } from '../tool.ts'

type Definition<Input extends z.ZodObject, Output extends z.ZodObject> = {
  readonly name: string
  readonly description: string
  readonly access: Access
  readonly isDestructive?: boolean
  readonly isIdempotent?: boolean
  describeRisk?(input: ToolFields): string | null
  readonly input: Input
  readonly output: Output
  call(context: OperationContext, input: z.output<Input>): Promise<z.output<Output>>
  formatResult(output: z.output<Output>): string
}

export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  definition: Definition<Input, Output>,
): Tool {
  const { name, description, access, input, output, isDestructive, isIdempotent } = definition
  const isRead = access === 'read'
  return {
    name,
    description,
    access,
    inputSchema: inputSchemaOf(input),
    outputSchema: outputSchemaOf(output),
    annotations: {
      readOnlyHint: isRead,
      destructiveHint: isDestructive ?? false,
      idempotentHint: isRead || (isIdempotent ?? false),
      openWorldHint: false,
    },
    describeRisk: (fields) => definition.describeRisk?.(fields) ?? null,
    call: async (context, fields) => definition.call(context, parseInput(definition, fields)),
    formatResult: (output) => definition.formatResult(output as z.output<Output>), // what `call` returned
  }
}

/** Runs as an operation, so that access control and audit apply. */
export async function runOperation<Output>(
  context: OperationContext,
  operation: string,
  input: { readonly [field: string]: unknown },
): Promise<Output> {
  const fields = Object.entries(input).filter(([, value]) => value !== undefined)
  const output = await performOperation(
    findOperation(operation),
    context,
    Object.fromEntries(fields),
  )
  return output as Output // each call names the shape that the operation has
}

/** Search results without turns. */
export type MemorySearchOutput = {
  readonly results: readonly {
    readonly id: string
    readonly score: number
    readonly memory: WireMemory
  }[]
  readonly totalTokens: number
}

/**
 * Prompts of other systems name an owner in each call. The owner comes from the key: only
 * superadmins may name another one, and everybody else gets the not-found error of an unknown
 * owner.
 */
export function resolveCallerOwner({ role, home }: Caller, named: string | undefined): string {
  if (named === undefined || named === home || role === 'superadmin') return named ?? home
  throw new AppError(
    'not_found',
    'Owner not found. Omit the field: the API key determines the owner.',
  )
}

export const ownerNameField = z
  .string()
  .max(200)
  .optional()
  .describe('Omit it: the API key determines the owner.')
