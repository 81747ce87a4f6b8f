/** Operations on all memories that match: change them as one change, merge them, count their facets. */
import { z } from 'zod'
import { parseId } from '../../../domain/ids.ts'
import { CONTENT_CHARACTERS_MAX, QUERY_CHARACTERS_MAX } from '../../../domain/limits.ts'
import { MEMORY_STATUSES, type Memory, TRUST_LEVELS } from '../../../domain/memory.ts'
import type { ScopeInput } from '../../../domain/scope.ts'
import { isMemoryDocument } from '../../../domain/search-document.ts'
import { STRATEGIES } from '../../../domain/settings/settings.ts'
import { AppError } from '../../../lib/errors.ts'
import { omitUndefined } from '../../../lib/object.ts'
import type { EditInput } from '../../../memory/draft.ts'
import type { ReadFilter } from '../../../memory/memory-reader.ts'
import { FACETS } from '../../../recall/memory-facets.ts'
import { authorOf } from '../authorship.ts'
import {
  listField,
  memoryCategorySchema,
  memoryTypeSchema,
  toWireMemory,
  wireMemory,
} from '../memory-schema.ts'
import { defineOperation, type OperationContext } from '../operation.ts'
import { resolveScope, scopeFields } from '../scope-fields.ts'
import { filterFields, toFilter } from './memory-list-operations.ts'

const ACTIONS = ['edit', 'disable', 'restore', 'forget', 'move'] as const

const editFields = z.strictObject({
  category: memoryCategorySchema.optional(),
  type: memoryTypeSchema.optional(),
  importance: z.int().min(1).max(10).optional(),
  pinned: z.boolean().optional(),
  trust: z.enum(TRUST_LEVELS).optional(),
})

export const changeMemories = defineOperation({
  name: 'memory.bulk',
  summary:
    'Edits, disables, restores, forgets or moves all memories with these ids, or all that match, as one change. Can be undone.',
  access: 'curate',
  isDestructive: true,
  input: z.strictObject({
    ...scopeFields,
    ...filterFields,
    ids: listField(z.string().max(100)).optional(),
    q: z.string().max(QUERY_CHARACTERS_MAX).optional().describe('Substring of content or key.'),
    all: z.boolean().optional().describe('Required when no filter is given.'),
    action: z.enum(ACTIONS),
    edit: editFields.optional().describe('The fields to set; with the action `edit` only.'),
    toUser: z
      .string()
      .max(200)
      .nullable()
      .optional()
      .describe('With the action `move` only: the user of the owner who gets them; null: no user.'),
    dryRun: z.boolean().optional().describe('Only counts.'),
  }),
  output: z.object({
    matched: z.int(),
    changed: z.int().describe('Memories that the action applied to and changed; 0 in a dry run.'),
    change: z.string().nullable().describe('The change to pass to undo.'),
    ids: z.array(z.string()).describe('The first matches.'),
    dryRun: z.boolean(),
  }),
  http: { method: 'POST', path: '/api/memory/bulk', hasProgress: true },
  targets: ({ ids }) => ids,
  run: async (context, input) => {
    const { ids, q, all, action, edit, toUser, dryRun = false, ...fields } = input
    assertPerson(context)
    if ((action === 'edit') !== (edit !== undefined && Object.keys(edit).length > 0)) {
      throw new AppError(
        'invalid_input',
        '`edit` must name the fields to set with the action `edit`, and be absent otherwise.',
        { field: 'edit' },
      )
    }
    if ((action === 'move') !== (toUser !== undefined)) {
      throw new AppError(
        'invalid_input',
        '`toUser` must name the new user with the action `move`, and be absent otherwise.',
        { field: 'toUser' },
      )
    }
    const filter: ReadFilter = {
      ...toFilter(fields),
      ...(ids === undefined ? {} : { ids: ids.map((id) => parseId('mem', id)) }),
      ...(q === undefined ? {} : { contains: q }),
      // Named memories are changed whatever their status and age.
      ...(ids === undefined || fields.status !== undefined ? {} : { statuses: MEMORY_STATUSES }),
    }
    const isNarrowed =
      Object.keys(filter).length > 0 || fields.user !== undefined || (fields.sessionId ?? '') !== ''
    if (!isNarrowed && all !== true) {
      const message = 'A filter or `all: true` is required: this would change everything.'
      throw new AppError('invalid_input', message, { field: 'all' })
    }
    const scope = resolveScope(context, fields, 'curate')
    const { memories } = context.engine
    const { onProgress } = context
    const options = {
      dryRun,
      ...(onProgress === undefined
        ? {}
        : { onProgress: (done: number, total: number) => onProgress({ done, total }) }),
    }
    if (action === 'forget') {
      const {
        forgotten,
        matched,
        change,
        ids: first,
      } = await memories.clear(scope, filter, options)
      return { matched, changed: forgotten, change, ids: [...first], dryRun }
    }
    const done = await memories.editMatching(
      scope,
      filter,
      action === 'edit'
        ? { kind: 'edit', edit: omitUndefined(edit ?? {}) as EditInput } // the schema is that of an edit
        : action === 'move'
          ? { kind: 'move', toUser: toUser ?? null }
          : { kind: action },
      options,
    )
    return { ...done, ids: [...done.ids], dryRun }
  },
})

/** Statements of a person are changed by persons only; a single edit of a model becomes a proposal. */
function assertPerson(context: OperationContext): void {
  if (authorOf(context) === 'person') return
  throw new AppError('forbidden', 'Only a person can change several memories at once.')
}

export const mergeMemories = defineOperation({
  name: 'memory.merge',
  summary: 'Merges several memories of a user into the first one. Can be undone.',
  access: 'curate',
  input: z.strictObject({
    ...scopeFields,
    ids: z.array(z.string().max(100)).min(2).max(50).describe('The first one is kept.'),
    content: z.string().min(1).max(CONTENT_CHARACTERS_MAX).describe('The text of the result.'),
  }),
  output: z.object({
    memory: wireMemory,
    superseded: z.array(z.string()).describe('The ids of the other memories.'),
    change: z.string().describe('The change to pass to undo.'),
  }),
  http: { method: 'POST', path: '/api/memory/merge' },
  targets: ({ memory, superseded }) => [memory.id, ...superseded],
  run: async (context, { ids, content, ...fields }) => {
    assertPerson(context)
    const scope = resolveScope(context, fields, 'curate')
    const { kept, dropped } = await context.engine.learning.review.merge(scope, ids, content)
    return {
      memory: toWireMemory(kept),
      superseded: dropped.map(({ id }) => id),
      change: kept.change,
    }
  },
})

const facetValues = z.array(z.object({ value: z.string(), count: z.int() }))

/** The most results of a search. */
const SEARCH_RESULTS_MAX = 100

export const countFacets = defineOperation({
  name: 'memory.facets',
  summary: 'Counts matching memories by category, type, user and other fields.',
  access: 'read',
  input: z.strictObject({
    ...scopeFields,
    ...filterFields,
    q: z.string().max(QUERY_CHARACTERS_MAX).optional().describe('Substring of content or key.'),
    query: z
      .string()
      .max(QUERY_CHARACTERS_MAX)
      .optional()
      .describe('Counts the results of a search for this text, at most 100.'),
    strategy: z.enum(STRATEGIES).optional().describe('With `query`: the strategy of the search.'),
  }),
  output: z.object({
    total: z.int().describe('Memories that pass every filter.'),
    facets: z
      .object(
        Object.fromEntries(FACETS.map((facet) => [facet, facetValues])) as Record<
          (typeof FACETS)[number],
          typeof facetValues
        >, // one entry per facet
      )
      .describe(
        'The most frequent values of each field with their counts. The filter on the field itself is ignored. `age`: created in the last 7, 30, 90 and 365 days.',
      ),
    excluded: z
      .record(z.string(), z.int())
      .describe('For each filter in force, the memories that only this filter excludes.'),
    isComplete: z.boolean().describe('Whether all memories were counted, not only the newest.'),
  }),
  http: { method: 'GET', path: '/api/memory/facets' },
  run: async (context, { q, query, strategy, user, sessionId, ...fields }) => {
    const scope = resolveScope(context, fields, 'read')
    const filter = toFilter(fields)
    const among = query === undefined ? undefined : await search(context, scope, query, strategy)
    const { total, facets, excluded, isComplete } = await context.engine.admin.overview.facets(
      scope,
      {
        ...filter,
        ...(q === undefined ? {} : { contains: q }),
        ...(user === undefined ? {} : { users: [user] }),
        ...(sessionId === undefined || sessionId === '' ? {} : { sessions: [sessionId] }),
        ...(among === undefined ? {} : { among }),
      },
    )
    const copies = FACETS.map((facet) => [facet, facets[facet].map((each) => ({ ...each }))])
    return {
      ...{ total, isComplete, excluded: { ...excluded } },
      facets: Object.fromEntries(copies) as Record<
        (typeof FACETS)[number],
        { value: string; count: number }[]
      >, // one entry per facet
    }
  },
})

async function search(
  { engine }: OperationContext,
  scope: ScopeInput,
  text: string,
  strategy: (typeof STRATEGIES)[number] | undefined,
): Promise<readonly Memory[]> {
  const { memories } = await engine.recall(scope, {
    ...{ text, limit: SEARCH_RESULTS_MAX, include: 'facts', statuses: MEMORY_STATUSES },
    ...{ includeSuspect: true, includeBelowThreshold: true, includeExpired: true },
    ...(strategy === undefined ? {} : { strategy }),
  })
  return memories.flatMap(({ memory }) => (isMemoryDocument(memory) ? [memory] : []))
}
