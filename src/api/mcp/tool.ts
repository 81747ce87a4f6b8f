/** A tool: input and output schema, handler, and a text rendering of its result. */
import { z } from 'zod'
import { ValidationError } from '../../lib/errors.ts'
import type { Access } from '../operations/authorization.ts'
import {
  type McpBinding,
  type Operation,
  type OperationContext,
  performOperation,
} from '../operations/operation.ts'

export type ToolFields = { readonly [field: string]: unknown }
export type JsonSchema = { readonly type: 'object'; readonly [keyword: string]: unknown }

export type Tool = {
  readonly name: string
  /** Advises the model when to use the tool. */
  readonly description: string
  readonly access: Access
  readonly inputSchema: JsonSchema
  readonly outputSchema: JsonSchema
  readonly annotations: {
    readonly readOnlyHint: boolean
    readonly destructiveHint: boolean
    readonly idempotentHint: boolean
    readonly openWorldHint: boolean
  }
  /** What a person should confirm before a call with this input; null when nothing. */
  describeRisk(input: ToolFields): string | null
  /** Returns a value of the output schema or throws an AppError. */
  call(context: OperationContext, input: ToolFields): Promise<ToolFields>
  /** The result as text, for clients that ignore structured content. */
  formatResult(output: ToolFields): string
}

export function inputSchemaOf(schema: z.ZodType): JsonSchema {
  return toJsonSchema(schema, 'input')
}

export function outputSchemaOf(schema: z.ZodType): JsonSchema {
  return toJsonSchema(schema, 'output')
}

function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return rest as JsonSchema // inputs and outputs of operations are objects
}

/** Which scope fields a caller may leave to the model. */
export type ScopeChoice = {
  /** Whether the model may name the owner. */
  readonly canChooseOwner: boolean
  /** Whether the model may name the user. */
  readonly canChooseUser: boolean
}

/** The tool for an operation, with this name. */
export function toTool(
  operation: Operation,
  mcp: McpBinding,
  { canChooseOwner, canChooseUser }: ScopeChoice,
  formatResult: Tool['formatResult'],
): Tool {
  const { access, input, output } = operation
  const fields = [
    ...mcp.fields.filter((field) => field !== 'user' || canChooseUser),
    ...(canChooseOwner && 'owner' in input.shape ? ['owner'] : []),
  ]
  const offered = z.strictObject(
    Object.fromEntries(Object.entries(input.shape).filter(([field]) => fields.includes(field))),
  )
  const isRead = access === 'read'
  return {
    name: mcp.tool,
    description: mcp.description,
    access,
    inputSchema: inputSchemaOf(offered),
    outputSchema: outputSchemaOf(output),
    annotations: {
      readOnlyHint: isRead,
      destructiveHint: operation.isDestructive ?? false,
      idempotentHint: isRead || (operation.isIdempotent ?? false),
      openWorldHint: false,
    },
    describeRisk: (input) =>
      operation.isDestructive === true && input.dryRun !== true
        ? describeRisk(operation.name, input)
        : null,
    call: async (context, input) => {
      assertKnownFields(input, fields)
      return (await performOperation(operation, context, {
        ...input,
        ...mcp.fixedInput,
      })) as ToolFields // outputs are objects
    },
    formatResult,
  }
}

export const CLEARS_ALL = 'This forgets all memories that match.'
const DELETES_PERMANENTLY = 'This deletes permanently and cannot be undone.'
/** Operations that delete without a way back, whatever their input. */
const PERMANENT: ReadonlySet<string> = new Set(['session.forget', 'turn.forget'])

function describeRisk(operation: string, input: ToolFields): string | null {
  const { all, erase, permanent } = input
  if (erase === true || permanent === true || PERMANENT.has(operation)) return DELETES_PERMANENTLY
  return all === true ? CLEARS_ALL : null
}

/** Operation fields that a model may not set are as unknown here as misspelled ones. */
function assertKnownFields(input: ToolFields, fields: readonly string[]): void {
  const unknown = Object.keys(input).filter((field) => !fields.includes(field))
  if (unknown.length === 0) return
  const known =
    fields.length === 0 ? 'The tool takes no fields.' : `Known fields: ${fields.join(', ')}.`
  throw new ValidationError(
    unknown.map((field) => ({
      field: field.slice(0, FIELD_SHOWN_CHARACTERS),
      message: `Unknown field "${field.slice(0, FIELD_SHOWN_CHARACTERS)}". ${known}`,
    })),
  )
}
const FIELD_SHOWN_CHARACTERS = 80
