/**
 * An operation: an entry of the one table that REST, MCP and the command line share. It declares
 * input, output, access, the mapping to each transport, and the handler.
 */
import type { z } from 'zod'
import { SHARED_OWNER } from '../../domain/scope.ts'
import type { Engine } from '../../engine/engine.ts'
import { AppError, type FieldError, ValidationError } from '../../lib/errors.ts'
import { isObject } from '../../lib/json.ts'
import { type Access, assertAccess, type Caller } from './authorization.ts'

/** An embedding service and whether its API key is configured. */
export type EmbeddingProvider = {
  readonly provider: string
  readonly hasKey: boolean
  readonly models: readonly {
    readonly id: string
    readonly name: string
    readonly dimensions: number | null
  }[]
}

export type OperationContext = {
  readonly engine: Engine
  readonly caller: Caller
  /** Whether a model makes the call, with a tool: what it writes is the model's, whatever the key. */
  readonly isToolCall?: boolean
  readonly version: string
  readonly embeddingProviders: readonly EmbeddingProvider[]
  /** Aborts when the caller no longer waits for the result. */
  readonly signal: AbortSignal
  /** Receives progress of long operations. Must not throw. */
  readonly onProgress?: ProgressListener
}

export type ProgressListener = (progress: {
  readonly done: number
  readonly total: number
  /** The counted unit, for work with several stages. */
  readonly of?: string
}) => void

/** A file that is read once. */
export type Upload = { readonly bytes: AsyncIterable<Uint8Array>; readonly name: string }

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * Fields in braces come from the path, the others from the body or the query. An output with a
 * version is sent as ETag, and `If-Match` becomes the input field `version`.
 */
export type HttpBinding = {
  readonly method: HttpMethod
  readonly path: string
  /** Default: 200. */
  readonly status?: 201 | 202
  /** Reads the version from the output, for the ETag. */
  readonly version?: (output: never) => number
  /** With `Accept: application/x-ndjson`, progress is streamed before the result. Always so for uploads. */
  readonly hasProgress?: boolean
  /** NDJSON input or output, or an uploaded file, instead of one JSON value; the transport streams it. */
  readonly stream?: 'in' | 'out' | 'upload'
}

export type McpBinding = {
  readonly tool: string
  /** Advises the model when to use the tool. */
  readonly description: string
  /** The input fields that a model may set. The owner comes from the key. */
  readonly fields: readonly string[]
  /** Fixed input values that a model cannot change. */
  readonly fixedInput?: { readonly [field: string]: unknown }
}

type Shape = z.ZodObject

export type Operation<Input extends Shape = Shape, Output extends z.ZodType = z.ZodType> = {
  /** For example `memory.add`: resource, then action. */
  readonly name: string
  readonly summary: string
  readonly access: Access
  /** Whether repeating the call has no further effect. Always true for reads. */
  readonly isIdempotent?: boolean
  /** Whether it removes something that undo cannot restore, or removes in bulk. */
  readonly isDestructive?: boolean
  /** Whether the output contains a secret, which must not be stored anywhere. */
  readonly isSecret?: boolean
  readonly input: Input
  readonly output: Output
  readonly http: HttpBinding
  readonly mcp?: McpBinding
  /** The CLI command. */
  readonly cli?: string
  /** Ids of the affected resources for the audit log. Omitted by reads. */
  targets?(output: z.output<Output>, input: z.output<Input>): readonly string[]
  run(context: OperationContext, input: z.output<Input>): Promise<z.input<Output>>
}

/** Infers the types of `run` from the schemas and keeps them for direct callers. */
export function defineOperation<Input extends Shape, Output extends z.ZodType>(
  operation: Operation<Input, Output>,
): Operation<Input, Output> {
  return operation
}

/**
 * Runs an operation: access check, input validation, handler, audit log. Every transport calls
 * this.
 */
export async function performOperation(
  operation: Operation,
  context: OperationContext,
  rawInput: unknown,
): Promise<unknown> {
  assertAccess(context.caller, operation.access)
  const input = parseInput(operation, rawInput)
  await assertSharedVisible(context, input)
  const output = await operation.run(context, input)
  const { targets } = operation
  if (targets !== undefined && !isDryRun(input)) {
    await context.engine.admin.audit.append({
      actor: context.caller.key,
      operation: operation.name,
      owner: ownerInInput(input) ?? context.caller.home,
      targets: targets(output, input),
    })
  }
  return output
}

/** Counting is a read and not audited. */
function isDryRun(input: Fields): boolean {
  return input.dryRun === true
}

type Fields = { readonly [field: string]: unknown }

/** Validates the input and reports every invalid field. */
export function parseInput<Input extends Shape>(
  { input }: { readonly input: Input },
  rawInput: unknown,
): z.output<Input> {
  const parsed = input.safeParse(omitBlankFields(rawInput ?? {}))
  if (parsed.success) return parsed.data
  throw new ValidationError(parsed.error.issues.flatMap(toFieldErrors))
}

/** Clients of other systems send these as empty text when they are not given. */
const BLANKABLE_FIELDS = ['apiKeyId', 'type'] as const

function omitBlankFields(rawInput: unknown): unknown {
  if (!isObject(rawInput)) return rawInput
  const blank = BLANKABLE_FIELDS.filter((field) => {
    const value = rawInput[field]
    return value === '' || (Array.isArray(value) && value.length === 1 && value[0] === '')
  })
  const isBlank = (field: string) => blank.some((each) => each === field)
  return Object.fromEntries(Object.entries(rawInput).filter(([field]) => !isBlank(field)))
}

/** While shared memory is disabled, only superadmins reach it. */
async function assertSharedVisible(
  { engine, caller }: OperationContext,
  input: Fields,
): Promise<void> {
  if ((ownerInInput(input) ?? caller.home) !== SHARED_OWNER) return
  if (
    caller.role === 'superadmin' ||
    (await engine.admin.settings.resolve(null))['recall.sharedMemoryEnabled']
  )
    return
  throw new AppError('not_found', 'Owner not found.')
}

/** The owner that the input names, under any alias. */
export function ownerInInput(input: Fields): string | undefined {
  const { owner, apiKeyId, instanceId, agent_id } = input
  return [owner, apiKeyId, instanceId, agent_id].find((name) => typeof name === 'string') as
    | string
    | undefined // `find` looked for text
}

function toFieldErrors(issue: z.core.$ZodIssue): readonly FieldError[] {
  const path = issue.path.map(String)
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      field: [...path, key].join('.'),
      message: `Unknown field "${key.slice(0, 80)}".`,
    }))
  }
  const field = path.join('.')
  const named = field === '' ? 'The input' : field
  // Our own messages already start with the field name.
  const isNamed = issue.message.replace(/^`/, '').startsWith(named)
  return [{ field, message: isNamed ? issue.message : `${named}: ${issue.message}` }]
}
