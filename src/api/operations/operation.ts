/**
 * What an operation is: an entry of the one table that REST, MCP and the command line all read, so that they can't
 * disagree. An entry says what goes in and out, who may do it, how each door spells it, and how it is done.
 */
import type { z } from 'zod'
import { SHARED_OWNER } from '../../domain/scope.ts'
import type { Engine } from '../../engine/engine.ts'
import { AppError, type FieldError, ValidationError } from '../../lib/errors.ts'
import { type Access, assertAccess, type Caller } from './authorization.ts'

/** A service that could make vectors, and whether its key is here. */
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
  readonly version: string
  readonly embeddingProviders: readonly EmbeddingProvider[]
  /** Fires when nobody waits for the answer any more. */
  readonly signal: AbortSignal
  /** Hears how far long work has come, where somebody looks. Must not fail. */
  readonly onProgress?: ProgressListener
}

export type ProgressListener = (progress: {
  readonly done: number
  readonly total: number
  /** What is counted, where the work has several stages. */
  readonly of?: string
}) => void

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * Fields in braces come from the path, the rest from the body where the method has one, else from the query.
 * An operation with an output that has a version answers with it as ETag, and takes If-Match as its field `version`.
 */
export type HttpBinding = {
  readonly method: HttpMethod
  readonly path: string
  /** Default: 200. */
  readonly status?: 201 | 202
  /** Where the version of the answer stands, for an ETag. */
  readonly version?: (output: never) => number
  /** Reads or answers lines instead of one JSON value; the door passes them on as they come. */
  readonly stream?: 'in' | 'out'
}

export type McpBinding = {
  readonly tool: string
  /** Tells a model when to use it, in few words. */
  readonly description: string
  /** The fields of the input that a model may give. The owner comes from the key. */
  readonly fields: readonly string[]
  /** Given in its place, whatever the model says. */
  readonly fixedInput?: { readonly [field: string]: unknown }
}

type Shape = z.ZodObject

export type Operation<Input extends Shape = Shape, Output extends z.ZodType = z.ZodType> = {
  /** As `memory.add`: what it is about, then what is done. */
  readonly name: string
  readonly summary: string
  readonly access: Access
  /** Whether a second call with the same input changes nothing more. Reading always is. */
  readonly isIdempotent?: boolean
  /** Whether something is gone afterwards that an undo does not bring back, or much of it. */
  readonly isDestructive?: boolean
  /** Whether the answer holds a secret, which must not be kept anywhere. */
  readonly isSecret?: boolean
  readonly input: Input
  readonly output: Output
  readonly http: HttpBinding
  readonly mcp?: McpBinding
  /** The command that does it. */
  readonly cli?: string
  /** The ids of what was changed, for the audit log. Operations that only read leave it out. */
  targets?(output: z.output<Output>, input: z.output<Input>): readonly string[]
  run(context: OperationContext, input: z.output<Input>): Promise<z.input<Output>>
}

/** Gives `run` the types of the entry's own input and output, and keeps them for those who call it by name. */
export function defineOperation<Input extends Shape, Output extends z.ZodType>(
  operation: Operation<Input, Output>,
): Operation<Input, Output> {
  return operation
}

/** Checks the access, then the input, then does it and notes it in the audit log. Every door calls this and nothing else. */
export async function performOperation(
  operation: Operation,
  context: OperationContext,
  given: unknown,
): Promise<unknown> {
  assertAccess(context.caller, operation.access)
  const input = parseInput(operation, given)
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

/** Counting changes nothing, and there is nothing to note. */
function isDryRun(input: Fields): boolean {
  return input.dryRun === true
}

type Fields = { readonly [field: string]: unknown }

/** The input as it stands in the schema, with every fault told by its field. */
export function parseInput<Input extends Shape>(
  { input }: { readonly input: Input },
  given: unknown,
): z.output<Input> {
  const parsed = input.safeParse(given ?? {})
  if (parsed.success) return parsed.data
  throw new ValidationError(parsed.error.issues.flatMap(toFieldFaults))
}

/** While it is off, shared memory is there for superadmins only. */
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
  throw new AppError('not_found', 'There is no such owner here.')
}

/** The owner that the input names, under any of the names that callers know it by. */
export function ownerInInput(input: Fields): string | undefined {
  const { owner, apiKeyId, instanceId, agent_id } = input
  return [owner, apiKeyId, instanceId, agent_id].find((name) => typeof name === 'string') as
    | string
    | undefined // `find` looked for text
}

function toFieldFaults(issue: z.core.$ZodIssue): readonly FieldError[] {
  const path = issue.path.map(String)
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      field: [...path, key].join('.'),
      message: `There is no field "${key.slice(0, 80)}" here.`,
    }))
  }
  const field = path.join('.')
  const named = field === '' ? 'The input' : field
  // Messages of our own begin with the name already.
  const isNamed = issue.message.startsWith(named)
  return [{ field, message: isNamed ? issue.message : `${named}: ${issue.message}` }]
}
