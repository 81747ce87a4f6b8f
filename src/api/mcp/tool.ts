/** What a tool is to this door: something a model may call, with its schemas and a short telling of its answers. */
import { z } from 'zod'
import { InvalidFields } from '../../domain/errors.ts'
import type { Access } from '../operations/authorization.ts'
import { type Context, type McpSpelling, type Operation, perform } from '../operations/operation.ts'

export type Fields = { readonly [field: string]: unknown }
export type JsonSchema = { readonly type: 'object'; readonly [keyword: string]: unknown }

export type Tool = {
  readonly name: string
  /** Tells a model when to use it. */
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
  /** Answers with what the output schema says, or throws an AppError. */
  call(context: Context, given: Fields): Promise<Fields>
  /** The answer in few words, for clients that show nothing but text. */
  tell(output: Fields): string
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

/** What a caller may leave to the model, beyond the fields that everybody has. */
export type Latitude = {
  /** Whether the model may name the owner. */
  readonly namesOwner: boolean
  /** Whether the model may name the user. */
  readonly namesUser: boolean
}

/** The tool that an operation is, spelled like this. */
export function toTool(
  operation: Operation,
  mcp: McpSpelling,
  { namesOwner, namesUser }: Latitude,
  tell: Tool['tell'],
): Tool {
  const { access, input, output } = operation
  const fields = [
    ...mcp.fields.filter((field) => field !== 'user' || namesUser),
    ...(namesOwner && 'owner' in input.shape ? ['owner'] : []),
  ]
  const picked = z.strictObject(
    Object.fromEntries(Object.entries(input.shape).filter(([field]) => fields.includes(field))),
  )
  const isReading = access === 'read'
  return {
    name: mcp.tool,
    description: mcp.description,
    access,
    inputSchema: inputSchemaOf(picked),
    outputSchema: outputSchemaOf(output),
    annotations: {
      readOnlyHint: isReading,
      destructiveHint: operation.isDestructive ?? false,
      idempotentHint: isReading || (operation.isIdempotent ?? false),
      openWorldHint: false,
    },
    call: async (context, given) => {
      refuseStrangers(given, fields)
      return (await perform(operation, context, { ...given, ...mcp.fixed })) as Fields // outputs are objects
    },
    tell,
  }
}

/** The operation knows more fields than a model may give; those are as unknown here as misspelt ones. */
function refuseStrangers(given: Fields, fields: readonly string[]): void {
  const strangers = Object.keys(given).filter((field) => !fields.includes(field))
  if (strangers.length === 0) return
  const known = fields.length === 0 ? 'It takes none.' : `It takes: ${fields.join(', ')}.`
  throw new InvalidFields(
    strangers.map((field) => ({
      field: field.slice(0, FIELD_SHOWN_CHARACTERS),
      message: `There is no field "${field.slice(0, FIELD_SHOWN_CHARACTERS)}" here. ${known}`,
    })),
  )
}
const FIELD_SHOWN_CHARACTERS = 80
