/** Operations on review and conflicts. */
import { z } from 'zod'
import { CONTENT_CHARACTERS_MAX } from '../../../domain/limits.ts'
import { DISTILLATION_EXTRACTOR, type Memory } from '../../../domain/memory.ts'
import { isAssistantInstruction } from '../../../text/prompt-injection.ts'
import { memoryIdField } from '../memories/memory-operations.ts'
import { toWireMemory, wireMemory } from '../memory-schema.ts'
import { defineOperation } from '../operation.ts'
import { nextCursorField as next, pageFields } from '../page-fields.ts'
import { resolveScope, scopeFields } from '../scope-fields.ts'

const byId = z.strictObject({ ...scopeFields, id: memoryIdField })

const conflictSchema = z
  .object({
    memory: wireMemory.describe('The statement that contradicts the other one.'),
    other: wireMemory.describe('The older statement.'),
  })
  .meta({ id: 'Conflict' })

export type WireConflict = z.output<typeof conflictSchema>

export const listConflicts = defineOperation({
  name: 'review.conflicts',
  summary: 'Lists conflicts between active memories, newest first.',
  access: 'read',
  input: z.strictObject({ ...scopeFields, ...pageFields }),
  output: z.object({ conflicts: z.array(conflictSchema), next }),
  http: { method: 'GET', path: '/api/review/conflicts' },
  cli: 'review',
  run: async (context, { limit, after, ...input }) => {
    const page = await context.engine.learning.review.listConflicts(
      resolveScope(context, input, 'read'),
      {
        limit,
        ...(after === undefined ? {} : { after }),
      },
    )
    return {
      conflicts: page.rows.map(({ memory, other }) => ({
        memory: toWireMemory(memory),
        other: toWireMemory(other),
      })),
      next: page.next,
    }
  },
})

export const resolveConflict = defineOperation({
  name: 'review.resolve',
  summary:
    'Resolves a conflict: one memory supersedes the other, optionally reworded. Can be undone.',
  access: 'curate',
  input: z.strictObject({
    ...scopeFields,
    keep: memoryIdField.describe('The memory to keep.'),
    drop: memoryIdField.describe('The memory that it supersedes.'),
    content: z
      .string()
      .min(1)
      .max(CONTENT_CHARACTERS_MAX)
      .optional()
      .describe('New wording of the kept memory. Default: unchanged.'),
  }),
  output: z.object({
    kept: wireMemory,
    dropped: wireMemory,
    change: z.string().describe('The change to pass to undo.'),
  }),
  http: { method: 'POST', path: '/api/review/resolve' },
  cli: 'review',
  targets: ({ kept, dropped }) => [kept.id, dropped.id],
  run: async (context, { keep, drop, content, ...input }) => {
    const scope = resolveScope(context, input, 'curate')
    const { kept, dropped } = await context.engine.learning.review.resolveConflict(
      scope,
      { keep, drop },
      content,
    )
    return { kept: toWireMemory(kept), dropped: toWireMemory(dropped), change: kept.change }
  },
})

export const reconcileMemory = defineOperation({
  name: 'review.reconcile',
  summary: 'Marks two conflicting memories as compatible.',
  access: 'curate',
  input: byId,
  output: z.object({ memory: wireMemory }),
  http: { method: 'POST', path: '/api/review/{id}/reconcile' },
  cli: 'review',
  targets: ({ memory }) => [memory.id],
  run: async (context, { id, ...input }) => ({
    memory: toWireMemory(
      await context.engine.learning.review.keepBoth(resolveScope(context, input, 'curate'), id),
    ),
  }),
})

const REVIEW_REASONS = ['instruction', 'ungrounded', 'marked'] as const

function explainReview({ content, provenance }: Memory): (typeof REVIEW_REASONS)[number] {
  if (isAssistantInstruction(content)) return 'instruction'
  return provenance.extractor === DISTILLATION_EXTRACTOR ? 'ungrounded' : 'marked'
}

export const listReview = defineOperation({
  name: 'review.list',
  summary: 'Lists memories that wait for review because they look like instructions, newest first.',
  access: 'read',
  input: z.strictObject({ ...scopeFields, ...pageFields }),
  output: z.object({
    memories: z.array(wireMemory),
    reasons: z
      .record(z.string(), z.enum(REVIEW_REASONS))
      .describe(
        'Why each memory waits, by id. `instruction`: it looks like one; `ungrounded`: a model learned it from a conversation that does not clearly state it; `marked`: its writer marked it.',
      ),
    next,
  }),
  http: { method: 'GET', path: '/api/review' },
  cli: 'review',
  run: async (context, { limit, after, ...input }) => {
    const page = await context.engine.learning.review.list(resolveScope(context, input, 'read'), {
      limit,
      ...(after === undefined ? {} : { after }),
    })
    return {
      memories: page.rows.map(toWireMemory),
      reasons: Object.fromEntries(page.rows.map((memory) => [memory.id, explainReview(memory)])),
      next: page.next,
    }
  },
})

export const approveMemory = defineOperation({
  name: 'review.approve',
  summary: 'Approves a memory that waits for review.',
  // Not offered to agents: instruction-like text may act on them.
  access: 'curate',
  input: byId,
  output: z.object({ memory: wireMemory }),
  http: { method: 'POST', path: '/api/review/{id}/approve' },
  cli: 'review',
  targets: ({ memory }) => [memory.id],
  run: async (context, { id, ...input }) => ({
    memory: toWireMemory(
      await context.engine.learning.review.approve(resolveScope(context, input, 'curate'), id),
    ),
  }),
})

export const rejectMemory = defineOperation({
  name: 'review.reject',
  summary: 'Rejects a memory that waits for review.',
  access: 'curate',
  input: byId,
  output: z.object({ memory: wireMemory }),
  http: { method: 'POST', path: '/api/review/{id}/reject' },
  cli: 'review',
  targets: ({ memory }) => [memory.id],
  run: async (context, { id, ...input }) => ({
    memory: toWireMemory(
      await context.engine.learning.review.reject(resolveScope(context, input, 'curate'), id),
    ),
  }),
})
