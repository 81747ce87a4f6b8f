/** Operations on single memories: adding, reading, changing, binning, restoring, and their history. */
import { z } from 'zod'
import type { MemoryId } from '../../../domain/ids.ts'
import { CONTENT_CHARACTERS_MAX, KEY_CHARACTERS_MAX } from '../../../domain/limits.ts'
import { TRUST_LEVELS } from '../../../domain/memory.ts'
import { type ScopeInput, SHARED_OWNER } from '../../../domain/scope.ts'
import { AppError } from '../../../lib/errors.ts'
import { omitUndefined } from '../../../lib/object.ts'
import type { DraftInput, EditInput } from '../../../memory/draft.ts'
import type { Forgotten } from '../../../memory/memory-editor.ts'
import type { RememberResult } from '../../../memory/memory-writer.ts'
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
  .describe('The id of a memory, as mem_01k3x….')
const versionField = z
  .int()
  .min(1)
  .optional()
  .describe('Only if it still is at this version. Over HTTP also as If-Match.')

const content = z.string().min(1).max(CONTENT_CHARACTERS_MAX)
const key = z.string().max(KEY_CHARACTERS_MAX).nullable()

export const draftFields = {
  type: memoryTypeSchema.optional(),
  category: memoryCategorySchema.optional(),
  importance: z.int().min(1).max(10).optional(),
  salience: z.number().min(0).max(1).optional(),
  pinned: z.boolean().optional().describe('Pinned memories do not age.'),
  trust: z
    .enum(TRUST_LEVELS)
    .optional()
    .describe('Who said it; `suspect` is kept for review only.'),
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
    'New; put in the place of what held the key; said before; in the place of what it contradicts; or kept beside it.',
  ),
  memory: wireMemory,
  other: wireMemory.nullable().describe('What was replaced, repeated or contradicted.'),
  reason: z.string().nullable().describe('How it contradicts the other memory, where it does.'),
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
  summary: 'Stores a memory, or updates the one with the same key.',
  access: 'write',
  input: z.strictObject({
    ...scopeFields,
    content: content.describe('One statement that stands on its own.'),
    key: key.optional().describe('Its name: a second memory with the same one updates the first.'),
    ...draftFields,
    source: z.string().max(100).optional().describe('What wrote it.'),
    speaker: z.string().max(100).optional().describe('Who said it.'),
    observedAt: timeField.optional().describe('When it was said, if not just now.'),
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
      await context.engine.remember(resolveScope(context, input, 'write'), {
        ...omitUndefined(named),
        provenance,
      } as DraftInput), // the schema is that of a draft
    )
  },
})

export const learnMemories = defineOperation({
  name: 'memory.learn',
  summary:
    'Finds what a person says about themselves in a text, without a model, and remembers it.',
  access: 'write',
  input: z.strictObject({
    ...scopeFields,
    text: z.string().min(1).max(200_000),
    observedAt: timeField.optional(),
    source: z.string().max(100).optional(),
  }),
  output: z.object({
    remembered: z.array(rememberOutput),
    rejected: z.int().describe('Statements that were forgotten before and are not stored again.'),
  }),
  http: { method: 'POST', path: '/api/memory/learn' },
  cli: 'learn',
  targets: ({ remembered: all }) => all.map(({ id }) => id),
  run: async (context, { text, observedAt, source, ...input }) => {
    const learned = await context.engine.learn(resolveScope(context, input, 'write'), text, {
      source: source ?? 'api',
      ...(observedAt === undefined ? {} : { observedAt }),
    })
    return { remembered: learned.remembered.map(toRememberOutput), rejected: learned.refused }
  },
})

/** Where a memory that is to be read is: what a search finds in shared memory can be read by its id as well. */
async function scopeOfMemory(
  context: OperationContext,
  input: ScopeFields,
  id: string,
): Promise<ScopeInput> {
  const own = resolveScope(context, input, 'read')
  if (ownerInInput(input) !== undefined) return own
  const { 'recall.sharedMemoryEnabled': sharedMemory } = await context.engine.settings.resolve(null)
  if (!sharedMemory || (await context.engine.get(own, id)) !== null) return own
  const shared = { owner: SHARED_OWNER }
  return (await context.engine.get(shared, id)) === null ? own : shared
}

const singleMemoryOutput = z.object({ memory: wireMemory })
const memoryChange = z.object({ success: z.literal(true), memory: wireMemory })
const byId = z.strictObject({ ...scopeFields, id: memoryIdField })
const versionOf = ({ memory }: z.output<typeof singleMemoryOutput>) => memory.version

export const getMemory = defineOperation({
  name: 'memory.get',
  summary: 'One memory, whole.',
  access: 'read',
  input: byId,
  output: singleMemoryOutput,
  http: { method: 'GET', path: '/api/memory/{id}', version: versionOf },
  mcp: {
    tool: 'memory_get',
    description: 'Read one memory or turn in full by the id that memory_search gave.',
    fields: ['id'],
  },
  cli: 'get',
  run: async (context, { id, ...input }) => {
    const scope = await scopeOfMemory(context, input, id)
    const memory = await context.engine.get(scope, id)
    if (memory === null) throw new AppError('not_found', `There is no memory ${id} here.`, { id })
    return { memory: toWireMemory(memory) }
  },
})

export const updateMemory = defineOperation({
  name: 'memory.update',
  summary: 'Changes what is given and leaves the rest.',
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
  output: memoryChange,
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
    const { id, version, owner: _o, apiKeyId: _a, user: _u, sessionId: _s, ...edit } = input
    const scope = resolveScope(context, input, 'write')
    if (Object.keys(omitUndefined(edit)).length === 0) {
      throw new AppError('invalid_input', 'Say what to change.')
    }
    const memory = await context.engine.edit(
      scope,
      id,
      omitUndefined(edit) as EditInput, // the schema is that of an edit
      version === undefined ? {} : { version },
    )
    return { success: true as const, memory: toWireMemory(memory) }
  },
})

export const turnsDisabled = z
  .int()
  .describe('Turns of conversations that stated it and are not recalled any more.')
const turnsEnabled = z
  .int()
  .describe('Turns that are recalled again, because it is no longer forgotten.')

function toForgotten(forgotten: Forgotten) {
  return { memory: toWireMemory(forgotten), turnsDisabled: forgotten.turnsDisabled }
}

export const forgetMemory = defineOperation({
  name: 'memory.forget',
  summary:
    'Puts a memory into the bin, from where it can be restored, and disables the turns that state it.',
  access: 'write',
  isIdempotent: true,
  input: byId,
  output: memoryChange.extend({ turnsDisabled }),
  http: { method: 'DELETE', path: '/api/memory/{id}', version: versionOf },
  cli: 'forget',
  targets: ({ memory }) => [memory.id],
  run: async (context, { id, ...input }) => ({
    success: true as const,
    ...toForgotten(await context.engine.forget(resolveScope(context, input, 'write'), id)),
  }),
})

const candidate = z.object({
  id: z.string(),
  snippet: z.string(),
  score: z.number(),
})

export const forgetMatching = defineOperation({
  name: 'memory.forgetMatching',
  summary: 'Forgets the memory with an id, or the only one that clearly fits a description.',
  access: 'write',
  isDestructive: true, // it can be undone, but a model should ask before it
  input: z.strictObject({
    ...scopeFields,
    id: memoryIdField.optional(),
    query: z.string().min(1).max(10_000).optional(),
  }),
  output: z.object({
    forgotten: wireMemory.nullable(),
    candidates: z.array(candidate).describe('When it is not clear which one is meant.'),
    turnsDisabled,
  }),
  http: { method: 'POST', path: '/api/memory/forget' },
  mcp: {
    tool: 'memory_forget',
    description:
      'Forget one memory when the user asks for it. Give its id, or a query: a single clear hit is forgotten, otherwise candidates are listed and nothing is changed; call again with an id.',
    fields: ['id', 'query', 'user'],
  },
  targets: ({ forgotten }) => (forgotten === null ? [] : [forgotten.id]),
  run: async (context, { id, query, ...input }) => {
    const scope = resolveScope(context, input, 'write')
    if ((id === undefined) === (query === undefined)) {
      throw new AppError('invalid_input', 'Give either an id or a query.', { field: 'query' })
    }
    if (id !== undefined) {
      const { memory, turnsDisabled } = toForgotten(await context.engine.forget(scope, id))
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

/** How much of the description a memory must hold, and how far the next one must be behind, to be meant without doubt. */
const CLEAR_COVERAGE = 0.6
const CLEAR_LEAD = 0.7

export const memoryHistory = defineOperation({
  name: 'memory.history',
  summary: 'Every version of a memory, the one in force first.',
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
  run: async (context, { id, ...input }) => {
    const versions = await context.engine.history(await scopeOfMemory(context, input, id), id)
    return { versions: versions.map(toWireVersion) }
  },
})

export const restoreMemory = defineOperation({
  name: 'memory.restore',
  summary:
    'Takes a memory out of the bin or switches it on again; with a version, brings that one back.',
  access: 'write',
  isIdempotent: true,
  input: z.strictObject({
    ...scopeFields,
    id: memoryIdField,
    version: z.int().min(1).optional().describe('The version to bring back.'),
  }),
  output: memoryChange.extend({ turnsEnabled }),
  http: { method: 'POST', path: '/api/memory/{id}/restore' },
  cli: 'restore',
  targets: ({ memory }) => [memory.id],
  run: async (context, { id, version, ...input }) => {
    const restored = await context.engine.restore(
      resolveScope(context, input, 'write'),
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
  summary: 'Takes a memory out of recall without forgetting it; restoring switches it on again.',
  access: 'write',
  isIdempotent: true,
  input: byId,
  output: memoryChange,
  http: { method: 'POST', path: '/api/memory/{id}/disable' },
  cli: 'disable',
  targets: ({ memory }) => [memory.id],
  run: async (context, { id, ...input }) => ({
    success: true as const,
    memory: toWireMemory(await context.engine.disable(resolveScope(context, input, 'write'), id)),
  }),
})

export const undoMemoryChange = defineOperation({
  name: 'memory.undo',
  summary: 'Takes back everything that one change did.',
  access: 'write',
  input: z.strictObject({ ...scopeFields, change: z.string().min(1).max(100) }),
  output: z.object({
    memories: z.array(wireMemory),
    conflictingFields: z
      .array(z.string())
      .describe('Fields that later changes have set again: undo leaves them.'),
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
  summary: 'Removes a memory with its history for good.',
  access: 'curate',
  isDestructive: true,
  input: byId,
  output: erased,
  http: { method: 'POST', path: '/api/memory/{id}/erase' },
  cli: 'erase',
  targets: (_, { id }) => [id as MemoryId],
  run: async (context, { id, ...input }) =>
    context.engine.erase(resolveScope(context, input, 'curate'), id),
})

export const emptyTrash = defineOperation({
  name: 'memory.emptyTrash',
  summary:
    'Erases memories that are in the trash for longer than the setting `binDays`, or than `days`.',
  access: 'curate',
  isDestructive: true,
  input: z.strictObject({ ...scopeFields, days: z.int().min(0).max(3_650).optional() }),
  output: erased,
  http: { method: 'POST', path: '/api/memory/empty-trash' },
  cli: 'erase',
  targets: () => ['trash'],
  run: async (context, { days, ...input }) =>
    context.engine.emptyTrash(
      resolveScope(context, input, 'curate'),
      days === undefined ? {} : { days },
    ),
})
