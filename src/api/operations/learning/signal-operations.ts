/** Operations on signals and the learning status. */
import { z } from 'zod'
import { SIGNAL_STATUSES, type Signal } from '../../../domain/signal.ts'
import type { LearningStatus } from '../../../learning/learning.ts'
import { AppError } from '../../../lib/errors.ts'
import { isoTime } from '../memory-schema.ts'
import { defineOperation } from '../operation.ts'
import { nextCursorField, pageFields } from '../page-fields.ts'
import { resolveScope, scopeFields } from '../scope-fields.ts'

const wireSignal = z
  .object({
    id: z.string(),
    user: z.string().nullable(),
    sessionId: z.string(),
    turns: z.array(z.string()),
    status: z.enum(SIGNAL_STATUSES),
    attempts: z.int(),
    error: z.string().nullable(),
    change: z.string().nullable(),
    createdAt: z.string(),
  })
  .meta({ id: 'Signal' })

export type WireSignal = z.output<typeof wireSignal>

function toWireSignal(signal: Signal): WireSignal {
  const { id, place, turns, status, attempts, error, change, createdAt } = signal
  return {
    ...{ id, status, attempts, error, change },
    user: place.user,
    sessionId: place.session ?? '',
    turns: [...turns],
    createdAt: isoTime(createdAt),
  }
}

export const listSignals = defineOperation({
  name: 'signal.list',
  summary: 'Lists signals: pending, processed and dead.',
  access: 'read',
  input: z.strictObject({
    ...scopeFields,
    status: z.enum(SIGNAL_STATUSES).optional(),
    ...pageFields,
  }),
  output: z.object({ signals: z.array(wireSignal), next: nextCursorField }),
  http: { method: 'GET', path: '/api/signals' },
  cli: 'signals',
  run: async (context, { status, limit, after, ...input }) => {
    const page = await context.engine.learning.signals.list(resolveScope(context, input, 'read'), {
      limit,
      ...(status === undefined ? {} : { status }),
      ...(after === undefined ? {} : { after }),
    })
    return { signals: page.rows.map(toWireSignal), next: page.next }
  },
})

export const getSignal = defineOperation({
  name: 'signal.get',
  summary: 'One signal.',
  access: 'read',
  input: z.strictObject({ ...scopeFields, id: z.string().min(1).max(100) }),
  output: z.object({ signal: wireSignal }),
  http: { method: 'GET', path: '/api/signals/{id}' },
  cli: 'signals',
  run: async (context, { id, ...input }) => ({
    signal: toWireSignal(
      await context.engine.learning.signals.get(resolveScope(context, input, 'read'), id),
    ),
  }),
})

const signalIds = z.array(z.string().max(100)).max(1_000)

export const forgetSignals = defineOperation({
  name: 'signal.forget',
  summary: 'Discards pending and dead signals. The turns stay; `retry` revives the signals.',
  access: 'curate',
  isIdempotent: true,
  input: z.strictObject({
    ...scopeFields,
    ids: signalIds.optional().describe('Default: all signals of the session.'),
  }),
  output: z.object({ signals: z.array(wireSignal).describe('The signals that were pending.') }),
  http: { method: 'POST', path: '/api/signals/forget' },
  cli: 'signals',
  targets: ({ signals }) => signals.map(({ id }) => id),
  run: async (context, { ids, ...input }) => {
    const scope = resolveScope(context, input, 'curate')
    if (ids === undefined && scope.session == null) {
      throw new AppError('invalid_input', '`ids` or `session` is required.', {
        field: 'ids',
      })
    }
    const forgotten = await context.engine.learning.signals.forget(
      scope,
      ids === undefined ? {} : { ids },
    )
    return { signals: forgotten.map(toWireSignal) }
  },
})

export const retrySignals = defineOperation({
  name: 'signal.retry',
  summary: 'Retries dead signals, and discarded ones that are named.',
  access: 'curate',
  isIdempotent: true,
  input: z.strictObject({
    ...scopeFields,
    ids: signalIds.optional().describe('Default: all dead signals.'),
  }),
  output: z.object({ signals: z.array(wireSignal).describe('Their current state.') }),
  http: { method: 'POST', path: '/api/signals/retry' },
  cli: 'signals',
  targets: ({ signals }) => signals.map(({ id }) => id),
  run: async (context, { ids, ...input }) => {
    const scope = resolveScope(context, input, 'curate')
    const revived = await context.engine.learning.signals.retry(
      scope,
      ids === undefined ? {} : { ids },
    )
    return { signals: revived.map(toWireSignal) }
  },
})

/** The extraction model and its token usage of today. */
export const learningFields = {
  model: z
    .string()
    .nullable()
    .describe('The extraction model. Null when none is configured: signals wait for one.'),
  pausedUntil: z
    .string()
    .nullable()
    .describe('The circuit of the model is open until then, because it failed.'),
  usageToday: z
    .object({
      day: z.string(),
      calls: z.int(),
      input: z.int(),
      output: z.int(),
      budget: z.int().describe('Tokens per day; 0: unlimited.'),
    })
    .nullable()
    .describe('Model usage of today; null without models.'),
}

export type WireLearning = z.output<z.ZodObject<typeof learningFields>>

export function toWireLearning({ model, pausedUntil, usageToday }: LearningStatus): WireLearning {
  if (usageToday === null) return { model, pausedUntil: isoTime(pausedUntil), usageToday }
  const { day, calls, input, output, budget } = usageToday
  return {
    ...{ model, pausedUntil: isoTime(pausedUntil) },
    usageToday: { day, calls, input, output, budget },
  }
}

export const learningStatus = defineOperation({
  name: 'learning.status',
  summary: 'The extraction model, its token usage of today, and the number of signals by status.',
  access: 'read',
  input: z.strictObject({ ...scopeFields }),
  output: z.object({
    ...learningFields,
    signals: z.object({
      pending: z.int(),
      processed: z.int(),
      dead: z.int(),
      forgotten: z.int(),
    }),
  }),
  http: { method: 'GET', path: '/api/learning/status' },
  cli: 'status',
  run: async (context, input) => {
    const status = await context.engine.learning.signals.report(
      resolveScope(context, input, 'read'),
    )
    return { ...toWireLearning(status), signals: { ...status.signals } }
  },
})
