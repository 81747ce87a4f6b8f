/** Operations on single memories: add, read, edit, forget, restore, history. */
import { z } from 'zod'
import type { MemoryId } from '../../../domain/ids.ts'
import { CONTENT_CHARACTERS_MAX, KEY_CHARACTERS_MAX } from '../../../domain/limits.ts'
import { type Memory, TRUST_LEVELS } from '../../../domain/memory.ts'
import { type ScopeInput, SHARED_OWNER } from '../../../domain/scope.ts'
import { assessAuthorship } from '../../../learning/statement-trust.ts'
import { AppError } from '../../../lib/errors.ts'
import { omitUndefined } from '../../../lib/object.ts'
import type { EditInput } from '../../../memory/draft.ts'
import type { Forgotten } from '../../../memory/memory-editor.ts'
import type { RememberResult } from '../../../memory/memory-writer.ts'
import { assertAccess } from '../authorization.ts'
import { type AttributedDraft, attributeDraft, authorOf, editAsAuthor } from '../authorship.ts'
import {
  memoryCategorySchema,
  memoryTypeSchema,
  metadataSchema,
  timeField,
  toSnippet,
  toWireMemory,
  toWireVersion,
  wireMemory,
  wireVersion,
} from '../memory-schema.ts'
import { defineOperation, type OperationContext, ownerInInput } from '../operation.ts'
import { resolveScope, type ScopeFields, scopeFields } from '../scope-fields.ts'

export const memoryIdField = z
  .string()
  .min(1)
  .max(100)
  .describe('The id of a memory, such as mem_01k3x….')
const versionField = z
  .int()
  .min(1)
  .optional()
  .describe('Only if it is still at this version. Over HTTP also as If-Match.')

const content = z.string().min(1).max(CONTENT_CHARACTERS_MAX)
const key = z.string().max(KEY_CHARACTERS_MAX).nullable()

export const draftFields = {
  type: memoryTypeSchema.optional(),
  category: memoryCategorySchema.optional(),
  importance: z.int().min(1).max(10).optional(),
  salience: z.number().min(0).max(1).optional(),
  pinned: z.boolean().optional().describe('Pinned memories do not decay.'),
  trust: z
    .enum(TRUST_LEVELS)
    .optional()
    .describe('Origin of the statement; `suspect` waits for review.'),
  validFrom: timeField.nullable().optional(),
  validUntil: timeField.nullable().optional(),
  expiresAt: timeField.nullable().optional(),
  entities: z.array(z.string().max(200)).max(64).optional(),
  language: z.string().max(35).nullable().optional(),
  metadata: metadataSchema.optional(),
}

const outcome = z.enum(['create', 'update', 'duplicate', 'supersede', 'conflict'])

const rememberOutput = z.object({
  success: z.literal(true),
  id: z.string(),
  outcome: outcome.describe(
    'create: new; update: same key; duplicate: already known; supersede: replaced a contradicted memory; conflict: kept beside it.',
  ),
  memory: wireMemory,
  other: wireMemory.nullable().describe('The memory that was replaced, repeated or contradicted.'),
  reason: z.string().nullable().describe('How it contradicts the other memory.'),
})

function toRememberOutput({ outcome, memory, other, reason }: RememberResult) {
  return {
    success: true as const,
    id: memory.id,
    outcome,
    memory: toWireMemory(memory),
    other: other === null ? null : toWireMemory(other),
    reason,
  }
}

export const addMemory = defineOperation({
  name: 'memory.add',
  summary: 'Stores a memory, or updates the memory with the same key.',
  access: 'write',
  input: z.strictObject({
    ...scopeFields,
    content: content.describe('One self-contained statement.'),
    key: key.optional().describe('A unique name: a memory with an existing key updates it.'),
    ...draftFields,
    source: z.string().max(100).optional().describe('The writer.'),
    speaker: z.string().max(100).optional().describe('The speaker.'),
    observedAt: timeField.optional().describe('When it was said. Default: now.'),
  }),
  output: rememberOutput,
  http: {
    method: 'POST',
    path: '/api/memory',
    status: 201,
    version: ({ memory }: z.output<typeof rememberOutput>) => memory.version,
  },
  mcp: {
    tool: 'memory_add',
    description:
      'Save a fact worth keeping for later conversations: a preference, decision, name, date or correction. One self-contained statement per call. Use a key to update the same fact later.',
    fields: ['content', 'key', 'type', 'category', 'importance', 'user', 'sessionId', 'expiresAt'],
    fixedInput: { source: 'mcp' },
  },
  cli: 'add',
  targets: ({ id }) => [id],
  run: async (context, input) => {
    const { source, speaker, owner: _o, apiKeyId: _a, user: _u, sessionId: _s, ...draft } = input
    const provenance = { source: source ?? 'api', ...(speaker === undefined ? {} : { speaker }) }
    const named = draft.key === '' ? { ...draft, key: null } : draft
    return toRememberOutput(
      await context.engine.remember(
        resolveScope(context, input, 'write'),
        attributeDraft(context, { ...omitUndefined(named), provenance } as AttributedDraft), // the schema is that of a draft
      ),
    )
  },
})

export const learnMemories = defineOperation({
  name: 'memory.learn',
  summary:
    'Extracts and stores what the user says about themself, by patterns and without a model.',
  access: 'write',
  input: z.strictObject({
    ...scopeFields,
    text: z.string().min(1).max(200_000),
    observedAt: timeField.optional(),
    source: z.string().max(100).optional(),
    dryRun: z.boolean().optional().describe('Only returns what would be stored.'),
  }),
  output: z.object({
    remembered: z.array(rememberOutput),
    rejected: z.int().describe('Statements that were forgotten before; they are not stored again.'),
    forgotten: z
      .array(wireMemory)
      .describe('Memories that the text asks to forget. Undo the change of each to restore it.'),
  }),
  http: { method: 'POST', path: '/api/memory/learn' },
  cli: 'learn',
  targets: ({ remembered: all }) => all.map(({ id }) => id),
  run: async (context, { text, observedAt, source, dryRun = false, ...input }) => {
    const learned = await context.engine.learn(resolveScope(context, input, 'write'), text, {
      source: source ?? 'api',
      trust: assessAuthorship(authorOf(context), []),
      dryRun,
      ...(observedAt === undefined ? {} : { observedAt }),
    })
    return {
      remembered: learned.remembered.map(toRememberOutput),
      rejected: learned.refused,
      forgotten: learned.forgotten.map(toWireMemory),
    }
  },
})

/** Ids of our own. Any other id may be one that a memory had in the system it was imported from. */
const OWN_ID = /^(?:mem|turn|chg|rev)_/

type LocatedMemory = { readonly scope: ScopeInput; readonly id: string }

/** Resolves ids of other systems. Their clients name no owner, so a superadmin reaches those of every owner. */
async function locateMemory(
  context: OperationContext,
  input: ScopeFields,
  id: string,
): Promise<LocatedMemory> {
  const scope = resolveScope(context, input, 'write')
  if (OWN_ID.test(id)) return { scope, id }
  return (await findImported(context, input, scope, id)) ?? { scope, id }
}

async function findImported(
  { engine, caller }: OperationContext,
  input: ScopeFields,
  scope: ScopeInput,
  id: string,
): Promise<LocatedMemory | null> {
  const isAnyOwner = caller.role === 'superadmin' && ownerInInput(input) === undefined
  const places = isAnyOwner ? await engine.admin.listPlaces() : []
  for (const owner of new Set([scope.owner, ...places.map((place) => place.owner)])) {
    const found = await engine.admin.findImportedMemory(owner, id)
    if (found !== null) return { scope: owner === scope.owner ? scope : { owner }, id: found }
  }
  if (UUID.test(id)) throw new AppError('not_found', `Memory ${id} not found.`, { id })
  return null
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

/** Where to read a memory from: search also returns shared memories, so reads reach them too. */
async function scopeOfMemory(
  context: OperationContext,
  input: ScopeFields,
  id: string,
): Promise<LocatedMemory> {
  const own = resolveScope(context, input, 'read')
  if (!OWN_ID.test(id)) {
    const imported = await findImported(context, input, own, id)
    if (imported !== null) return imported
  }
  return { scope: await sharedOrOwn(context, input, own, id), id }
}

async function sharedOrOwn(
  context: OperationContext,
  input: ScopeFields,
  own: ScopeInput,
  id: string,
): Promise<ScopeInput> {
  if (ownerInInput(input) !== undefined) return own
  const { 'recall.sharedMemoryEnabled': sharedMemory } =
    await context.engine.admin.settings.resolve(null)
  if (!sharedMemory || (await context.engine.get(own, id)) !== null) return own
  const shared = { owner: SHARED_OWNER }
  return (await context.engine.get(shared, id)) === null ? own : shared
}

const includeTrash = z.boolean().optional().describe('Also reads a memory in the trash.')

/** Whoever had a memory forgotten expects it to be gone. */
function assertNotInTrash({ id, status }: Memory): void {
  if (status !== 'forgotten') return
  const message = `Memory ${id} is in the trash. Read it with \`includeTrash\`, or restore it.`
  throw new AppError('not_found', message, { id, isInTrash: true })
}

const singleMemoryOutput = z.object({ memory: wireMemory })
const memoryChange = z.object({ success: z.literal(true), memory: wireMemory })
const byId = z.strictObject({ ...scopeFields, id: memoryIdField })
const versionOf = ({ memory }: z.output<typeof singleMemoryOutput>) => memory.version

export const getMemory = defineOperation({
  name: 'memory.get',
  summary: 'One memory in full.',
  access: 'read',
  input: byId.extend({ includeTrash }),
  output: singleMemoryOutput,
  http: { method: 'GET', path: '/api/memory/{id}', version: versionOf },
  mcp: {
    tool: 'memory_get',
    description: 'Read one memory or turn in full by an id from memory_search.',
    fields: ['id'],
  },
  cli: 'get',
  run: async (context, { id: givenId, includeTrash: withTrash, ...input }) => {
    const { scope, id } = await scopeOfMemory(context, input, givenId)
    const memory = await context.engine.get(scope, id)
    if (memory === null) throw new AppError('not_found', `Memory ${id} not found.`, { id })
    if (withTrash !== true) assertNotInTrash(memory)
    return { memory: toWireMemory(memory) }
  },
})

export const updateMemory = defineOperation({
  name: 'memory.update',
  summary: 'Updates the given fields.',
  access: 'write',
  isIdempotent: true,
  input: z.strictObject({
    ...scopeFields,
    id: memoryIdField,
    version: versionField,
    content: content.optional(),
    key: key.optional(),
    ...draftFields,
  }),
  output: memoryChange.extend({
    outcome: z
      .enum(['update', 'conflict'])
      .optional()
      .describe(
        'conflict: a model reworded a statement of a person, which stays as it is; `memory` is the new one.',
      ),
  }),
  http: { method: 'PUT', path: '/api/memory/{id}', version: versionOf },
  mcp: {
    tool: 'memory_update',
    description:
      'Correct or complete a memory that is wrong or outdated. The former wording stays in its history.',
    fields: ['id', 'content', 'key', 'type', 'category', 'importance', 'pinned', 'expiresAt'],
  },
  cli: 'edit',
  targets: ({ memory }) => [memory.id],
  run: async (context, input) => {
    const {
      id: givenId,
      version,
      owner: _o,
      apiKeyId: _a,
      user: _u,
      sessionId: _s,
      ...edit
    } = input
    const { scope, id } = await locateMemory(context, input, givenId)
    if (Object.keys(omitUndefined(edit)).length === 0) {
      throw new AppError('invalid_input', 'At least one field to change is required.')
    }
    const memory = await editAsAuthor(
      context,
      scope,
      id,
      omitUndefined(edit) as EditInput, // the schema is that of an edit
      version === undefined ? {} : { version },
    )
    const outcome = memory.id === id ? ('update' as const) : ('conflict' as const)
    return { success: true as const, memory: toWireMemory(memory), outcome }
  },
})

export const turnsDisabled = z.int().describe('Turns that state it and are no longer recalled.')
const turnsEnabled = z.int().describe('Turns that are recalled again.')

function toForgotten(forgotten: Forgotten) {
  return { memory: toWireMemory(forgotten), turnsDisabled: forgotten.turnsDisabled }
}

export const forgetMemory = defineOperation({
  name: 'memory.forget',
  summary:
    'Moves a memory to the trash and disables the turns that state it. It can be restored, unless `permanent` erases it.',
  access: 'write',
  isIdempotent: true,
  input: byId.extend({
    permanent: z
      .boolean()
      .optional()
      .describe('Erases it with its history, also from the trash; requires curate access.'),
  }),
  output: memoryChange.extend({ turnsDisabled, erased: z.boolean().optional() }),
  http: { method: 'DELETE', path: '/api/memory/{id}', version: versionOf },
  cli: 'forget',
  targets: ({ memory }) => [memory.id],
  run: async (context, { id: givenId, permanent, ...input }) => {
    assertAccess(context.caller, permanent === true ? 'curate' : 'write')
    const { engine } = context
    const { scope, id } = await locateMemory(context, input, givenId)
    const memory = await engine.get(scope, id)
    if (memory === null) throw new AppError('not_found', `Memory ${id} not found.`, { id })
    if (permanent === true) {
      const { turnsDisabled: turns } = await engine.memories.erase(scope, id)
      const left = toWireMemory({ ...memory, content: '', key: null, entities: [], metadata: {} })
      return { success: true as const, memory: left, turnsDisabled: turns, erased: true }
    }
    assertNotInTrash(memory)
    return { success: true as const, ...toForgotten(await engine.forget(scope, id)) }
  },
})

const candidate = z.object({
  id: z.string(),
  snippet: z.string(),
  score: z.number(),
})

export const forgetMatching = defineOperation({
  name: 'memory.forgetMatching',
  summary: 'Forgets a memory by id, or the single clear match of a query.',
  access: 'write',
  isDestructive: true, // it can be undone, but a model should ask before it
  input: z.strictObject({
    ...scopeFields,
    id: memoryIdField.optional(),
    memoryId: memoryIdField.optional().describe('Alias of `id`.'),
    query: z.string().min(1).max(10_000).optional(),
  }),
  output: z.object({
    forgotten: wireMemory.nullable(),
    candidates: z.array(candidate).describe('Candidates when there is no single clear match.'),
    turnsDisabled,
  }),
  http: { method: 'POST', path: '/api/memory/forget' },
  mcp: {
    tool: 'memory_forget',
    description:
      'Forget one memory when the user asks for it. Give its id, or a query: a single clear hit is forgotten, otherwise candidates are listed and nothing is changed; call again with an id.',
    fields: ['id', 'memoryId', 'query', 'user'],
  },
  targets: ({ forgotten }) => (forgotten === null ? [] : [forgotten.id]),
  run: async (context, { id: ownId, memoryId, query, ...input }) => {
    const id = ownId ?? memoryId
    const scope = resolveScope(context, input, 'write')
    if ((id === undefined) === (query === undefined)) {
      throw new AppError('invalid_input', 'Exactly one of `id` and `query` is required.', {
        field: 'query',
      })
    }
    if (id !== undefined) {
      const located = await locateMemory(context, input, id)
      const { memory, turnsDisabled } = toForgotten(
        await context.engine.forget(located.scope, located.id),
      )
      return { forgotten: memory, candidates: [], turnsDisabled }
    }
    const { memories } = await context.engine.recall(scope, {
      text: query ?? '',
      limit: CANDIDATES_MAX,
      reach: 'owner',
      include: 'facts',
    })
    const [best, second] = memories
    const isClear =
      best !== undefined &&
      best.coverage >= CLEAR_COVERAGE &&
      (second === undefined || second.score < best.score * CLEAR_LEAD)
    if (isClear) {
      const done = toForgotten(await context.engine.forget(scope, best.memory.id))
      return { forgotten: done.memory, candidates: [], turnsDisabled: done.turnsDisabled }
    }
    return {
      forgotten: null,
      candidates: memories.map(({ memory, score }) => ({
        id: memory.id,
        snippet: toSnippet(memory.content),
        score,
      })),
      turnsDisabled: 0,
    }
  },
})

const CANDIDATES_MAX = 5

/** The coverage that a match needs, and its lead over the next one, to be unambiguous. */
const CLEAR_COVERAGE = 0.6
const CLEAR_LEAD = 0.7

export const memoryHistory = defineOperation({
  name: 'memory.history',
  summary: 'All versions of a memory, current one first.',
  access: 'read',
  input: byId,
  output: z.object({ versions: z.array(wireVersion) }),
  http: { method: 'GET', path: '/api/memory/{id}/history' },
  mcp: {
    tool: 'memory_history',
    description:
      'See how a memory changed over time: earlier wordings and when they were replaced.',
    fields: ['id'],
  },
  cli: 'history',
  run: async (context, { id: givenId, ...input }) => {
    const { scope, id } = await scopeOfMemory(context, input, givenId)
    const versions = await context.engine.memories.history(scope, id)
    return { versions: versions.map(toWireVersion) }
  },
})

export const memoryChain = defineOperation({
  name: 'memory.chain',
  summary: 'A memory with what it replaced and what replaced it, oldest first.',
  access: 'read',
  input: byId,
  output: z.object({ memories: z.array(wireMemory) }),
  http: { method: 'GET', path: '/api/memory/{id}/chain' },
  run: async (context, { id: givenId, ...input }) => {
    const { scope, id } = await scopeOfMemory(context, input, givenId)
    const memories = await context.engine.memories.chain(scope, id)
    return { memories: memories.map(toWireMemory) }
  },
})

export const restoreMemory = defineOperation({
  name: 'memory.restore',
  summary: 'Restores a memory from the trash or enables it; with `version`, restores that version.',
  access: 'write',
  isIdempotent: true,
  input: z.strictObject({
    ...scopeFields,
    id: memoryIdField,
    version: z.int().min(1).optional().describe('The version to restore.'),
  }),
  output: memoryChange.extend({ turnsEnabled }),
  http: { method: 'POST', path: '/api/memory/{id}/restore' },
  cli: 'restore',
  targets: ({ memory }) => [memory.id],
  run: async (context, { id: givenId, version, ...input }) => {
    const { scope, id } = await locateMemory(context, input, givenId)
    const restored = await context.engine.restore(
      scope,
      id,
      version === undefined ? {} : { version },
    )
    return {
      success: true as const,
      memory: toWireMemory(restored),
      turnsEnabled: restored.turnsEnabled,
    }
  },
})

export const disableMemory = defineOperation({
  name: 'memory.disable',
  summary: 'Disables a memory: it is kept but not recalled until restored.',
  access: 'write',
  isIdempotent: true,
  input: byId,
  output: memoryChange,
  http: { method: 'POST', path: '/api/memory/{id}/disable' },
  cli: 'disable',
  targets: ({ memory }) => [memory.id],
  run: async (context, { id: givenId, ...input }) => {
    const { scope, id } = await locateMemory(context, input, givenId)
    return {
      success: true as const,
      memory: toWireMemory(await context.engine.memories.disable(scope, id)),
    }
  },
})

export const undoMemoryChange = defineOperation({
  name: 'memory.undo',
  summary: 'Undoes a change.',
  access: 'write',
  input: z.strictObject({ ...scopeFields, change: z.string().min(1).max(100) }),
  output: z.object({
    memories: z.array(wireMemory),
    conflictingFields: z
      .array(z.string())
      .describe('Fields that later changes have overwritten; undo leaves them as they are.'),
    turnsEnabled,
  }),
  http: { method: 'POST', path: '/api/memory/undo' },
  cli: 'undo',
  targets: ({ memories }) => memories.map(({ id }) => id),
  run: async (context, { change, ...input }) => {
    const undone = await context.engine.undo(resolveScope(context, input, 'write'), change)
    const { memories, conflictingFields, turnsEnabled } = undone
    return {
      ...{ memories: memories.map(toWireMemory), turnsEnabled },
      conflictingFields: [...conflictingFields],
    }
  },
})

const erased = z.object({ memories: z.int(), revisions: z.int(), turnsDisabled })

export const eraseMemory = defineOperation({
  name: 'memory.erase',
  summary: 'Erases a memory and its history permanently.',
  access: 'curate',
  isDestructive: true,
  input: byId,
  output: erased,
  http: { method: 'POST', path: '/api/memory/{id}/erase' },
  cli: 'erase',
  targets: (_, { id }) => [id as MemoryId],
  run: async (context, { id, ...input }) =>
    context.engine.memories.erase(resolveScope(context, input, 'curate'), id),
})

export const emptyTrash = defineOperation({
  name: 'memory.emptyTrash',
  summary:
    'Erases memories that have been in the trash longer than `days` (default: the setting `retention.trashDays`).',
  access: 'curate',
  isDestructive: true,
  input: z.strictObject({ ...scopeFields, days: z.int().min(0).max(3_650).optional() }),
  output: erased,
  http: { method: 'POST', path: '/api/memory/empty-trash' },
  cli: 'erase',
  targets: () => ['trash'],
  run: async (context, { days, ...input }) =>
    context.engine.memories.emptyTrash(
      resolveScope(context, input, 'curate'),
      days === undefined ? {} : { days },
    ),
})
