/** Whose memories an operation is about: what the input names, within what the caller reaches. */
import { z } from 'zod'
import { NAME_CHARACTERS_MAX } from '../../domain/limits.ts'
import type { ScopeInput } from '../../domain/scope.ts'
import { AppError } from '../../lib/errors.ts'
import { type Access, canReachOwner } from './authorization.ts'
import type { OperationContext } from './operation.ts'

const name = z.string().min(1).max(NAME_CHARACTERS_MAX)

/** `apiKeyId` is the owner under the name that users of another system know. */
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
    throw new AppError('invalid_input', 'owner and apiKeyId name different owners.', {
      field: 'apiKeyId',
    })
  }
  const named = owner ?? apiKeyId ?? caller.home
  if (canReachOwner(caller, named, access)) return named
  // Not forbidden: that would tell that there is such an owner.
  throw new AppError('not_found', 'Owner not found.')
}

export function resolveScope(
  context: OperationContext,
  input: ScopeFields,
  access: Access,
): ScopeInput {
  const owner = resolveOwner(context, input, access)
  const { caller } = context
  // Names of user and session that come with the caller are those of its home.
  const isHome = owner === caller.home
  const user = input.user ?? (isHome ? caller.user : undefined)
  const session = (input.sessionId || undefined) ?? (isHome ? caller.session : undefined)
  return {
    owner,
    ...(user === undefined ? {} : { user }),
    ...(session === undefined ? {} : { session }),
  }
}
