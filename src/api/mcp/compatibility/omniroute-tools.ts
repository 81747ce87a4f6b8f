/** The three tools of a gateway whose users have `omniroute_memory_…` in their prompts. */
import { z } from 'zod'
import {
  memoryType,
  metadata,
  type WireMemory,
  wireMemory,
} from '../../operations/memory-schema.ts'
import { count } from '../result-format.ts'
import type { Tool } from '../tool.ts'
import { defineTool, type Found, ownerFor, ownerName, run } from './compatibility-tool.ts'

const LIMIT = 20

export function gatewayTools(): readonly Tool[] {
  return [search, add, clear]
}

const search = defineTool({
  name: 'omniroute_memory_search',
  description: 'Search memories; without a query, the newest. memory_search without conversations.',
  access: 'read',
  input: z.strictObject({
    apiKeyId: ownerName,
    query: z.string().max(1_048_576).optional(),
    type: memoryType.optional(),
    maxTokens: z.int().min(1).max(8_000).optional(),
    limit: z.int().min(1).max(100).optional(),
  }),
  output: z.object({
    success: z.literal(true),
    data: z.object({
      memories: z.array(wireMemory),
      count: z.int(),
      totalTokens: z.int().describe('Of what is answered with, about.'),
    }),
  }),
  call: async (context, { apiKeyId, query = '', type, maxTokens, limit = LIMIT }) => {
    const owner = ownerFor(context.caller, apiKeyId)
    if (query.trim() === '') {
      const { data } = await run<{ data: WireMemory[] }>(context, 'memory.list', {
        owner,
        type,
        limit,
      })
      const memories = withinTokens(data, maxTokens)
      return answer(memories, tokensOf(memories))
    }
    const found = await run<Found>(context, 'memory.search', {
      owner,
      query,
      type,
      maxTokens,
      limit,
      include: 'facts',
    })
    return answer(
      found.results.map(({ memory }) => memory),
      found.totalTokens,
    )
  },
  tell: ({ data }) =>
    data.count === 0
      ? 'Nothing is known of this.'
      : data.memories.map(({ id, content }) => `[${id}] ${content}`).join('\n'),
})

function answer(memories: WireMemory[], totalTokens: number) {
  return { success: true as const, data: { memories, count: memories.length, totalTokens } }
}

const CHARACTERS_PER_TOKEN = 4

function tokensOf(memories: readonly WireMemory[]): number {
  return memories.reduce(
    (sum, { content }) => sum + Math.ceil(content.length / CHARACTERS_PER_TOKEN),
    0,
  )
}

function withinTokens(memories: WireMemory[], tokensMax = Number.POSITIVE_INFINITY): WireMemory[] {
  const end = memories.findIndex((_, at) => tokensOf(memories.slice(0, at + 1)) > tokensMax)
  return end < 0 ? memories : memories.slice(0, end)
}

const add = defineTool({
  name: 'omniroute_memory_add',
  description: 'Save a memory under a key; a second one with the same key updates it.',
  access: 'write',
  input: z.strictObject({
    apiKeyId: ownerName,
    sessionId: z.string().max(200).optional(),
    type: memoryType,
    key: z.string().min(1).max(200),
    content: z.string().min(1).max(50_000),
    metadata: metadata.optional(),
  }),
  output: z.object({
    success: z.literal(true),
    data: z.object({ memory: wireMemory, message: z.string() }),
  }),
  call: async (context, { apiKeyId, ...draft }) => {
    const { memory, outcome } = await run<{ memory: WireMemory; outcome: string }>(
      context,
      'memory.add',
      { ...draft, owner: ownerFor(context.caller, apiKeyId), source: 'mcp' },
    )
    const message =
      outcome === 'create' ? 'Memory created successfully' : 'Memory updated successfully'
    return { success: true as const, data: { memory, message } }
  },
  tell: ({ data }) => `${data.message} (${data.memory.id}).`,
})

const clear = defineTool({
  name: 'omniroute_memory_clear',
  description:
    'Forget all memories, or those of a type or older than a time. Only when the user asks for it.',
  access: 'curate',
  isDestructive: true,
  input: z.strictObject({
    apiKeyId: ownerName,
    type: memoryType.optional(),
    olderThan: z.string().max(40).optional().describe('ISO 8601'),
  }),
  output: z.object({
    success: z.literal(true),
    data: z.object({ deletedCount: z.int(), message: z.string() }),
  }),
  call: async (context, { apiKeyId, type, olderThan }) => {
    const { deletedCount } = await run<{ deletedCount: number }>(context, 'memory.clear', {
      owner: ownerFor(context.caller, apiKeyId),
      type,
      olderThan,
      all: true,
    })
    const message = `Cleared ${count(deletedCount)}`
    return { success: true as const, data: { deletedCount, message } }
  },
  tell: ({ data }) => `${data.message}.`,
})
