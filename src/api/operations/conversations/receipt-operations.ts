/** Operations on gateway receipts. */
import { z } from 'zod'
import type { Conversations } from '../../../conversations/conversation-service.ts'
import { CONTEXT_SKIP_REASONS, type SkipReason } from '../../../conversations/conversations.ts'
import { GATE_SECTIONS } from '../../../conversations/gate/types.ts'
import {
  REDACTION_REASONS,
  type Receipt,
  type ReceiptDetail,
} from '../../../conversations/receipts/receipt.ts'
import { QUERY_CHARACTERS_MAX } from '../../../domain/limits.ts'
import { API_FORMATS, BLOCK_PLACEMENTS } from '../../../domain/model-call.ts'
import type { ScopeInput } from '../../../domain/scope.ts'
import { SETTINGS } from '../../../domain/settings/settings.ts'
import { AppError } from '../../../lib/errors.ts'
import type { Page } from '../../../storage/store.ts'
import { containsFolded, foldCase } from '../../../text/substring.ts'
import { isoTime, toSnippet } from '../memory-schema.ts'
import { defineOperation } from '../operation.ts'
import { resolveScope, scopeFields } from '../scope-fields.ts'

const ids = z.array(z.string())

export const SKIP_REASONS = Object.keys(CONTEXT_SKIP_REASONS) as [SkipReason, ...SkipReason[]] // the table's own keys
const gateMode = z.enum(SETTINGS['gateway.gateMode'].choices)

export const wireGate = z
  .object({
    mode: gateMode.describe('The setting `gateway.gateMode`.'),
    by: gateMode.describe('What decided: `heuristic` where the model of the gate failed.'),
    section: z.enum(['all', ...GATE_SECTIONS]),
    reason: z.string(),
  })
  .nullable()
  .describe(
    'The decision of the gate which memories the message needs; null when the gate did not run.',
  )

const wireLine = z.object({
  kind: z.enum(['memory', 'turn']),
  id: z.string(),
  version: z.int().describe('The version that the line renders.'),
})

export const wireReceipt = z
  .object({
    id: z.string(),
    owner: z.string(),
    user: z.string().nullable(),
    sessionId: z.string().describe('Empty without a session.'),
    at: z.string().describe('ISO 8601'),
    requestId: z.string(),
    format: z.enum(API_FORMATS),
    model: z.string(),
    provider: z.string(),
    status: z.int().nullable().describe('The status of the provider; null without a response.'),
    skipped: z
      .string()
      .nullable()
      .describe('Why no context block was injected; null when one was.'),
    error: z.string().nullable().describe('The code of the error that memory met.'),
    degraded: z
      .array(z.string())
      .describe(
        'Retrievers and sections that failed: `keyword`, `vector`, `rerank`, `identity`, `recall`.',
      ),
    gate: wireGate,
    results: z.array(
      z.object({
        memory: z.string(),
        score: z.number(),
        coverage: z.number(),
        trail: z.array(z.object({ stage: z.string(), score: z.number() })),
      }),
    ),
    identityIds: ids.describe('Those of the injected memories in the identity section.'),
    excerptIds: ids.describe('Turns of earlier conversations that the block quotes.'),
    injected: z
      .object({ placement: z.enum(BLOCK_PLACEMENTS), memories: ids, tokens: z.int() })
      .nullable(),
    dryRun: z
      .object({ memories: ids, tokens: z.int() })
      .nullable()
      .describe('What a dry run would have injected.'),
    lines: z
      .array(wireLine)
      .describe('The lines of the block in order; empty for receipts of earlier versions.'),
    turns: ids.describe('The turns that were recorded.'),
    extracted: ids.describe('The memories that were extracted from it.'),
    toolCalls: z.array(z.string()).describe('Memory tool calls that the gateway answered.'),
    memoryToolResults: z
      .object({ found: ids, saved: ids, updated: ids, forgotten: ids })
      .describe('The memories that these calls found and changed.'),
    answer: z
      .enum(['complete', 'truncated', 'interrupted', 'unparsed'])
      .nullable()
      .describe(
        'How the response ended: `truncated` at the output limit, `interrupted` when the connection, the provider or the client gave up, `unparsed` when its encoding is not supported.',
      ),
    question: z
      .string()
      .nullable()
      .optional()
      .describe('The beginning of the recorded question, in lists that ask for it.'),
    usage: z
      .object({ input: z.int(), output: z.int(), cached: z.int().nullable() })
      .nullable()
      .describe('Tokens, as the provider counted them.'),
    timings: z.object({
      prepareMs: z.number(),
      firstByteMs: z.number().nullable(),
      totalMs: z.number(),
      recordMs: z.number().nullable(),
    }),
  })
  .meta({ id: 'Receipt' })

export type WireReceipt = z.output<typeof wireReceipt>

export const wireReceiptDetail = wireReceipt
  .extend({
    lines: z
      .array(
        wireLine.extend({
          text: z.string().nullable().describe('As the model read it; null when it is redacted.'),
          redaction: z
            .enum(REDACTION_REASONS)
            .nullable()
            .describe(
              'Why the text is redacted: its memory or turn was erased (`erased`), its memory is in the trash (`forgotten`), or it was not stored (`not-stored`).',
            ),
        }),
      )
      .describe('The lines of the block in order; empty for receipts of earlier versions.'),
    block: z
      .string()
      .nullable()
      .describe(
        'The injected text, byte for byte, with a placeholder such as `- [erased]` for each redacted line; in a dry run the text that would have been injected. Null when there was none.',
      ),
  })
  .meta({ id: 'ReceiptDetail' })

export type WireReceiptDetail = z.output<typeof wireReceiptDetail>

function toWireReceipt({ frame: _, lines, ...receipt }: Receipt): WireReceipt {
  return {
    ...commonFields(receipt),
    lines: lines.map(({ kind, id, version }) => ({ kind, id, version })),
  }
}

function toWireReceiptDetail({ lines, block, ...receipt }: ReceiptDetail): WireReceiptDetail {
  return {
    ...commonFields(receipt),
    lines: lines.map(({ owner: _, ...line }) => line),
    block,
  }
}

function commonFields({ place, at, ...receipt }: Omit<Receipt, 'lines' | 'frame'>) {
  const { degraded, results, injected, dryRun, turns, extracted, toolCalls } = receipt
  const { identityIds, excerptIds, memoryToolResults } = receipt
  return {
    ...receipt,
    owner: place.owner,
    user: place.user,
    sessionId: place.session ?? '',
    at: isoTime(at),
    degraded: [...degraded],
    results: results.map((each) => ({ ...each, trail: [...each.trail] })),
    injected: injected && { ...injected, memories: [...injected.memories] },
    dryRun: dryRun && { ...dryRun, memories: [...dryRun.memories] },
    identityIds: [...identityIds],
    excerptIds: [...excerptIds],
    turns: [...turns],
    extracted: [...extracted],
    toolCalls: [...toolCalls],
    memoryToolResults: {
      found: [...memoryToolResults.found],
      saved: [...memoryToolResults.saved],
      updated: [...memoryToolResults.updated],
      forgotten: [...memoryToolResults.forgotten],
    },
  }
}

export const listReceipts = defineOperation({
  name: 'receipt.list',
  summary: 'Lists gateway receipts, newest first.',
  access: 'read',
  input: z.strictObject({
    ...scopeFields,
    model: z.string().max(200).optional().describe('Only requests that named this model.'),
    memory: z
      .string()
      .max(200)
      .optional()
      .describe('Only requests whose context contained this memory.'),
    skipped: z
      .enum(['none', ...SKIP_REASONS])
      .optional()
      .describe('Only requests skipped for this reason; `none`: those with context.'),
    q: z
      .string()
      .max(QUERY_CHARACTERS_MAX)
      .optional()
      .describe('Only requests whose recorded question contains this text.'),
    withQuestion: z
      .boolean()
      .optional()
      .describe('Adds the beginning of the recorded question to each receipt.'),
    limit: z.int().min(1).max(200).default(50),
    after: z.string().max(200).optional().describe('The `next` cursor of the previous page.'),
  }),
  output: z.object({
    receipts: z.array(wireReceipt),
    next: z
      .string()
      .nullable()
      .describe('Cursor of the next page; a page may be shorter than `limit`.'),
  }),
  http: { method: 'GET', path: '/api/receipts' },
  cli: 'receipts',
  run: async (context, { limit, after, model, memory, skipped, q, withQuestion, ...input }) => {
    const { conversations } = context.engine
    const scope = resolveScope(context, input, 'read')
    const words = foldCase(q ?? '')
    const { rows, next } = await matchingReceipts(
      conversations,
      scope,
      async (receipt) =>
        words === '' || containsFolded((await loadQuestion(conversations, receipt)) ?? '', words),
      ({ model: named, injected, skipped: reason }) =>
        (model === undefined || model === named) &&
        (memory === undefined || injected?.memories.some((id) => id === memory) === true) &&
        (skipped === undefined || skipped === (reason ?? 'none')),
      { limit, ...(after === undefined ? {} : { after }) },
    )
    const receipts = rows.map(toWireReceipt)
    if (withQuestion !== true) return { receipts, next }
    const questions = await Promise.all(rows.map((row) => loadQuestion(conversations, row)))
    return {
      receipts: receipts.map((receipt, index) => {
        const question = questions[index] ?? null
        return { ...receipt, question: question && toSnippet(question) }
      }),
      next,
    }
  },
})

/** The recorded question of a request; null when it was not recorded or has been deleted. */
async function loadQuestion(
  conversations: Conversations,
  { place, turns: [first] }: Receipt,
): Promise<string | null> {
  if (first === undefined) return null
  try {
    const turn = await conversations.turns.get({ owner: place.owner }, first)
    return turn.role === 'user' ? turn.content : null
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return null
    throw error
  }
}

/** Page size, and the most rows read for one response where most do not match. */
const READ_AT_ONCE = 200
const READ_MAX = 2_000

async function matchingReceipts(
  conversations: Conversations,
  scope: ScopeInput,
  /** Reads the question, so it is asked last. */
  matchesQuestion: (receipt: Receipt) => Promise<boolean>,
  matches: (receipt: Receipt) => boolean,
  { limit, after: first }: { readonly limit: number; readonly after?: string },
): Promise<Page<Receipt>> {
  const rows: Receipt[] = []
  let after = first ?? null
  for (let read = 0; read < READ_MAX; read += READ_AT_ONCE) {
    const page = await conversations.receipts.list(scope, {
      limit: READ_AT_ONCE,
      ...(after === null ? {} : { after }),
    })
    for (const [index, receipt] of page.rows.entries()) {
      if (matches(receipt) && (await matchesQuestion(receipt))) rows.push(receipt)
      if (rows.length < limit) continue
      const isLast = index === page.rows.length - 1 && page.next === null
      return { rows, next: isLast ? null : receipt.id }
    }
    after = page.next
    if (after === null) break
  }
  return { rows, next: after }
}

export const getReceipt = defineOperation({
  name: 'receipt.get',
  summary: 'One receipt, with the injected text.',
  access: 'read',
  input: z.strictObject({ ...scopeFields, id: z.string().max(200) }),
  output: z.object({ receipt: wireReceiptDetail }),
  http: { method: 'GET', path: '/api/receipts/{id}' },
  cli: 'receipts',
  run: async (context, { id, ...input }) => {
    const receipt = await context.engine.conversations.receipts.get(
      resolveScope(context, input, 'read'),
      id,
    )
    if (receipt === null) throw new AppError('not_found', `Receipt ${id} not found.`, { id })
    return { receipt: toWireReceiptDetail(receipt) }
  },
})
