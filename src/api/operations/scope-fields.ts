/**
 * Resolves the scope of an operation: the owner, user and session that the input names, within the
 * caller's reach.
 */
import { z } from 'zod'
import { NAME_CHARACTERS_MAX } from '../../domain/limits.ts'
import type { ScopeInput } from '../../domain/scope.ts'
import { AppError } from '../../lib/errors.ts'
import { type Access, canReachOwner } from './authorization.ts'
import type { OperationContext } from './operation.ts'

const name = z.string().min(1).max(NAME_CHARACTERS_MAX)

/** `apiKeyId` is another system's name for the owner. */
export const scopeFields = {
  owner: name.optional().describe("The owner. Default: the key's default owner."),
  apiKeyId: name.optional().describe('Alias of `owner`.'),
  user: name.optional().describe('Only this user of the owner.'),
  sessionId: z
    .string()
    .max(NAME_CHARACTERS_MAX)
    .optional()
    .describe('Only this session. Empty: all sessions.'),
}

export type ScopeFields = {
  readonly owner?: string | undefined
  readonly apiKeyId?: string | undefined
  readonly user?: string | undefined
  readonly sessionId?: string | undefined
}

export function resolveOwner(
  context: OperationContext,
  input: ScopeFields,
  access: Access,
): string {
  const { caller } = context
  const { owner, apiKeyId } = input
  if (owner !== undefined && apiKeyId !== undefined && owner !== apiKeyId) {
    throw new AppError('invalid_input', '`owner` and `apiKeyId` must name the same owner.', {
      field: 'apiKeyId',
    })
  }
  const named = owner ?? apiKeyId ?? caller.home
  if (canReachOwner(caller, named, access)) return named
  // Not found instead of forbidden, so that callers cannot probe for owner names.
  throw new AppError('not_found', 'Owner not found.')
}

export function resolveScope(
  context: OperationContext,
  input: ScopeFields,
  access: Access,
): ScopeInput {
  const owner = resolveOwner(context, input, access)
  const { caller } = context
  // The caller's default user and session apply to its default owner only.
  const isHome = owner === caller.home
  const user = input.user ?? (isHome ? caller.user : undefined)
  const session = (input.sessionId || undefined) ?? (isHome ? caller.session : undefined)
  return {
    owner,
    ...(user === undefined ? {} : { user }),
    ...(session === undefined ? {} : { session }),
  }
}
