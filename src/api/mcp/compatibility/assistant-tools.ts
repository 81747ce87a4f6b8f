/** Tools of three assistants: recall, store, and layered memory search. */
import { z } from 'zod'
import type { WireMemory } from '../../operations/memory-schema.ts'
import { layerFields, searchLayer } from '../../operations/recall/agent-operations.ts'
import { formatLayer } from '../result-format.ts'
import type { Tool } from '../tool.ts'
import {
  defineTool,
  type MemorySearchOutput,
  ownerNameField,
  resolveCallerOwner,
  runOperation,
} from './compatibility-tool.ts'

export function assistantTools(): readonly Tool[] {
  return [searchLayers, recall, store, searchMemory, saveMemory]
}

const query = z.string().min(1).max(10_000)

const searchLayers = defineTool({
  name: 'search_memory',
  description:
    'Search one layer of memory: pinned (facts), episodes (digests of conversations) or transcript (what was said). The same as memory_search_layer.',
  access: 'read',
  input: z.strictObject({ ...layerFields, agent_id: ownerNameField }),
  output: searchLayer.output,
  call: (context, { agent_id, ...given }) =>
    runOperation<z.output<typeof searchLayer.output>>(context, searchLayer.name, {
      ...given,
      agent_id: resolveCallerOwner(context.caller, agent_id),
    }),
  formatResult: formatLayer,
})

const STORED_CATEGORIES = ['preference', 'fact', 'decision', 'entity', 'other'] as const
const RECALL_LIMIT = 5
const RECALL_LIMIT_MAX = 100

const recall = defineTool({
  name: 'memory_recall',
  description: 'Recall what is known about something: memory_search for memories only.',
  access: 'read',
  input: z.strictObject({
    query,
    limit: z.int().min(1).max(RECALL_LIMIT_MAX).default(RECALL_LIMIT),
  }),
  output: z.object({
    count: z.int(),
    memories: z.array(
      z.object({
        id: z.string(),
        text: z.string(),
        category: z.string(),
        importance: z.number(),
        score: z.number(),
      }),
    ),
  }),
  call: async (context, { query: text, limit }) => {
    const { results } = await runOperation<MemorySearchOutput>(context, 'memory.search', {
      ...{ query: text, limit },
      include: 'facts',
    })
    const memories = results.map(({ memory, score }) => ({ ...toStored(memory), score }))
    return { count: memories.length, memories }
  },
  formatResult: ({ count, memories }) =>
    count === 0
      ? 'No relevant memories found.'
      : memories
          .map(
            ({ category, text, score }, at) =>
              `${at + 1}. [${category}] ${text} (${formatPercentage(score)})`,
          )
          .join('\n'),
})

/** Scores of this tool are read as shares. */
function formatPercentage(score: number): string {
  return `${Math.round(Math.min(1, Math.max(0, score)) * 100)}%`
}

const store = defineTool({
  name: 'memory_store',
  description: 'Save something worth remembering: a preference, fact, decision or name.',
  access: 'write',
  input: z.strictObject({
    text: z.string().min(1).max(50_000),
    importance: z.number().min(0).max(1).default(0.7),
    category: z.enum(STORED_CATEGORIES).default('other'),
  }),
  output: z.object({
    action: z.enum(['created', 'updated', 'duplicate']),
    id: z.string(),
    memory: z.object({
      id: z.string(),
      text: z.string(),
      category: z.string(),
      importance: z.number(),
    }),
  }),
  call: async (context, { text, importance, category }) => {
    const { id, outcome, memory } = await runOperation<{
      id: string
      outcome: string
      memory: WireMemory
    }>(context, 'memory.add', {
      content: text,
      importance: Math.max(1, Math.round(importance * 10)),
      // Omitted, so that storing a statement again keeps its category.
      category: category === 'other' ? undefined : category,
      source: 'mcp',
    })
    return { action: ACTIONS[outcome] ?? ('updated' as const), id, memory: toStored(memory) }
  },
  formatResult: ({ action, memory }) =>
    action === 'duplicate'
      ? `Already known: ${memory.text} (${memory.id})`
      : `Stored: ${memory.text} (${memory.id})`,
})

const ACTIONS: { readonly [outcome: string]: 'created' | 'duplicate' } = {
  create: 'created',
  conflict: 'created',
  duplicate: 'duplicate',
}

function toStored({ id, content, category, importance }: WireMemory) {
  return {
    id,
    text: content,
    category: category === 'general' ? 'other' : category,
    importance: importance / 10,
  }
}

const searchMemory = defineTool({
  name: 'searchMemory',
  description: 'Search what is known from earlier conversations: memory_search for memories only.',
  access: 'read',
  input: z.strictObject({ query, limit: z.int().min(1).max(100).nullable().optional() }),
  output: z.object({
    found: z.int(),
    results: z.array(
      z.object({
        content: z.string(),
        type: z.literal('memory'),
        score: z.number(),
        date: z.string(),
      }),
    ),
  }),
  call: async (context, { query: text, limit }) => {
    const { results } = await runOperation<MemorySearchOutput>(context, 'memory.search', {
      query: text,
      limit: limit ?? undefined,
      include: 'facts',
    })
    return {
      found: results.length,
      results: results.map(({ memory, score }) => ({
        content: memory.content,
        type: 'memory' as const,
        score,
        date: memory.createdAt,
      })),
    }
  },
  formatResult: ({ found, results }) =>
    found === 0
      ? 'No matching memory.'
      : results.map(({ content, date }) => `- ${content} (${date.slice(0, 10)})`).join('\n'),
})

const SAVED_IMPORTANCE = 7

const saveMemory = defineTool({
  name: 'saveMemory',
  description: 'Save something only when the user explicitly asks to remember it.',
  access: 'write',
  input: z.strictObject({ content: z.string().min(1).max(50_000) }),
  output: z.object({
    saved: z.literal(true),
    events: z.array(
      z.object({ id: z.string(), content: z.string(), event: z.enum(['ADD', 'UPDATE']) }),
    ),
  }),
  call: async (context, { content }) => {
    const { outcome, memory } = await runOperation<{ outcome: string; memory: WireMemory }>(
      context,
      'memory.add',
      { content, importance: SAVED_IMPORTANCE, source: 'mcp' },
    )
    const event =
      outcome === 'create' || outcome === 'conflict' ? ('ADD' as const) : ('UPDATE' as const)
    return { saved: true as const, events: [{ id: memory.id, content: memory.content, event }] }
  },
  formatResult: ({ events }) => `Saved: ${events.map(({ content }) => content).join(' ')}`,
})
