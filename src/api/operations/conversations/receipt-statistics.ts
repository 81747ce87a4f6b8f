/** Usage statistics from receipts, by day and model. */
import { z } from 'zod'
import type { Receipt } from '../../../conversations/receipts/receipt.ts'
import { AppError } from '../../../lib/errors.ts'
import { timeField } from '../memory-schema.ts'
import { defineOperation } from '../operation.ts'
import { resolveScope, scopeFields } from '../scope-fields.ts'

const READ_AT_ONCE = 1_000
/** Older receipts are omitted, and the response says so. */
const READ_MAX = 20_000

const count = z.object({
  requests: z.int(),
  withMemories: z.int().describe('Requests with context.'),
  failed: z.int().describe('Requests that failed at the provider.'),
  learned: z.int().describe('Memories learned from them.'),
  input: z.int().describe('Tokens as counted by the provider, including the context block.'),
  output: z.int(),
  cached: z.int(),
  memory: z.int().describe('Tokens added by context blocks.'),
})
type Count = z.output<typeof count>
const NOTHING: Count = {
  requests: 0,
  withMemories: 0,
  failed: 0,
  learned: 0,
  input: 0,
  output: 0,
  cached: 0,
  memory: 0,
}

export const getReceiptStatistics = defineOperation({
  name: 'receipt.stats',
  summary: 'Usage statistics from receipts, by day and model.',
  access: 'read',
  input: z.strictObject({
    ...scopeFields,
    since: timeField.optional().describe('Only requests since this time. Default: all receipts.'),
    timeZone: z
      .string()
      .max(100)
      .default('UTC')
      .describe('Time zone of the days, such as Europe/Lisbon.'),
  }),
  output: z.object({
    total: count,
    days: z
      .array(count.extend({ day: z.string().describe('As 2026-03-31.'), model: z.string() }))
      .describe('Oldest first. Days without requests are omitted.'),
    skipped: z.record(z.string(), z.int()).describe('Requests without context, by reason.'),
    isComplete: z.boolean().describe('False when there were too many receipts to count.'),
  }),
  http: { method: 'GET', path: '/api/receipts/stats' },
  run: async (context, { since, timeZone, ...input }) => {
    const dayOf = dayFormatter(timeZone)
    const { conversations } = context.engine
    const scope = resolveScope(context, input, 'read')
    const from = since ?? Number.NEGATIVE_INFINITY
    const found: Receipt[] = []
    let after: string | null = null
    let isOver = false
    do {
      const page: Awaited<ReturnType<typeof conversations.receipts.list>> =
        await conversations.receipts.list(scope, {
          limit: READ_AT_ONCE,
          ...(after === null ? {} : { after }),
        })
      const recent = page.rows.filter(({ at }) => at >= from)
      found.push(...recent)
      after = page.next
      isOver = after === null || recent.length < page.rows.length
    } while (!isOver && found.length < READ_MAX)
    return { ...countReceipts(found, dayOf), isComplete: isOver }
  },
})

/** Days in chronological order; the models of a day by name. */
export function countReceipts(receipts: readonly Receipt[], dayOf: (at: number) => string) {
  const cells = new Map<string, Count & { day: string; model: string }>()
  const skipped: Record<string, number> = {}
  let total = NOTHING
  for (const receipt of receipts) {
    const own = countOf(receipt)
    const day = dayOf(receipt.at)
    const { model } = receipt
    const name = JSON.stringify([day, model])
    cells.set(name, { ...sum(cells.get(name) ?? NOTHING, own), day, model })
    total = sum(total, own)
    if (receipt.skipped !== null) skipped[receipt.skipped] = (skipped[receipt.skipped] ?? 0) + 1
  }
  const days = [...cells.values()].sort(
    (a, b) => compare(a.day, b.day) || compare(a.model, b.model),
  )
  return { total, days, skipped }
}

function countOf({ status, injected, extracted, usage }: Receipt): Count {
  return {
    requests: 1,
    withMemories: injected === null ? 0 : 1,
    failed: status === null || status >= 400 ? 1 : 0,
    learned: extracted.length,
    input: usage?.input ?? 0,
    output: usage?.output ?? 0,
    cached: usage?.cached ?? 0,
    memory: injected?.tokens ?? 0,
  }
}

function sum(a: Count, b: Count): Count {
  return {
    requests: a.requests + b.requests,
    withMemories: a.withMemories + b.withMemories,
    failed: a.failed + b.failed,
    learned: a.learned + b.learned,
    input: a.input + b.input,
    output: a.output + b.output,
    cached: a.cached + b.cached,
    memory: a.memory + b.memory,
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

export function dayFormatter(timeZone: string): (at: number) => string {
  try {
    const format = new Intl.DateTimeFormat('en', {
      ...{ timeZone, year: 'numeric', month: '2-digit', day: '2-digit' },
    })
    return (at) => {
      const parts = Object.fromEntries(
        format.formatToParts(at).map((part) => [part.type, part.value]),
      )
      return `${parts.year}-${parts.month}-${parts.day}`
    }
  } catch (error) {
    throw new AppError(
      'invalid_input',
      '`timeZone` must be an IANA time zone such as Europe/Lisbon.',
      { field: 'timeZone' },
      error,
    )
  }
}
