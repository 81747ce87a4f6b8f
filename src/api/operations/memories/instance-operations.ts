/**
 * Memories by instance: paths and shapes of instance-scoped memory systems. An instance is an
 * owner.
 */
import { z } from 'zod'
import { parseId } from '../../../domain/ids.ts'
import type { Memory } from '../../../domain/memory.ts'
import { isMemoryDocument } from '../../../domain/search-document.ts'
import { AppError } from '../../../lib/errors.ts'
import { omitUndefined } from '../../../lib/object.ts'
import { attributeDraft } from '../authorship.ts'
import { isoTime, listField, memoryCategorySchema } from '../memory-schema.ts'
import { defineOperation, type OperationContext } from '../operation.ts'
import { resolveOwner } from '../scope-fields.ts'

const instanceId = z
  .string({ error: '`instanceId` is required' })
  .min(1, '`instanceId` is required')
  .max(200)

const wireInstanceMemory = z
  .object({
    id: z.string(),
    instanceId: z.string(),
    content: z.string(),
    category: z.string(),
    importance: z.int(),
    sourceConversationId: z.string().nullable(),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: 'InstanceMemory' })

function toInstanceMemory(memory: Memory): z.output<typeof wireInstanceMemory> {
  return {
    id: memory.id,
    instanceId: memory.place.owner,
    content: memory.content,
    category: memory.category,
    importance: memory.importance,
    sourceConversationId: memory.place.session,
    createdAt: isoTime(memory.createdAt),
    updatedAt: isoTime(memory.updatedAt),
  }
}

function scopeFor(
  context: OperationContext,
  instance: string,
  access: 'read' | 'write' | 'curate',
) {
  return { owner: resolveOwner(context, { owner: instance }, access) }
}

export const listInstanceMemories = defineOperation({
  name: 'instance.list',
  summary: 'Lists memories of an instance, last updated first; with `search` by relevance.',
  access: 'read',
  input: z.strictObject({
    instanceId,
    search: z.string().max(10_000).optional(),
    category: memoryCategorySchema.optional(),
    importance: z.int().min(1).max(10).optional().describe('Minimum importance.'),
    limit: z.int().min(1).max(100).default(20),
    offset: z.int().min(0).max(1_000_000_000).default(0),
  }),
  output: z.object({
    total: z.int(),
    limit: z.int(),
    offset: z.int(),
    memories: z.array(wireInstanceMemory),
  }),
  http: { method: 'GET', path: '/memories' },
  run: async (context, { instanceId: instance, search, category, importance, limit, offset }) => {
    const scope = scopeFor(context, instance, 'read')
    const filter = {
      ...(category === undefined ? {} : { categories: [category] }),
      ...(importance === undefined ? {} : { importanceMin: importance }),
    }
    if (search === undefined || search.trim() === '') {
      const [page, { total }] = await Promise.all([
        context.engine.list(scope, { ...filter, order: 'updated', limit, offset }),
        context.engine.memories.count(scope, filter),
      ])
      return { total, limit, offset, memories: page.rows.map(toInstanceMemory) }
    }
    const { memories } = await context.engine.recall(scope, {
      text: search,
      ...filter,
      limit: FOUND_MAX,
      include: 'facts',
    })
    return {
      total: memories.length,
      limit,
      offset,
      memories: memories
        .slice(offset, offset + limit)
        .flatMap(({ memory }) => (isMemoryDocument(memory) ? [toInstanceMemory(memory)] : [])),
    }
  },
})

const FOUND_MAX = 100

export const addInstanceMemory = defineOperation({
  name: 'instance.add',
  summary: 'Stores a memory of an instance, or updates a duplicate.',
  access: 'write',
  input: z.strictObject({
    instanceId,
    content: z
      .string()
      .max(50_000)
      .refine((text) => text.trim() !== '', '`content` is required'),
    category: memoryCategorySchema.optional(),
    importance: z.int().min(1).max(10).optional(),
    sourceConversationId: z.string().min(1).max(200).optional(),
  }),
  output: z.object({
    memory: z.object({
      id: z.string(),
      content: z.string(),
      event: z.enum(['ADD', 'UPDATE']),
    }),
  }),
  http: { method: 'POST', path: '/memories', status: 201 },
  targets: ({ memory }) => [memory.id],
  run: async (
    context,
    { instanceId: instance, content, category, importance, sourceConversationId },
  ) => {
    const scope = scopeFor(context, instance, 'write')
    const { memory, outcome } = await context.engine.remember(
      sourceConversationId === undefined ? scope : { ...scope, session: sourceConversationId },
      attributeDraft(context, {
        content,
        provenance: { source: 'api' },
        ...omitUndefined({ category, importance }),
      }),
    )
    const isNew = outcome === 'create' || outcome === 'conflict'
    return {
      memory: {
        id: memory.id,
        content: memory.content,
        event: isNew ? ('ADD' as const) : ('UPDATE' as const),
      },
    }
  },
})

export const forgetInstanceMemory = defineOperation({
  name: 'instance.forget',
  summary: 'Moves a memory of an instance to the trash.',
  access: 'write',
  isIdempotent: true,
  input: z.strictObject({ instanceId, id: z.string().min(1).max(100) }),
  output: z.object({ deleted: z.literal(true) }),
  http: { method: 'DELETE', path: '/memories/{id}' },
  targets: (_, { id }) => [id],
  run: async (context, { instanceId: instance, id }) => {
    await context.engine.forget(scopeFor(context, instance, 'write'), id)
    return { deleted: true as const }
  },
})

export const clearInstance = defineOperation({
  name: 'instance.clear',
  summary: 'Forgets the memories of an instance with these ids, or all of them.',
  access: 'curate',
  isDestructive: true,
  input: z.strictObject({
    instanceId,
    ids: listField(z.string().max(100)).optional(),
    dryRun: z.boolean().optional(),
  }),
  output: z.object({ deleted: z.literal(true), deletedCount: z.int(), dryRun: z.boolean() }),
  http: { method: 'DELETE', path: '/memories' },
  targets: (_, { ids }) => ids ?? ['all'],
  run: async (context, { instanceId: instance, ids, dryRun = false }) => {
    const scope = scopeFor(context, instance, 'curate')
    if (ids?.length === 0)
      throw new AppError('invalid_input', '`ids` must not be empty.', { field: 'ids' })
    const filter = {
      includeExpired: true,
      ...(ids === undefined ? {} : { ids: ids.map((id) => parseId('mem', id)) }),
    }
    const { matched, forgotten } = await context.engine.memories.clear(scope, filter, { dryRun })
    return { deleted: true as const, deletedCount: dryRun ? matched : forgotten, dryRun }
  },
})
