/** Operations that show what recall and the gateway would do, without doing it. */
import { z } from 'zod'
import type { PreviewSettings } from '../../../conversations/context/context-preview.ts'
import { CONTEXT_SKIP_REASONS } from '../../../conversations/conversations.ts'
import { type BlockLine, getMemoryIds, getTurnIds } from '../../../domain/context-block.ts'
import { API_FORMATS, type ApiFormat, BLOCK_PLACEMENTS } from '../../../domain/model-call.ts'
import { DOCUMENT_TYPES, isTurnDocument } from '../../../domain/search-document.ts'
import { FUSIONS } from '../../../domain/settings/recall-modes.ts'
import { SETTINGS, type Settings, STRATEGIES } from '../../../domain/settings/settings.ts'
import { TURN_ROLES } from '../../../domain/turn.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { JsonObject } from '../../../lib/json.ts'
import { omitUndefined } from '../../../lib/object.ts'
import type { RecalledMemory, RecallResult } from '../../../recall/recall-result.ts'
import { WIRE_FORMATS } from '../../gateway/formats/index.ts'
import { selectPlacement } from '../../gateway/formats/block-placement.ts'
import { SKIP_REASONS, wireGate } from '../conversations/receipt-operations.ts'
import { filterFields, toFilter } from '../memories/memory-list-operations.ts'
import { isoTime, memoryCategorySchema, timeField } from '../memory-schema.ts'
import { defineOperation } from '../operation.ts'
import { resolveScope, scopeFields } from '../scope-fields.ts'
import { retrieverReports, toRetrieverReports, trailStep } from './ranking-schema.ts'
import { matchSnippet, toTurnExcerpt } from './turn-hit.ts'

const MESSAGE_CHARACTERS_MAX = 1_048_576
const TOKENS_MAX = SETTINGS['gateway.contextTokensMax'].max

export const previewRecall = defineOperation({
  name: 'memory.preview',
  summary: 'What recall finds for a message, with how each got its place. Changes nothing.',
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
    fusion: z.enum(FUSIONS).optional().describe('How words and meaning are joined.'),
    asOf: timeField.optional().describe('As things stood at an earlier time.'),
    includeSuspect: z.boolean().optional(),
    maxTokens: z.int().min(1).max(TOKENS_MAX).default(2_000),
    limit: z.int().min(1).max(100).default(20),
  }),
  output: z.object({
    memories: z.array(
      z.object({
        id: z.string(),
        owner: z.string().describe('`@shared` for what all share.'),
        user: z.string().nullable(),
        type: z.enum(DOCUMENT_TYPES).describe('`turn` for what was said in a conversation.'),
        category: memoryCategorySchema,
        key: z.string().nullable(),
        content: z.string(),
        snippet: z
          .string()
          .describe('Of a turn the passage that matches; of a memory its beginning.'),
        createdAt: z.string().describe('When it was learned or said.'),
        sessionId: z.string().describe('Empty when it belongs to none.'),
        role: z.enum(TURN_ROLES).nullable().describe('Of turns; null for memories.'),
        speaker: z
          .string()
          .nullable()
          .describe('Of turns: the name of the speaker, or the role where there is no name.'),
        score: z.number(),
        coverage: z.number().describe('How much of the question its words cover, 0 to 1.'),
        tokens: z.int(),
        tier: z.enum(['fts5', 'vector', 'hybrid-rrf', 'hybrid', 'recent']),
        vecScore: z.number().nullable(),
        ftsScore: z.number().nullable(),
        trail: z.array(trailStep),
      }),
    ),
    legs: retrieverReports,
    abstained: z.boolean().describe('Something was found, but nothing that was near enough.'),
    closeness: z.number().nullable(),
    time: z.string().nullable().describe('The time that the question names, in its words.'),
    resolution: z.object({
      embeddingSource: z.string().nullable(),
      embeddingModel: z.string().nullable(),
      vectorStore: z.string(),
      strategyUsed: z.enum(STRATEGIES),
      fusionUsed: z.enum(FUSIONS),
      rerankApplied: z.boolean(),
      fallbackReason: z.string().nullable(),
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
    const { embedder, vectors } = engine.getComponents()
    const fusionUsed = fusion ?? (await toFusionLabel(engine, scope.owner))
    return {
      memories: found.memories.map((recalled) =>
        toPreview(recalled, query, found.strategy, fusionUsed),
      ),
      legs: toRetrieverReports(found),
      abstained: found.abstained,
      closeness: found.topSimilarity,
      time: found.time,
      resolution: {
        embeddingSource: embedder?.source ?? null,
        embeddingModel: embedder?.model ?? null,
        vectorStore: vectors,
        strategyUsed: found.strategy,
        fusionUsed,
        rerankApplied: found.retrievers.rerank.state === 'searched',
        fallbackReason: found.retrievers.meaning.reason ?? found.retrievers.keyword.reason,
      },
      totalTokensUsed: found.tokens,
      budgetMaxTokens: maxTokens,
    }
  },
})

async function toFusionLabel(
  { settings }: Engine,
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
  const isMeaning = evidence.vector > 0
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
    tier: tierUsed(strategy, fusion, isKeyword, isMeaning),
    vecScore: isMeaning ? evidence.vector : null,
    ftsScore: isKeyword ? evidence.keyword : null,
    trail: trail.map((each) => ({ ...each })),
  }
}

function tierUsed(
  strategy: RecallResult['strategy'],
  fusion: Settings['recall.fusion'],
  isKeyword: boolean,
  isMeaning: boolean,
) {
  if (strategy === 'recent' || strategy === 'exact') return 'recent' as const
  if (isKeyword && isMeaning)
    return fusion === 'rrf' ? ('hybrid-rrf' as const) : ('hybrid' as const)
  return isMeaning ? ('vector' as const) : ('fts5' as const)
}

export const previewContext = defineOperation({
  name: 'memory.previewInjection',
  summary:
    'The block that the gateway would give a model for a message, in a request of each API. Changes nothing.',
  access: 'read',
  input: z.strictObject({
    ...scopeFields,
    query: z.string().min(1).max(MESSAGE_CHARACTERS_MAX).describe('What the person says.'),
    strategy: z.enum(STRATEGIES).optional(),
    fusion: z.enum(FUSIONS).optional(),
    gateMode: z
      .enum(SETTINGS['gateway.gateMode'].choices)
      .optional()
      .describe('In place of the setting `relevanceGateMode`; `llm` asks a model.'),
    include: z
      .enum(SETTINGS['gateway.contextSources'].choices)
      .optional()
      .describe('In place of the setting `recallSources`.'),
    maxTokens: z.int().min(1).max(TOKENS_MAX).optional(),
    position: z.enum(SETTINGS['gateway.contextPosition'].choices).optional(),
  }),
  output: z.object({
    block: z.string().describe('Fence and all; empty when there is nothing to give.'),
    tokens: z.int().describe('What it adds to the request.'),
    budgetMaxTokens: z.int(),
    skipped: z
      .enum(SKIP_REASONS)
      .nullable()
      .describe('Why it would not be given; null when it would.'),
    because: z.string().nullable().describe('The same in words.'),
    gate: wireGate,
    memories: z.array(z.string()).describe('In the block, in its order.'),
    identity: z.array(z.string()).describe('Of those: what is always given.'),
    quoted: z.array(z.string()).describe('Turns that are quoted.'),
    excerpts: z
      .array(
        z.object({
          id: z.string(),
          role: z.enum(TURN_ROLES),
          speaker: z.string(),
          sessionId: z.string().describe('Empty when it belongs to none.'),
          createdAt: z.string().describe('When it was said.'),
          line: z.string().describe('As it stands in the block.'),
        }),
      )
      .describe('The same turns, with the lines that quote them.'),
    left: z.array(z.string()).describe('Recalled, but without room in the block.'),
    degraded: z.array(z.string()).describe('What failed, so that less was found.'),
    milliseconds: z.number(),
    deadlineMs: z.int().describe('The gateway waits no longer: the setting `injectDeadlineMs`.'),
    requests: z.array(
      z.object({
        format: z.enum(API_FORMATS),
        path: z.string(),
        placement: z.enum(BLOCK_PLACEMENTS),
        before: z.string().describe('An example of a request that says the message.'),
        after: z.string().describe('The same with the block in it.'),
      }),
    ),
  }),
  http: { method: 'POST', path: '/api/memory/injection-preview' },
  run: async (context, { query, strategy, fusion, gateMode, include, maxTokens, ...rest }) => {
    const { position, ...input } = rest
    const given = await context.engine.previewContext(resolveScope(context, input, 'read'), query, {
      trial: omitUndefined({
        strategy,
        fusion,
        relevanceGateMode: gateMode,
        recallSources: include,
        contextTokensMax: maxTokens,
        injectPosition: position,
      }) as PreviewSettings, // what was not given is left out
      signal: context.signal,
    })
    const { block, settings, skipped, gate, recalled, degraded, milliseconds } = given
    const content = block?.content
    const memories: string[] = content === undefined ? [] : [...getMemoryIds(content)]
    const quoted: string[] = content === undefined ? [] : [...getTurnIds(content)]
    const text = block?.text ?? ''
    return {
      block: text,
      tokens: block?.tokens ?? 0,
      budgetMaxTokens: settings['gateway.contextTokensMax'],
      skipped,
      because: skipped === null ? null : CONTEXT_SKIP_REASONS[skipped],
      gate,
      memories,
      identity: block?.identity.map(({ id }) => id as string) ?? [],
      quoted,
      excerpts: excerptsIn(content?.lines ?? []),
      left: recalled
        .map(({ memory }) => memory.id as string)
        .filter((id) => !memories.includes(id) && !quoted.includes(id)),
      degraded: [...degraded],
      milliseconds,
      deadlineMs: settings['gateway.contextTimeoutMs'],
      requests: API_FORMATS.map((name) => requestIn(name, query, text, settings)),
    }
  },
})

function excerptsIn(pieces: readonly BlockLine[]) {
  return pieces
    .filter(({ document }) => isTurnDocument(document))
    .map(({ document, text: line }) => ({
      ...{ id: document.id as string, line, ...toTurnExcerpt(document) },
      createdAt: isoTime(document.createdAt),
    }))
}

/** The smallest request of each API that says something to a model which has been told what it is. */
const EXAMPLES: Readonly<Record<ApiFormat, (message: string) => JsonObject>> = {
  chat: (content) => ({
    model: 'gpt-5',
    messages: [
      { role: 'system', content: 'You are a helpful assistant.' },
      { role: 'user', content },
    ],
  }),
  responses: (input) => ({
    model: 'gpt-5',
    instructions: 'You are a helpful assistant.',
    input,
  }),
  messages: (content) => ({
    model: 'claude-sonnet-4-5',
    max_tokens: 1_024,
    system: 'You are a helpful assistant.',
    messages: [{ role: 'user', content }],
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
