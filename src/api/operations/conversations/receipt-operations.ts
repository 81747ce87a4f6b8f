/** Operations on receipts: what memory did for each request to a model. */
import { z } from 'zod'
import type { Conversations } from '../../../conversations/conversation-service.ts'
import { CONTEXT_SKIP_REASONS, type SkipReason } from '../../../conversations/conversations.ts'
import { GATE_SECTIONS } from '../../../conversations/gate/types.ts'
import {
  REDACTION_REASONS,
  type Receipt,
  type ReceiptDetail,
} from '../../../conversations/receipts/receipt.ts'
import { API_FORMATS, BLOCK_PLACEMENTS } from '../../../domain/model-call.ts'
import type { ScopeInput } from '../../../domain/scope.ts'
import { SETTINGS } from '../../../domain/settings/settings.ts'
import { AppError } from '../../../lib/errors.ts'
import type { Page } from '../../../storage/store.ts'
import { isoTime } from '../memory-schema.ts'
import { defineOperation } from '../operation.ts'
import { resolveScope, scopeFields } from '../scope-fields.ts'

const ids = z.array(z.string())

export const SKIP_REASONS = Object.keys(CONTEXT_SKIP_REASONS) as [SkipReason, ...SkipReason[]] // the table's own keys
const gateMode = z.enum(SETTINGS['gateway.gateMode'].choices)

export const wireGate = z
  .object({
    mode: gateMode.describe('The setting relevanceGateMode.'),
    by: gateMode.describe('What decided: rules do where a model can’t be asked.'),
    section: z.enum(['all', ...GATE_SECTIONS]),
    because: z.string(),
  })
  .nullable()
  .describe('What kind of memories the message was found to need; null when that was not asked.')

const wirePiece = z.object({
  kind: z.enum(['memory', 'turn']),
  id: z.string(),
  version: z.int().describe('The version that the block shows.'),
})

export const wireReceipt = z
  .object({
    id: z.string(),
    owner: z.string(),
    user: z.string().nullable(),
    sessionId: z.string().describe('Empty when it belongs to none.'),
    at: z.string().describe('ISO 8601'),
    requestId: z.string(),
    format: z.enum(API_FORMATS),
    model: z.string(),
    provider: z.string(),
    status: z.int().nullable().describe('What the provider answered with; null for nothing.'),
    skipped: z.string().nullable().describe('Why no memories were added; null when some were.'),
    error: z.string().nullable().describe('The code of the error that memory met.'),
    degraded: z
      .array(z.string())
      .describe('Parts of recall that failed, so that it found less than it could have.'),
    gate: wireGate,
    recalled: z.array(
      z.object({
        memory: z.string(),
        score: z.number(),
        coverage: z.number(),
        trail: z.array(z.object({ stage: z.string(), score: z.number() })),
      }),
    ),
    identity: ids.describe('Of those that were added: those that are always given.'),
    quoted: ids.describe('Turns of earlier conversations that were added word for word.'),
    injected: z
      .object({ placement: z.enum(BLOCK_PLACEMENTS), memories: ids, tokens: z.int() })
      .nullable(),
    shadow: z
      .object({ memories: ids, tokens: z.int() })
      .nullable()
      .describe('What would have been added, in shadow mode.'),
    pieces: z
      .array(wirePiece)
      .describe('The lines of the block in their order; empty for receipts of earlier versions.'),
    turns: ids.describe('What of the conversation was recorded.'),
    extracted: ids.describe('The memories that were learned from it.'),
    toolCalls: z.array(z.string()).describe('Calls of memory tools that were answered.'),
    toolMemories: z
      .object({ found: ids, saved: ids, updated: ids, forgotten: ids })
      .describe('The memories that these calls came by.'),
    answer: z
      .enum(['whole', 'cut', 'broken', 'unread'])
      .nullable()
      .describe(
        'How the answer ended: `cut` when it became too long, `unread` when it was packed in a way that can’t be read here.',
      ),
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
    pieces: z
      .array(
        wirePiece.extend({
          line: z.string().nullable().describe('As the model read it; null when it is redacted.'),
          redaction: z
            .enum(REDACTION_REASONS)
            .nullable()
            .describe(
              'Why the line is not shown: its memory or turn was erased (`erased`), its memory is in the trash (`forgotten`), or it was not stored (`not-kept`).',
            ),
        }),
      )
      .describe('The lines of the block in their order; empty for receipts of earlier versions.'),
    block: z
      .string()
      .nullable()
      .describe(
        'The injected text, byte for byte, with a placeholder such as `- [erased]` for each redacted line; in shadow mode the text that would have been injected. Null when there was none.',
      ),
  })
  .meta({ id: 'ReceiptDetail' })

export type WireReceiptDetail = z.output<typeof wireReceiptDetail>

function toWireReceipt({ frame: _, pieces, ...receipt }: Receipt): WireReceipt {
  return {
    ...commonFields(receipt),
    pieces: pieces.map(({ kind, id, version }) => ({ kind, id, version })),
  }
}

function toWireReceiptDetail({ pieces, block, ...receipt }: ReceiptDetail): WireReceiptDetail {
  return {
    ...commonFields(receipt),
    pieces: pieces.map(({ owner: _, ...piece }) => piece),
    block,
  }
}

function commonFields({ place, at, ...receipt }: Omit<Receipt, 'pieces' | 'frame'>) {
  const { degraded, recalled, injected, shadow, turns, extracted, toolCalls } = receipt
  const { identity, quoted, toolMemories } = receipt
  return {
    ...receipt,
    owner: place.owner,
    user: place.user,
    sessionId: place.session ?? '',
    at: isoTime(at),
    degraded: [...degraded],
    recalled: recalled.map((each) => ({ ...each, trail: [...each.trail] })),
    injected: injected && { ...injected, memories: [...injected.memories] },
    shadow: shadow && { ...shadow, memories: [...shadow.memories] },
    identity: [...identity],
    quoted: [...quoted],
    turns: [...turns],
    extracted: [...extracted],
    toolCalls: [...toolCalls],
    toolMemories: {
      found: [...toolMemories.found],
      saved: [...toolMemories.saved],
      updated: [...toolMemories.updated],
      forgotten: [...toolMemories.forgotten],
    },
  }
}

export const listReceipts = defineOperation({
  name: 'receipt.list',
  summary: 'What memory did for each request to a model, newest first.',
  access: 'read',
  input: z.strictObject({
    ...scopeFields,
    model: z.string().max(200).optional().describe('Only requests that named this model.'),
    memory: z.string().max(200).optional().describe('Only those that were given this memory.'),
    skipped: z
      .enum(['none', ...SKIP_REASONS])
      .optional()
      .describe('Only those without memories for this reason; `none`: those with memories.'),
    limit: z.int().min(1).max(200).default(50),
    after: z.string().max(200).optional().describe('What `next` of the page before said.'),
  }),
  output: z.object({
    receipts: z.array(wireReceipt),
    next: z.string().nullable().describe('Where to go on; a page before it may be short.'),
  }),
  http: { method: 'GET', path: '/api/receipts' },
  cli: 'receipts',
  run: async (context, { limit, after, model, memory, skipped, ...input }) => {
    const { rows, next } = await matchingReceipts(
      context.engine.conversations,
      resolveScope(context, input, 'read'),
      ({ model: named, injected, skipped: reason }) =>
        (model === undefined || model === named) &&
        (memory === undefined || injected?.memories.some((id) => id === memory) === true) &&
        (skipped === undefined || skipped === (reason ?? 'none')),
      { limit, ...(after === undefined ? {} : { after }) },
    )
    return { receipts: rows.map(toWireReceipt), next }
  },
})

/** How many are read at once, and for one answer, where most of them may not match. */
const READ_AT_ONCE = 200
const READ_MAX = 2_000

async function matchingReceipts(
  conversations: Conversations,
  scope: ScopeInput,
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
      if (matches(receipt)) rows.push(receipt)
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
  summary: 'What memory did for one request, with the text that it injected.',
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
    if (receipt === null) throw new AppError('not_found', `There is no receipt ${id} here.`, { id })
    return { receipt: toWireReceiptDetail(receipt) }
  },
})
