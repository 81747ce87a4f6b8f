/** Overviews of memories: vector map, entities, counts by day. */
import { z } from 'zod'
import { type Memory, TRUST_LEVELS } from '../../../domain/memory.ts'
import { quantizeVector } from '../../../lib/vector-math.ts'
import { OVERVIEW_MEMORIES_MAX } from '../../../recall/memory-overview.ts'
import { dayFormatter } from '../conversations/receipt-statistics.ts'
import {
  isoTime,
  memoryCategorySchema,
  memoryTypeSchema,
  timeField,
  toSnippet,
} from '../memory-schema.ts'
import { defineOperation } from '../operation.ts'
import { resolveScope, scopeFields } from '../scope-fields.ts'
import { memoryIdField } from './memory-operations.ts'

const memoriesMax = z.int().min(1).max(OVERVIEW_MEMORIES_MAX).default(2_000)
const ENTITIES_MAX = 500

export const listMemoryVectors = defineOperation({
  name: 'memory.vectors',
  summary: 'Vectors of the newest memories, for a map.',
  access: 'read',
  input: z.strictObject({
    ...scopeFields,
    limit: memoriesMax.describe('Maximum number of memories, newest first.'),
  }),
  output: z.object({
    memories: z.array(
      z.object({
        id: z.string(),
        content: z.string().describe('Its beginning.'),
        category: memoryCategorySchema,
        type: memoryTypeSchema,
        trust: z.enum(TRUST_LEVELS),
        importance: z.int(),
        user: z.string().nullable(),
        createdAt: z.string(),
        salience: z.number(),
        vector: z
          .string()
          .nullable()
          .describe('Base64 of int8 components, scaled per vector: directions are comparable.'),
      }),
    ),
    dimensions: z.int().nullable(),
    isComplete: z.boolean().describe('Whether all memories are included.'),
    reason: z.string().nullable().describe('Why there are no vectors; null when there are.'),
  }),
  http: { method: 'GET', path: '/api/memory/vectors' },
  run: async (context, { limit, ...input }) => {
    const scope = resolveScope(context, input, 'read')
    const { memories, ...rest } = await context.engine.admin.overview.vectors(scope, { limit })
    return {
      memories: memories.map(({ memory, vector }) => ({
        ...pickMapFields(memory),
        vector: vector === null ? null : toByteVector(vector),
      })),
      ...rest,
    }
  },
})

function pickMapFields({ id, content, place, createdAt, ...memory }: Memory) {
  const { category, type, trust, importance, salience } = memory
  return {
    ...{ id, category, type, trust, importance, salience, user: place.user },
    ...{ content: toSnippet(content), createdAt: isoTime(createdAt) },
  }
}

export const getMemoryVector = defineOperation({
  name: 'memory.vector',
  summary: 'Whether a memory has a vector, and if not, why.',
  access: 'read',
  input: z.strictObject({ ...scopeFields, id: memoryIdField }),
  output: z.object({
    hasVector: z.boolean(),
    dimensions: z.int().nullable(),
    reason: z.string().nullable().describe('Why it has none; null when it has one.'),
  }),
  http: { method: 'GET', path: '/api/memory/{id}/vector' },
  run: async (context, { id, ...input }) =>
    context.engine.admin.overview.vectorState(resolveScope(context, input, 'read'), id),
})

/** A quarter of the size, and precise enough for a map. */
function toByteVector(vector: Float32Array): string {
  const { bytes } = quantizeVector(vector)
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}

export const listMemoryEntities = defineOperation({
  name: 'memory.entities',
  summary: 'Entities of the newest memories, with their mentions.',
  access: 'read',
  input: z.strictObject({
    ...scopeFields,
    limit: z.int().min(1).max(ENTITIES_MAX).default(150).describe('Maximum number of entities.'),
    memories: memoriesMax.describe('Number of newest memories to read.'),
  }),
  output: z.object({
    entities: z
      .array(z.object({ name: z.string(), memories: z.int() }))
      .describe('Ordered by number of mentions.'),
    memories: z.array(
      z.object({
        id: z.string(),
        content: z.string().describe('Its beginning.'),
        category: memoryCategorySchema,
        entities: z.array(z.int()).describe('Indexes into the list of entities.'),
      }),
    ),
    total: z.int().describe('Total number of entities, including omitted ones.'),
    isComplete: z.boolean().describe('Whether all memories were read.'),
  }),
  http: { method: 'GET', path: '/api/memory/entities' },
  run: async (context, { limit, memories, ...input }) => {
    const scope = resolveScope(context, input, 'read')
    const named = await context.engine.admin.overview.entities(scope, { limit, memories })
    return {
      ...named,
      entities: [...named.entities],
      memories: named.memories.map(({ memory: { id, content, category }, entities }) => ({
        ...{ id, category, content: toSnippet(content) },
        entities: [...entities],
      })),
    }
  },
})

export const countMemoriesByDay = defineOperation({
  name: 'memory.countsByDay',
  summary: 'Counts of episodes and new memories by day.',
  access: 'read',
  input: z.strictObject({
    ...scopeFields,
    from: timeField.optional(),
    to: timeField.optional().describe('Exclusive upper bound.'),
    timeZone: z
      .string()
      .max(100)
      .default('UTC')
      .describe('Time zone of the days, such as Europe/Lisbon.'),
  }),
  output: z.object({
    days: z
      .array(
        z.object({
          day: z.string().describe('As 2026-03-31.'),
          episodes: z.int().describe('By the time of the conversation.'),
          memories: z.int().describe('Other memories, by creation time.'),
        }),
      )
      .describe('Oldest first. Days without any are omitted.'),
    isComplete: z.boolean().describe('False when there were too many receipts to count.'),
  }),
  http: { method: 'GET', path: '/api/memory/days' },
  run: async (context, { from, to, timeZone, ...input }) => {
    const dayOf = dayFormatter(timeZone)
    const scope = resolveScope(context, input, 'read')
    const times = await context.engine.admin.overview.times(scope, {
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { before: to }),
    })
    const days = new Map<string, { episodes: number; memories: number }>()
    for (const kind of ['episodes', 'memories'] as const) {
      for (const at of times[kind]) {
        const day = dayOf(at)
        const count = days.get(day) ?? { episodes: 0, memories: 0 }
        count[kind]++
        days.set(day, count)
      }
    }
    const inOrder = [...days].sort(([a], [b]) => (a < b ? -1 : 1))
    return {
      days: inOrder.map(([day, count]) => ({ day, ...count })),
      isComplete: times.isComplete,
    }
  },
})
