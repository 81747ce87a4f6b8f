/** Operations on many memories: list, clear, summarize. */
import { z } from 'zod'
import { type MemoryId, parseId } from '../../../domain/ids.ts'
import { QUERY_CHARACTERS_MAX } from '../../../domain/limits.ts'
import { TRUST_LEVELS } from '../../../domain/memory.ts'
import { AppError } from '../../../lib/errors.ts'
import { omitUndefined } from '../../../lib/object.ts'
import type { Instant } from '../../../lib/time.ts'
import type { ReadFilter } from '../../../memory/memory-reader.ts'
import { MEMORY_ORDERS } from '../../../storage/store.ts'
import { readEmbeddingCacheStats } from '../admin/embedding-cache-stats.ts'
import {
  listField,
  memoryCategorySchema,
  memoryStatusSchema,
  memoryTypeSchema,
  timeField,
  toWireMemory,
  wireMemory,
} from '../memory-schema.ts'
import { defineOperation } from '../operation.ts'
import { resolveOwner, resolveScope, scopeFields } from '../scope-fields.ts'
import { turnsDisabled } from './memory-operations.ts'

const LIST_LIMIT = 50
const LIST_LIMIT_MAX = 200

/** Average characters per token; an exact sum over all memories would be too slow. */
const CHARACTERS_PER_TOKEN = 4

const ORDER_HELP =
  'Descending, ties newest first; `leastUsed` ascending. Default: newest. Memories that change between requests may move between pages.'

export const filterFields = {
  type: listField(memoryTypeSchema).optional(),
  category: listField(memoryCategorySchema).optional(),
  status: listField(memoryStatusSchema).optional().describe('Default: active.'),
  trust: listField(z.enum(TRUST_LEVELS)).optional(),
  source: listField(z.string().max(100)).optional().describe('The writer.'),
  importanceMin: z.int().min(1).max(10).optional().describe('Minimum importance.'),
  pinned: z.boolean().optional(),
  key: z.string().max(200).optional(),
  createdFrom: timeField.optional(),
  createdBefore: timeField.optional(),
  includeExpired: z
    .boolean()
    .optional()
    .describe('Includes expired memories and those no longer valid.'),
}

type FilterInput = Partial<z.output<z.ZodObject<typeof filterFields>>>

export function toFilter(input: FilterInput): ReadFilter {
  const { type, category, status, pinned, key, createdFrom, createdBefore, includeExpired } = input
  const { trust, source, importanceMin } = input
  return omitUndefined({
    types: type,
    categories: category,
    statuses: status,
    trusts: trust,
    sources: source,
    importanceMin,
    pinned,
    key,
    createdFrom: createdFrom as Instant | undefined, // checked by its schema
    createdBefore: createdBefore as Instant | undefined,
    includeExpired,
  }) as ReadFilter // the fields of one, some left out
}

const stats = z.object({
  total: z.int(),
  byType: z.record(z.string(), z.int()),
  byCategory: z.record(z.string(), z.int()),
  tokensUsed: z.int().describe('Estimated tokens of all memories of the owner.'),
  hitRate: z.number().describe('Hit rate of the embedding cache, 0 to 1; superadmins only.'),
  cacheStats: z.object({ hits: z.int(), misses: z.int() }),
})

export const listMemories = defineOperation({
  name: 'memory.list',
  summary: 'Lists memories, newest first, with counts.',
  access: 'read',
  input: z.strictObject({
    ...scopeFields,
    ...filterFields,
    q: z.string().max(QUERY_CHARACTERS_MAX).optional().describe('Substring of content or key.'),
    asOf: timeField.optional().describe('State at an earlier time.'),
    order: z.enum(MEMORY_ORDERS).optional().describe(ORDER_HELP),
    limit: z.int().min(1).max(LIST_LIMIT_MAX).default(LIST_LIMIT),
    page: z.int().min(1).max(1_000_000).optional(),
    offset: z.int().min(0).max(1_000_000_000).optional().describe('Takes precedence over `page`.'),
    after: z.string().max(200).optional().describe('The `next` cursor of the previous page.'),
  }),
  output: z.object({
    data: z.array(wireMemory),
    total: z.int(),
    page: z.int(),
    limit: z.int(),
    totalPages: z.int(),
    next: z.string().nullable().describe('A stable cursor; pass it as `after`.'),
    stats,
  }),
  http: { method: 'GET', path: '/api/memory' },
  cli: 'list',
  run: async (context, { q, asOf, order, limit, page, offset, after, ...input }) => {
    const { engine } = context
    const scope = resolveScope(context, input, 'read')
    const filter: ReadFilter = {
      ...toFilter(input),
      ...(q === undefined ? {} : { contains: q }),
    }
    const skipped = offset ?? ((page ?? 1) - 1) * limit
    const [found, { total }, all] = await Promise.all([
      asOf === undefined
        ? engine.list(scope, {
            ...filter,
            limit,
            ...(order === undefined ? {} : { order }),
            ...(after === undefined ? { offset: skipped } : { after }),
          })
        : engine.memories.asOf(scope, asOf, { limit, ...(after === undefined ? {} : { after }) }),
      engine.memories.count(scope, filter),
      engine.memories.count({ owner: scope.owner }, {}),
    ])
    const { hits, misses } = readEmbeddingCacheStats(context)
    return {
      data: found.rows.map(toWireMemory),
      total,
      page: Math.floor(skipped / limit) + 1,
      limit,
      totalPages: Math.ceil(total / limit),
      next: found.next,
      stats: {
        total: all.total,
        byType: all.byType,
        byCategory: all.byCategory,
        tokensUsed: Math.ceil(all.characters / CHARACTERS_PER_TOKEN),
        hitRate: hits + misses === 0 ? 0 : hits / (hits + misses),
        cacheStats: { hits, misses },
      },
    }
  },
})

export const clearMemories = defineOperation({
  name: 'memory.clear',
  summary: 'Forgets all memories with these ids, or all that match. Can be undone unless erased.',
  access: 'curate',
  isDestructive: true,
  input: z.strictObject({
    ...scopeFields,
    ...filterFields,
    ids: listField(z.string().max(100)).optional(),
    q: z.string().max(QUERY_CHARACTERS_MAX).optional(),
    olderThan: timeField.optional().describe('Created before this time.'),
    all: z.boolean().optional().describe('Required when no filter is given.'),
    erase: z.boolean().optional().describe('Erases permanently, with history.'),
    dryRun: z.boolean().optional().describe('Only counts.'),
  }),
  output: z.object({
    matched: z.int(),
    deletedCount: z.int().describe('Number of affected memories; 0 in a dry run.'),
    turnsDisabled,
    change: z.string().nullable().describe('The change to pass to undo.'),
    ids: z.array(z.string()).describe('The first matches.'),
    dryRun: z.boolean(),
  }),
  http: { method: 'DELETE', path: '/api/memory' },
  mcp: {
    tool: 'memory_clear',
    description:
      'Forget many memories at once, only when the user explicitly asks: by type, category or age (olderThan), or all of them with all=true. Use dryRun=true first to see how many.',
    fields: ['type', 'category', 'olderThan', 'all', 'dryRun', 'user', 'sessionId'],
  },
  cli: 'clear',
  targets: ({ ids }) => ids,
  run: async (context, { ids, q, olderThan, all, erase, dryRun = false, ...input }) => {
    const filter: ReadFilter = {
      ...toFilter(input),
      ...(ids === undefined ? {} : { ids: toIds(ids) }),
      ...(q === undefined ? {} : { contains: q }),
      ...(olderThan === undefined ? {} : { createdBefore: olderThan as Instant }), // checked by its schema
      includeExpired: true,
    }
    const narrowing = Object.keys(filter).length > 1 || input.sessionId !== undefined
    if (!narrowing && all !== true) throw needsAll()
    const cleared = await context.engine.memories.clear(
      resolveScope(context, input, 'curate'),
      filter,
      {
        dryRun,
        erase: erase ?? false,
      },
    )
    return {
      matched: cleared.matched,
      deletedCount: cleared.forgotten + cleared.erased,
      turnsDisabled: cleared.turnsDisabled,
      change: cleared.change,
      ids: [...cleared.ids],
      dryRun,
    }
  },
})

function toIds(ids: readonly string[]): readonly MemoryId[] {
  return ids.map((id) => parseId('mem', id))
}

function needsAll() {
  return new AppError(
    'invalid_input',
    'A filter or `all: true` is required: this would clear everything.',
    { field: 'all' },
  )
}

export const summarizeMemories = defineOperation({
  name: 'memory.summarize',
  summary: 'Replaces many old memories of a user by a summary. The originals stay in the history.',
  access: 'curate',
  input: z.strictObject({
    ...scopeFields,
    olderThanDays: z
      .int()
      .min(1)
      .max(365)
      .optional()
      .describe(
        'Only memories older than this. Default: 30 unless `maxTokens` or a session is given.',
      ),
    maxTokens: z
      .int()
      .min(1)
      .max(1_000_000)
      .optional()
      .describe(
        'Keeps the newest memories of each user within this token budget and summarizes the rest. Default with a session only: 4000.',
      ),
    dryRun: z.boolean().default(false),
  }),
  output: z.object({
    candidates: z.array(wireMemory),
    totalTokens: z.int(),
    tokensSaved: z.int(),
    deletedCount: z.int().describe('Number of summarized memories.'),
    summaryId: z.string().nullable(),
    summaryIds: z
      .array(z.string())
      .describe('One for each user, or several where one would be too long.'),
    wording: z
      .enum(['model', 'rules', 'both'])
      .nullable()
      .describe('`model` when a configured model wrote them, otherwise `rules`.'),
    change: z.string().nullable().describe('The change to pass to undo.'),
    dryRun: z.boolean(),
  }),
  http: { method: 'POST', path: '/api/memory/summarize' },
  cli: 'summarize',
  targets: ({ summaryIds }) => summaryIds,
  run: async (context, { olderThanDays, maxTokens, dryRun, ...input }) => {
    const owner = resolveOwner(context, input, 'curate')
    const scope = resolveScope(context, { ...input, owner, apiKeyId: undefined }, 'curate')
    const size = maxTokens === undefined ? {} : { maxTokens }
    // For a session the size counts instead of the age.
    const isBySize = olderThanDays === undefined && scope.session !== undefined
    const done = isBySize
      ? await context.engine.memories.summarizeToFit(scope, { dryRun, ...size })
      : await context.engine.memories.summarize(scope, {
          ...{ dryRun, ...size },
          ...(olderThanDays === undefined ? {} : { olderThanDays }),
        })
    return {
      candidates: done.candidates.map(toWireMemory),
      totalTokens: done.totalTokens,
      tokensSaved: done.tokensSaved,
      deletedCount: done.superseded,
      summaryId: done.summaries[0]?.id ?? null,
      summaryIds: done.summaries.map(({ id }) => id),
      wording: done.wording,
      change: done.summaries[0]?.change ?? null,
      dryRun,
    }
  },
})
