/** Operations on identity profiles. */
import { z } from 'zod'
import { CONTENT_CHARACTERS_MAX } from '../../../domain/limits.ts'
import type { Memory } from '../../../domain/memory.ts'
import type { ScopeInput } from '../../../domain/scope.ts'
import { authorOf, editAsAuthor } from '../authorship.ts'
import { memoryIdField } from '../memories/memory-operations.ts'
import { toWireMemory, wireMemory } from '../memory-schema.ts'
import { defineOperation, type OperationContext } from '../operation.ts'
import { resolveScope, scopeFields } from '../scope-fields.ts'

const { owner, apiKeyId, user } = scopeFields
const scope = { owner, apiKeyId, user }
const content = z.string().min(1).max(CONTENT_CHARACTERS_MAX)
const versionOf = ({ memory }: { readonly memory: { readonly version: number } }) => memory.version

export const listIdentities = defineOperation({
  name: 'identity.list',
  summary:
    'Identity profiles: statements that are always injected for each user, and the narrative made from them.',
  access: 'read',
  input: z.strictObject(scope),
  output: z.object({
    identities: z.array(
      z.object({
        owner: z.string(),
        user: z.string().nullable(),
        overrides: z.array(wireMemory).describe('Oldest first, including disabled ones.'),
        narrative: wireMemory.nullable(),
      }),
    ),
  }),
  http: { method: 'GET', path: '/api/identity' },
  cli: 'identity',
  run: async (context, input) => {
    const { session: _, ...place } = resolveScope(context, input, 'read')
    const identities = await context.engine.learning.identity.list(place)
    return {
      identities: identities.map((identity) => ({
        owner: place.owner,
        user: identity.user,
        overrides: identity.overrides.map(toWireMemory),
        narrative: identity.narrative && toWireMemory(identity.narrative),
      })),
    }
  },
})

export const addIdentity = defineOperation({
  name: 'identity.add',
  summary: 'Adds an identity statement, unless it is known already.',
  access: 'write',
  isIdempotent: true,
  input: z.strictObject({
    ...scope,
    content: content.describe('One self-contained statement.'),
  }),
  output: z.object({
    success: z.literal(true),
    outcome: z
      .enum(['create', 'update', 'duplicate', 'supersede', 'conflict', 'known'])
      .describe('`known`: it existed (ignoring case) and was not changed.'),
    memory: wireMemory,
    other: wireMemory.nullable().describe('The memory that was replaced or contradicted.'),
  }),
  http: { method: 'POST', path: '/api/identity', status: 201, version: versionOf },
  cli: 'identity',
  targets: ({ outcome, memory }) => (outcome === 'known' ? [] : [memory.id]),
  run: async (context, { content: statement, ...input }) => {
    const { session: _, ...place } = resolveScope(context, input, 'write')
    const added = await context.engine.learning.identity.add(place, {
      content: statement,
      source: 'api',
      author: authorOf(context),
    })
    return {
      success: true as const,
      outcome: added.outcome,
      memory: toWireMemory(added.memory),
      other: added.other && toWireMemory(added.other),
    }
  },
})

const byId = z.strictObject({ ...scope, id: memoryIdField })
const identityChange = z.object({ success: z.literal(true), memory: wireMemory })

/** The memory operation, restricted to identity statements. */
async function changeIdentity(
  context: OperationContext,
  { id, ...input }: z.output<typeof byId>,
  change: (place: ScopeInput) => Promise<Memory>,
) {
  const { session: _, ...place } = resolveScope(context, input, 'write')
  await context.engine.learning.identity.get(place, id)
  return { success: true as const, memory: toWireMemory(await change(place)) }
}

export const getIdentity = defineOperation({
  name: 'identity.get',
  summary: 'One identity statement.',
  access: 'read',
  input: byId,
  output: z.object({ memory: wireMemory }),
  http: { method: 'GET', path: '/api/identity/{id}', version: versionOf },
  cli: 'identity',
  run: async (context, { id, ...input }) => {
    const { session: _, ...place } = resolveScope(context, input, 'read')
    return { memory: toWireMemory(await context.engine.learning.identity.get(place, id)) }
  },
})

export const editIdentity = defineOperation({
  name: 'identity.edit',
  summary: 'Edits an identity statement. The former wording stays in its history.',
  access: 'write',
  isIdempotent: true,
  input: z.strictObject({
    ...byId.shape,
    version: z.int().min(1).optional().describe('Only if it is still at this version.'),
    content,
  }),
  output: identityChange,
  http: { method: 'PATCH', path: '/api/identity/{id}', version: versionOf },
  cli: 'identity',
  targets: ({ memory }) => [memory.id],
  run: (context, { version, content: statement, ...input }) =>
    changeIdentity(context, input, (place) =>
      editAsAuthor(
        context,
        place,
        input.id,
        { content: statement },
        version === undefined ? {} : { version },
      ),
    ),
})

export const disableIdentity = defineOperation({
  name: 'identity.disable',
  summary: 'Disables an identity statement: it is kept but not injected.',
  access: 'write',
  isIdempotent: true,
  input: byId,
  output: identityChange,
  http: { method: 'POST', path: '/api/identity/{id}/disable' },
  cli: 'identity',
  targets: ({ memory }) => [memory.id],
  run: (context, input) =>
    changeIdentity(context, input, (place) => context.engine.memories.disable(place, input.id)),
})

export const forgetIdentity = defineOperation({
  name: 'identity.forget',
  summary: 'Moves an identity statement to the trash. It can be restored.',
  access: 'write',
  isIdempotent: true,
  input: byId,
  output: identityChange,
  http: { method: 'DELETE', path: '/api/identity/{id}', version: versionOf },
  cli: 'identity',
  targets: ({ memory }) => [memory.id],
  run: (context, input) =>
    changeIdentity(context, input, (place) => context.engine.forget(place, input.id)),
})

export const restoreIdentity = defineOperation({
  name: 'identity.restore',
  summary: 'Restores an identity statement from the trash, or enables it.',
  access: 'write',
  isIdempotent: true,
  input: byId,
  output: identityChange,
  http: { method: 'POST', path: '/api/identity/{id}/restore' },
  cli: 'identity',
  targets: ({ memory }) => [memory.id],
  run: (context, input) =>
    changeIdentity(context, input, (place) => context.engine.restore(place, input.id)),
})
