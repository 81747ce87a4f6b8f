/** Previews of recall and of the gateway's context block. */
import { z } from 'zod'
import type { PreviewSettings } from '../../../conversations/context/context-preview.ts'
import { CONTEXT_SKIP_REASONS } from '../../../conversations/conversations.ts'
import { type BlockLine, getMemoryIds, getTurnIds } from '../../../domain/context-block.ts'
import { API_FORMATS, type ApiFormat, BLOCK_PLACEMENTS } from '../../../domain/model-call.ts'
import { DOCUMENT_TYPES, isTurnDocument } from '../../../domain/search-document.ts'
import { FUSIONS } from '../../../domain/settings/setting-choices.ts'
import { SETTINGS, type Settings, STRATEGIES } from '../../../domain/settings/settings.ts'
import { TURN_ROLES } from '../../../domain/turn.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { JsonObject } from '../../../lib/json.ts'
import { omitUndefined } from '../../../lib/object.ts'
import type { RecalledMemory, RecallResult } from '../../../recall/recall-result.ts'
import { selectPlacement } from '../../gateway/formats/block-placement.ts'
import { WIRE_FORMATS } from '../../gateway/formats/index.ts'
import { SKIP_REASONS, wireGate } from '../conversations/receipt-operations.ts'
import { filterFields, toFilter } from '../memories/memory-list-operations.ts'
import { isoTime, memoryCategorySchema, timeField } from '../memory-schema.ts'
import { defineOperation } from '../operation.ts'
import { resolveScope, scopeFields } from '../scope-fields.ts'
import {
  matchSnippet,
  retrieverReports,
  toRetrieverReports,
  toTurnExcerpt,
  trailStep,
} from './search-hit.ts'

const MESSAGE_CHARACTERS_MAX = 1_048_576
const TOKENS_MAX = SETTINGS['gateway.contextTokensMax'].max

/** Why a retriever that the strategy calls for did not search; null when all of them did. */
function findFallbackReason(
  strategy: Settings['recall.strategy'],
  { retrievers: { keyword, vector } }: RecallResult,
): string | null {
  if (strategy === 'keyword') return keyword.reason
  if (strategy === 'semantic') return vector.reason
  return strategy === 'hybrid' ? (vector.reason ?? keyword.reason) : null
}

export const previewRecall = defineOperation({
  name: 'memory.preview',
  summary: 'Previews retrieval for a message, with ranking trails. Read-only.',
  access: 'read',
  input: z.strictObject({
    ...scopeFields,
    ...filterFields,
    query: z.string().min(1).max(MESSAGE_CHARACTERS_MAX),
    scope: z.enum(['session', 'owner', 'global']).optional(),
    strategy: z.enum(STRATEGIES).optional(),
    include: z
      .enum(SETTINGS['gateway.contextSources'].choices)
      .optional()
      .describe('Facts, conversations or both; default: both.'),
    fusion: z.enum(FUSIONS).optional().describe('How lexical and vector scores are fused.'),
    asOf: timeField.optional().describe('State at an earlier time.'),
    includeSuspect: z.boolean().optional(),
    maxTokens: z.int().min(1).max(TOKENS_MAX).default(2_000),
    limit: z.int().min(1).max(100).default(20),
  }),
  output: z.object({
    memories: z.array(
      z.object({
        id: z.string(),
        owner: z.string().describe('`@shared` for shared memory.'),
        user: z.string().nullable(),
        type: z.enum(DOCUMENT_TYPES).describe('`turn` for a conversation turn.'),
        category: memoryCategorySchema,
        key: z.string().nullable(),
        content: z.string(),
        snippet: z
          .string()
          .describe('The matching passage of a turn, or the beginning of a memory.'),
        createdAt: z.string().describe('When it was learned or said.'),
        sessionId: z.string().describe('Empty without a session.'),
        role: z.enum(TURN_ROLES).nullable().describe('Role of a turn; null for memories.'),
        speaker: z
          .string()
          .nullable()
          .describe('Speaker of a turn: the name, or the role without one.'),
        score: z.number(),
        coverage: z.number().describe('Share of the query terms that it contains, 0 to 1.'),
        tokens: z.int(),
        tier: z.enum(['fts5', 'vector', 'hybrid-rrf', 'hybrid', 'recent']),
        vecScore: z.number().nullable(),
        ftsScore: z.number().nullable(),
        trail: z.array(trailStep),
      }),
    ),
    retrievers: retrieverReports,
    abstained: z
      .boolean()
      .describe('Whether there were candidates, but none above the similarity threshold.'),
    topSimilarity: z
      .number()
      .nullable()
      .describe('Similarity of the nearest candidate; null without vectors.'),
    timeExpression: z.string().nullable().describe('The time expression as written in the query.'),
    resolution: z.object({
      embeddingSource: z.string().nullable(),
      embeddingModel: z.string().nullable(),
      vectorStore: z.string(),
      strategyUsed: z.enum(STRATEGIES),
      fusionUsed: z.enum(FUSIONS),
      rerankApplied: z.boolean(),
      degraded: z.boolean().describe('Whether a retriever of the strategy was unavailable.'),
      fallbackReason: z.string().nullable().describe('The unavailable retriever; else null.'),
    }),
    totalTokensUsed: z.int(),
    budgetMaxTokens: z.int(),
  }),
  http: { method: 'POST', path: '/api/memory/retrieve-preview' },
  run: async (context, input) => {
    const { query, scope: reach, strategy, fusion, include, asOf, includeSuspect } = input
    const { maxTokens, limit } = input
    const { engine } = context
    const scope = resolveScope(context, input, 'read')
    const found = await engine.recall(scope, {
      text: query,
      limit,
      tokensMax: maxTokens,
      ...toFilter(input),
      ...(omitUndefined({ strategy, fusion, include, asOf, includeSuspect, reach }) as object),
    })
    const { embedder, vectors } = engine.admin.getComponents()
    const requested =
      strategy ?? (await engine.admin.settings.resolve(scope.owner))['recall.strategy']
    const fallbackReason = findFallbackReason(requested, found)
    const fusionUsed = fusion ?? (await toFusionLabel(engine, scope.owner))
    return {
      memories: found.memories.map((recalled) =>
        toPreview(recalled, query, found.strategy, fusionUsed),
      ),
      retrievers: toRetrieverReports(found),
      abstained: found.abstained,
      topSimilarity: found.topSimilarity,
      timeExpression: found.timeExpression,
      resolution: {
        embeddingSource: embedder?.source ?? null,
        embeddingModel: embedder?.model ?? null,
        vectorStore: vectors,
        strategyUsed: found.strategy,
        fusionUsed,
        rerankApplied: found.retrievers.rerank.state === 'searched',
        degraded: fallbackReason !== null,
        fallbackReason,
      },
      totalTokensUsed: found.tokens,
      budgetMaxTokens: maxTokens,
    }
  },
})

async function toFusionLabel(
  { admin: { settings } }: Engine,
  owner: string,
): Promise<Settings['recall.fusion']> {
  const inForce = await settings.resolve(owner as Parameters<typeof settings.resolve>[0]) // recall has checked it
  return inForce['recall.fusion']
}

function toPreview(
  { memory, score, coverage, tokens, evidence, trail }: RecalledMemory,
  query: string,
  strategy: RecallResult['strategy'],
  fusion: Settings['recall.fusion'],
) {
  const isKeyword = evidence.keyword > 0
  const isVector = evidence.vector > 0
  const { role, speaker, sessionId } = toTurnExcerpt(memory)
  const isTurn = isTurnDocument(memory)
  return {
    id: memory.id,
    owner: memory.place.owner,
    user: memory.place.user,
    type: memory.type,
    category: memory.category,
    key: memory.key,
    content: memory.content,
    snippet: matchSnippet(memory, query),
    createdAt: isoTime(memory.createdAt),
    sessionId,
    role: isTurn ? role : null,
    speaker: isTurn ? speaker : null,
    score,
    coverage,
    tokens,
    tier: tierUsed(strategy, fusion, isKeyword, isVector),
    vecScore: isVector ? evidence.vector : null,
    ftsScore: isKeyword ? evidence.keyword : null,
    trail: trail.map((each) => ({ ...each })),
  }
}

function tierUsed(
  strategy: RecallResult['strategy'],
  fusion: Settings['recall.fusion'],
  isKeyword: boolean,
  isVector: boolean,
) {
  if (strategy === 'recent' || strategy === 'exact') return 'recent' as const
  if (isKeyword && isVector) return fusion === 'rrf' ? ('hybrid-rrf' as const) : ('hybrid' as const)
  return isVector ? ('vector' as const) : ('fts5' as const)
}

export const previewContext = defineOperation({
  name: 'memory.previewContext',
  summary:
    'The context block that the gateway would inject for a message, in a request of each API. Changes nothing.',
  access: 'read',
  input: z.strictObject({
    ...scopeFields,
    query: z.string().min(1).max(MESSAGE_CHARACTERS_MAX).describe('The user message.'),
    strategy: z.enum(STRATEGIES).optional(),
    fusion: z.enum(FUSIONS).optional(),
    gateMode: z
      .enum(SETTINGS['gateway.gateMode'].choices)
      .optional()
      .describe('Overrides the setting `gateway.gateMode`; `llm` calls a model.'),
    include: z
      .enum(SETTINGS['gateway.contextSources'].choices)
      .optional()
      .describe('Overrides the setting `gateway.contextSources`.'),
    maxTokens: z.int().min(1).max(TOKENS_MAX).optional(),
    position: z.enum(SETTINGS['gateway.contextPosition'].choices).optional(),
  }),
  output: z.object({
    block: z.string().describe('The context block with its fence; empty when there is none.'),
    tokens: z.int().describe('Tokens that the block adds to the request.'),
    contextTokensMax: z.int().describe('The token budget of the block.'),
    skipped: z
      .enum(SKIP_REASONS)
      .nullable()
      .describe('Why the gateway would inject nothing; null when it would inject the block.'),
    reason: z.string().nullable().describe('The skip reason as a sentence.'),
    gate: wireGate,
    memories: z.array(z.string()).describe('Ids of the memories in the block, in its order.'),
    identityIds: z.array(z.string()).describe('Those in the identity section.'),
    excerptIds: z.array(z.string()).describe('Ids of the turns that the block quotes.'),
    excerpts: z
      .array(
        z.object({
          id: z.string(),
          role: z.enum(TURN_ROLES),
          speaker: z.string(),
          sessionId: z.string().describe('Empty without a session.'),
          createdAt: z.string().describe('When it was said.'),
          line: z.string().describe('The line of the block.'),
        }),
      )
      .describe('The quoted turns with their lines.'),
    omitted: z
      .array(z.string())
      .describe('Ids of recalled memories and turns that did not fit into the budget.'),
    degraded: z.array(z.string()).describe('Retrievers and sections that failed.'),
    durationMs: z.number(),
    contextTimeoutMs: z
      .int()
      .describe(
        'How long the gateway waits for the block: the setting `gateway.contextTimeoutMs`.',
      ),
    requests: z.array(
      z.object({
        format: z.enum(API_FORMATS),
        path: z.string(),
        placement: z.enum(BLOCK_PLACEMENTS),
        before: z.string().describe('An example request with the message.'),
        after: z.string().describe('The request with the block inserted.'),
      }),
    ),
  }),
  http: { method: 'POST', path: '/api/memory/context-preview' },
  run: async (context, { query, strategy, fusion, gateMode, include, maxTokens, ...rest }) => {
    const { position, ...input } = rest
    const given = await context.engine.context.preview(
      resolveScope(context, input, 'read'),
      query,
      {
        trial: omitUndefined({
          'recall.strategy': strategy,
          'recall.fusion': fusion,
          'gateway.gateMode': gateMode,
          'gateway.contextSources': include,
          'gateway.contextTokensMax': maxTokens,
          'gateway.contextPosition': position,
        }) as PreviewSettings, // what was not given is left out
        signal: context.signal,
      },
    )
    const { block, settings, skipped, gate, recalled, degraded, durationMs } = given
    const content = block?.content
    const memories: string[] = content === undefined ? [] : [...getMemoryIds(content)]
    const excerptIds: string[] = content === undefined ? [] : [...getTurnIds(content)]
    const text = block?.text ?? ''
    return {
      block: text,
      tokens: block?.tokens ?? 0,
      contextTokensMax: settings['gateway.contextTokensMax'],
      skipped,
      reason: skipped === null ? null : CONTEXT_SKIP_REASONS[skipped],
      gate,
      memories,
      identityIds: block?.identity.map(({ id }) => id as string) ?? [],
      excerptIds,
      excerpts: excerptsIn(content?.lines ?? []),
      omitted: recalled
        .map(({ memory }) => memory.id as string)
        .filter((id) => !memories.includes(id) && !excerptIds.includes(id)),
      degraded: [...degraded],
      durationMs,
      contextTimeoutMs: settings['gateway.contextTimeoutMs'],
      requests: API_FORMATS.map((name) => requestIn(name, query, text, settings)),
    }
  },
})

function excerptsIn(lines: readonly BlockLine[]) {
  return lines
    .filter(({ document }) => isTurnDocument(document))
    .map(({ document, text: line }) => ({
      ...{ id: document.id as string, line, ...toTurnExcerpt(document) },
      createdAt: isoTime(document.createdAt),
    }))
}

/** The smallest request of each API with a system prompt and the message. */
const EXAMPLES: Readonly<Record<ApiFormat, (message: string) => JsonObject>> = {
  chat: (content) => ({
    model: 'gpt-6.1-terra',
    messages: [
      { role: 'system', content: 'You are a helpful assistant.' },
      { role: 'user', content },
    ],
  }),
  responses: (input) => ({
    model: 'gpt-6.1-terra',
    instructions: 'You are a helpful assistant.',
    input,
  }),
  messages: (content) => ({
    model: 'claude-sonnet-5-5',
    max_tokens: 1_024,
    system: 'You are a helpful assistant.',
    messages: [{ role: 'user', content }],
  }),
  gemini: (text) => ({
    systemInstruction: { parts: [{ text: 'You are a helpful assistant.' }] },
    contents: [{ role: 'user', parts: [{ text }] }],
  }),
}

function requestIn(name: ApiFormat, message: string, block: string, settings: Settings) {
  const format = WIRE_FORMATS[name]
  const placement = selectPlacement(settings['gateway.contextPosition'], 'any')
  const body = EXAMPLES[name](message)
  const before = JSON.stringify(body, null, 2)
  const after = block === '' ? null : format.injectBlock(before, body, block, placement)
  return { format: name, path: format.path, placement, before, after: after ?? before }
}
