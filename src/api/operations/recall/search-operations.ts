/** Search over memories, turns and other sources. */
import { z } from 'zod'
import { parseScope } from '../../../domain/scope.ts'
import { isMemoryDocument } from '../../../domain/search-document.ts'
import { SETTINGS, STRATEGIES } from '../../../domain/settings/settings.ts'
import { TURN_ROLES } from '../../../domain/turn.ts'
import { formatCitation, isCitationShown } from '../../../files/citation.ts'
import { FILE_SOURCES } from '../../../files/file.ts'
import { SEARCH_SOURCES, type SourceHit } from '../../../files/search/source-search.ts'
import { ValidationError } from '../../../lib/errors.ts'
import { omitUndefined } from '../../../lib/object.ts'
import type { RecalledMemory, RecallResult } from '../../../recall/recall-result.ts'
import { fileAnswer, toFileAnswer } from '../files/file-operations.ts'
import { filterFields, toFilter } from '../memories/memory-list-operations.ts'
import {
  isoTime,
  listField,
  memoryCategorySchema,
  memoryTypeSchema,
  timeField,
  toWireMemory,
  wireMemory,
} from '../memory-schema.ts'
import { defineOperation } from '../operation.ts'
import { resolveScope, scopeFields } from '../scope-fields.ts'
import {
  matchSnippet,
  retrieverReports,
  toRetrieverReports,
  toTurnExcerpt,
  trailStep,
} from './search-hit.ts'

const searchHit = z.object({
  id: z.string().describe('Id of a memory or turn, or a file citation such as `path#L5-L9`.'),
  source: z.enum(SEARCH_SOURCES),
  owner: z.string().describe('`@shared` for shared memory.'),
  snippet: z
    .string()
    .describe('The beginning of a memory, or the matching passage of a turn or file.'),
  score: z
    .number()
    .describe('With `sources`, 0 to 1; otherwise comparable within one result only.'),
  coverage: z
    .number()
    .optional()
    .describe('Memories and turns: share of the query terms that it contains, 0 to 1.'),
  tokens: z.int(),
  type: memoryTypeSchema.optional().describe('Of memories.'),
  category: memoryCategorySchema.optional().describe('Of memories.'),
  createdAt: z.string().optional().describe('When it was learned or said; not for files.'),
  memory: wireMemory.optional(),
  trail: z.array(trailStep).optional(),
  content: z.string().optional().describe('Turns: the full text.'),
  role: z.enum(TURN_ROLES).optional().describe('Of turns.'),
  speaker: z.string().optional().describe('Speaker of a turn: the name, or the role without one.'),
  sessionId: z.string().optional().describe('Turns: the session.'),
  path: z.string().optional().describe('Of files.'),
  fileSource: z
    .enum(FILE_SOURCES)
    .optional()
    .describe('Files: `memory` for notes, `sessions` for transcripts.'),
  startLine: z.int().optional(),
  endLine: z.int().optional(),
  citation: z.string().optional().describe('Files: the citation, as set by `files.citations`.'),
})

type Hit = z.output<typeof searchHit>
type Detail = 'snippet' | 'full' | 'explain'

export const searchMemories = defineOperation({
  name: 'memory.search',
  summary: 'Searches memories, conversations and other sources, best first. May return nothing.',
  access: 'read',
  input: z.strictObject({
    ...scopeFields,
    ...filterFields,
    query: z.string().min(1).max(1_048_576),
    sources: listField(z.enum(SEARCH_SOURCES))
      .optional()
      .describe(
        'Default: memories, episodes, transcript (turns of conversations). Filters such as category leave out turns.',
      ),
    include: z
      .enum(SETTINGS['gateway.contextSources'].choices)
      .optional()
      .describe(
        'Memories only (`facts`), turns of conversations only, or both. A short form of `sources`; give one of the two.',
      ),
    fileSources: listField(z.enum(FILE_SOURCES))
      .optional()
      .describe('With files: `memory` for notes, `sessions` for transcripts. Default: both.'),
    minScore: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .describe('With sources: the minimum score of files and turns.'),
    sessionKey: z
      .string()
      .max(1_000)
      .optional()
      .describe(
        'With files: the session key of the caller, such as `agent:main:discord:group:42`.',
      ),
    scope: z
      .enum(['session', 'owner', 'global'])
      .optional()
      .describe('Where to search. Default: the setting `recall.scope`.'),
    limit: z.int().min(1).max(100).optional(),
    strategy: z.enum(STRATEGIES).optional(),
    maxTokens: z.int().min(1).max(16_000).optional(),
    asOf: timeField.optional(),
    includeSuspect: z.boolean().optional(),
    includeBelowThreshold: z
      .boolean()
      .optional()
      .describe(
        'Also returns results below the similarity threshold, after the others. In their trail, the stage `threshold` is missing.',
      ),
    detail: z
      .enum(['snippet', 'full', 'explain'])
      .default('full')
      .describe('Level of detail: snippets, full text, or full text with ranking trail.'),
  }),
  output: z.object({
    results: z.array(searchHit),
    strategy: z.enum(STRATEGIES),
    retrievers: retrieverReports,
    abstained: z
      .boolean()
      .describe('Whether there were candidates, but none above the similarity threshold.'),
    topSimilarity: z
      .number()
      .nullable()
      .describe('Similarity of the nearest candidate; null without vectors.'),
    timeExpression: z.string().nullable().describe('The time expression as written in the query.'),
    totalTokens: z.int(),
    failedSources: z
      .array(z.object({ source: z.enum(SEARCH_SOURCES), reason: z.string() }))
      .optional()
      .describe('With sources: those that failed.'),
    files: fileAnswer.optional().describe('With files: the search backend and its mode.'),
  }),
  http: { method: 'POST', path: '/api/memory/search' },
  mcp: {
    tool: 'memory_search',
    description:
      'Search memories and turns of earlier conversations before answering anything about the user, their preferences, past decisions, people or dates. Returns snippets; an empty list means that nothing is known.',
    fields: [
      'query',
      'limit',
      'type',
      'category',
      'createdFrom',
      'createdBefore',
      'user',
      'sessionId',
      'scope',
      'sources',
    ],
    fixedInput: { detail: 'snippet' },
  },
  cli: 'search',
  run: async (context, input) => {
    const { query, limit, strategy, maxTokens, asOf, includeSuspect, detail, scope: reach } = input
    const { sources, include, fileSources, minScore, sessionKey, includeBelowThreshold } = input
    const scope = resolveScope(context, input, 'read')
    const recallQuery = {
      text: query,
      ...toFilter(input),
      ...(omitUndefined({
        limit,
        strategy,
        tokensMax: maxTokens,
        asOf,
        includeSuspect,
        includeBelowThreshold,
        include,
        reach,
      }) as object),
    }
    if (sources === undefined) {
      assertSupportedFields({ fileSources, minScore, sessionKey })
      const found = await context.engine.recall(scope, recallQuery)
      const results = found.memories.map((each) => toHit(each, each.score, query, detail))
      return { ...recallSummary(found), results, totalTokens: found.tokens }
    }
    assertSupportedSources(include)
    const { engine, signal } = context
    const {
      items,
      recall: recalled,
      files,
      failedSources,
    } = await engine.context.searchSources(scope, {
      ...recallQuery,
      ...{ sources, signal },
      ...(minScore === undefined ? {} : { minScore }),
      ...(fileSources === undefined ? {} : { fileSources }),
      ...(sessionKey === undefined ? {} : { fileSession: sessionKey }),
    })
    const inForce = await engine.admin.settings.resolve(parseScope(scope).owner)
    const rendering = {
      ...{ query, detail, owner: scope.owner },
      isCited: isCitationShown(inForce['files.citations'], sessionKey),
    }
    return {
      ...(recalled === null
        ? emptyRecallSummary(strategy ?? inForce['recall.strategy'])
        : recallSummary(recalled)),
      abstained: items.length === 0 && (recalled?.abstained ?? false),
      results: items.map((item) => toItem(item, rendering)),
      totalTokens: items.reduce((sum, { tokens }) => sum + tokens, 0),
      failedSources: failedSources.map((each) => ({ ...each })),
      ...(files === null ? {} : { files: toFileAnswer(files, inForce['files.citations']) }),
    }
  },
})

/** Filters for memories are refused where no memories are searched. */
function assertSupportedFields(fields: { readonly [name: string]: unknown }): void {
  const misplaced = Object.keys(fields).filter((name) => fields[name] !== undefined)
  if (misplaced.length === 0) return
  throw new ValidationError(
    misplaced.map((field) => ({
      field,
      message: `\`${field}\` must be combined with \`sources\`.`,
    })),
  )
}

function assertSupportedSources(include: string | undefined): void {
  if (include === undefined) return
  const message = '`include` must not be given together with `sources`.'
  throw new ValidationError([{ field: 'include', message }])
}

function recallSummary(found: RecallResult) {
  const { strategy, abstained, topSimilarity, timeExpression } = found
  const retrievers = toRetrieverReports(found)
  return { strategy, abstained, topSimilarity, timeExpression, retrievers }
}

function emptyRecallSummary(strategy: RecallResult['strategy']) {
  const skipped = {
    state: 'skipped' as const,
    hits: 0,
    reason: '`sources` contains no memories, episodes or transcript',
  }
  return {
    ...{ strategy, topSimilarity: null, timeExpression: null },
    retrievers: { keyword: skipped, vector: skipped, rerank: skipped },
  }
}

function toHit(recalled: RecalledMemory, score: number, query: string, detail: Detail): Hit {
  const { memory, coverage, tokens, trail } = recalled
  const explained = detail === 'explain' ? { trail: trail.map((each) => ({ ...each })) } : {}
  if (!isMemoryDocument(memory)) {
    return {
      id: memory.id,
      source: 'transcript',
      owner: memory.place.owner,
      snippet: matchSnippet(memory, query),
      ...{ score, coverage, tokens },
      ...(detail === 'snippet' ? {} : { content: memory.content }),
      createdAt: isoTime(memory.createdAt),
      ...toTurnExcerpt(memory),
      ...explained,
    }
  }
  return {
    id: memory.id,
    source: memory.category === 'episode' ? 'episodes' : 'memories',
    owner: memory.place.owner,
    snippet: matchSnippet(memory, query),
    score,
    coverage,
    tokens,
    type: memory.type,
    category: memory.category,
    createdAt: isoTime(memory.createdAt),
    ...(detail === 'snippet' ? {} : { memory: toWireMemory(memory) }),
    ...explained,
  }
}

type ItemOptions = {
  readonly query: string
  readonly detail: Detail
  readonly owner: string
  readonly isCited: boolean
}

function toItem(
  item: SourceHit,
  { query, detail, owner, isCited: isWithCitation }: ItemOptions,
): Hit {
  const { score, tokens } = item
  if (item.source !== 'files') return toHit(item.recalled, score, query, detail)
  const { path, startLine, endLine, snippet, source: fileSource } = item.hit
  const id = formatCitation({ path, lineFirst: startLine, lineLast: endLine })
  return {
    ...{ id, source: item.source, owner, score, tokens, snippet },
    ...{ path, fileSource, startLine, endLine },
    ...(isWithCitation ? { citation: id } : {}),
  }
}
