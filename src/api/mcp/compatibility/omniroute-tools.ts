/** The three `omniroute_memory_…` tools. */
import { z } from 'zod'
import { hasAccess } from '../../operations/authorization.ts'
import {
  memoryTypeSchema,
  metadataSchema,
  type WireMemory,
  wireMemory,
} from '../../operations/memory-schema.ts'
import { formatMemoryTotal } from '../result-format.ts'
import { CLEARS_ALL, type Tool } from '../tool.ts'
import {
  defineTool,
  type MemorySearchOutput,
  ownerNameField,
  resolveCallerOwner,
  runOperation,
} from './compatibility-tool.ts'

const LIMIT = 20

export function gatewayTools(): readonly Tool[] {
  return [search, add, clear]
}

const search = defineTool({
  name: 'omniroute_memory_search',
  description: 'Search memories; without a query, the newest. memory_search without conversations.',
  access: 'read',
  input: z.strictObject({
    apiKeyId: ownerNameField,
    query: z.string().max(1_048_576).optional(),
    type: memoryTypeSchema.optional(),
    maxTokens: z.int().min(1).max(8_000).optional(),
    limit: z.int().min(1).max(100).optional(),
  }),
  output: z.object({
    success: z.literal(true),
    data: z.object({
      memories: z.array(wireMemory),
      count: z.int(),
      totalTokens: z.int().describe('Approximate size of the results.'),
    }),
  }),
  call: async (context, { apiKeyId, query = '', type, maxTokens, limit = LIMIT }) => {
    const owner = resolveCallerOwner(context.caller, apiKeyId)
    if (query.trim() === '') {
      const { data } = await runOperation<{ data: WireMemory[] }>(context, 'memory.list', {
        owner,
        type,
        limit,
      })
      const memories = limitTokens(data, maxTokens)
      return answer(memories, tokensOf(memories))
    }
    const found = await runOperation<MemorySearchOutput>(context, 'memory.search', {
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
  formatResult: ({ data }) =>
    data.count === 0
      ? 'No matching memory.'
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

/** The first memory is returned whatever the budget is. */
function limitTokens(memories: WireMemory[], tokensMax = Number.POSITIVE_INFINITY): WireMemory[] {
  const end = memories.findIndex((_, at) => tokensOf(memories.slice(0, at + 1)) > tokensMax)
  return end < 0 ? memories : memories.slice(0, Math.max(1, end))
}

const add = defineTool({
  name: 'omniroute_memory_add',
  description: 'Save a memory under a key; a second one with the same key updates it.',
  access: 'write',
  input: z.strictObject({
    apiKeyId: ownerNameField,
    sessionId: z.string().max(200).optional(),
    type: memoryTypeSchema,
    key: z.string().min(1).max(200),
    content: z.string().min(1).max(50_000),
    metadata: metadataSchema.optional(),
  }),
  output: z.object({
    success: z.literal(true),
    data: z.object({ memory: wireMemory, message: z.string() }),
  }),
  call: async (context, { apiKeyId, ...draft }) => {
    const { memory, outcome } = await runOperation<{ memory: WireMemory; outcome: string }>(
      context,
      'memory.add',
      { ...draft, owner: resolveCallerOwner(context.caller, apiKeyId), source: 'mcp' },
    )
    const message =
      outcome === 'create' ? 'Memory created successfully' : 'Memory updated successfully'
    return { success: true as const, data: { memory, message } }
  },
  formatResult: ({ data }) => `${data.message} (${data.memory.id}).`,
})

const clear = defineTool({
  name: 'omniroute_memory_clear',
  description:
    'Forget all memories, or those of a type or older than a time. Only when the user asks for it.',
  // Also for agents, as in OmniRoute: the memories of their own owner go to the trash and can be restored.
  access: 'write',
  isDestructive: true,
  describeRisk: ({ type, olderThan }) =>
    type === undefined && olderThan === undefined ? CLEARS_ALL : null,
  input: z.strictObject({
    apiKeyId: ownerNameField,
    type: memoryTypeSchema.optional(),
    olderThan: z.string().max(40).optional().describe('ISO 8601'),
  }),
  output: z.object({
    success: z.literal(true),
    data: z.object({ deletedCount: z.int(), message: z.string() }),
  }),
  call: async (context, { apiKeyId, type, olderThan }) => {
    const owner = resolveCallerOwner(context.caller, apiKeyId)
    const isOwn = owner === context.caller.home
    // An agent may clear its own owner with this tool only, so it runs with the role that the operation requires.
    const caller = isOwn ? { ...context.caller, role: 'user' as const } : context.caller
    const isCurator = hasAccess(context.caller, 'curate')
    const { deletedCount } = await runOperation<{ deletedCount: number }>(
      isCurator ? context : { ...context, caller },
      'memory.clear',
      { owner, type, olderThan, all: true },
    )
    const message = `Cleared ${formatMemoryTotal(deletedCount)}`
    return { success: true as const, data: { deletedCount, message } }
  },
  formatResult: ({ data }) => `${data.message}.`,
})
