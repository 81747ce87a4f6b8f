/** Operations that settle what memories say against each other. */
import { z } from 'zod'
import { CONTENT_CHARACTERS_MAX } from '../../../domain/limits.ts'
import { memoryIdField } from '../memories/memory-operations.ts'
import { toWireMemory, wireMemory } from '../memory-schema.ts'
import { defineOperation } from '../operation.ts'
import { nextCursorField as next, pageFields } from '../page-fields.ts'
import { resolveScope, scopeFields } from '../scope-fields.ts'
import { reviewInput } from './distillation-operations.ts'

const conflictSchema = z
  .object({
    memory: wireMemory.describe('Says otherwise than the other one.'),
    other: wireMemory.describe('Was there before.'),
  })
  .meta({ id: 'Conflict' })

export type WireConflict = z.output<typeof conflictSchema>

export const listConflicts = defineOperation({
  name: 'review.conflicts',
  summary: 'Memories in use that say otherwise than others in use, both sides, newest first.',
  access: 'read',
  input: z.strictObject({ ...scopeFields, ...pageFields }),
  output: z.object({ conflicts: z.array(conflictSchema), next }),
  http: { method: 'GET', path: '/api/review/conflicts' },
  cli: 'review',
  run: async (context, { limit, after, ...input }) => {
    const page = await context.engine.review.conflicts(resolveScope(context, input, 'read'), {
      limit,
      ...(after === undefined ? {} : { after }),
    })
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
    'Keeps one of two memories, in its words or others, in the place of both; can be undone.',
  access: 'curate',
  input: z.strictObject({
    ...scopeFields,
    keep: memoryIdField.describe('The memory that stays.'),
    drop: memoryIdField.describe('The memory that it takes the place of.'),
    content: z
      .string()
      .min(1)
      .max(CONTENT_CHARACTERS_MAX)
      .optional()
      .describe('What the one that stays says from now on; default: its own words.'),
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
    const { kept, dropped } = await context.engine.review.settle(scope, { keep, drop }, content)
    return { kept: toWireMemory(kept), dropped: toWireMemory(dropped), change: kept.change }
  },
})

export const reconcileMemory = defineOperation({
  name: 'review.reconcile',
  summary: 'Says that a memory and the one that it is in conflict with both hold.',
  access: 'curate',
  input: z.strictObject({ ...scopeFields, id: memoryIdField }),
  output: z.object({ memory: wireMemory }),
  http: { method: 'POST', path: '/api/review/{id}/reconcile' },
  cli: 'review',
  targets: ({ memory }) => [memory.id],
  run: async (context, { id, ...input }) => ({
    memory: toWireMemory(
      await context.engine.review.reconcile(resolveScope(context, input, 'curate'), id),
    ),
  }),
})

export const listReview = defineOperation({
  name: 'review.list',
  summary: 'Memories that look like instructions and wait for a person, newest first.',
  access: 'read',
  input: z.strictObject({ ...scopeFields, ...pageFields }),
  output: z.object({ memories: z.array(wireMemory), next }),
  http: { method: 'GET', path: '/api/review' },
  cli: 'review',
  run: async (context, { limit, after, ...input }) => {
    const page = await context.engine.review.list(resolveScope(context, input, 'read'), {
      limit,
      ...(after === undefined ? {} : { after }),
    })
    return { memories: page.rows.map(toWireMemory), next: page.next }
  },
})

export const approveMemory = defineOperation({
  name: 'review.approve',
  summary: 'Lets a memory that waited for review be used.',
  // Not for agents: what looks like an instruction may be one to them.
  access: 'curate',
  input: reviewInput,
  output: z.object({ memory: wireMemory }),
  http: { method: 'POST', path: '/api/review/{id}/approve' },
  cli: 'review',
  targets: ({ memory }) => [memory.id],
  run: async (context, { id, ...input }) => ({
    memory: toWireMemory(
      await context.engine.review.approve(resolveScope(context, input, 'curate'), id),
    ),
  }),
})

export const rejectMemory = defineOperation({
  name: 'review.reject',
  summary: 'Forgets a memory that waited for review.',
  access: 'curate',
  input: reviewInput,
  output: z.object({ memory: wireMemory }),
  http: { method: 'POST', path: '/api/review/{id}/reject' },
  cli: 'review',
  targets: ({ memory }) => [memory.id],
  run: async (context, { id, ...input }) => ({
    memory: toWireMemory(
      await context.engine.review.reject(resolveScope(context, input, 'curate'), id),
    ),
  }),
})
