/** Operations on ingestion and distillation. */
import { z } from 'zod'
import { NAME_CHARACTERS_MAX, TURN_CHARACTERS_MAX } from '../../../domain/limits.ts'
import type { ScopeInput } from '../../../domain/scope.ts'
import { INGESTED_EXCHANGES_MAX } from '../../../learning/distillation/conversation-ingest.ts'
import type { Distillation } from '../../../learning/distillation/outcome.ts'
import { AppError } from '../../../lib/errors.ts'
import { changesSchema, timeField } from '../memory-schema.ts'
import { defineOperation, type OperationContext } from '../operation.ts'
import { resolveScope, scopeFields } from '../scope-fields.ts'

const name = z.string().min(1).max(NAME_CHARACTERS_MAX)
const { owner, apiKeyId, user } = scopeFields

const facts = z
  .object({
    created: z.int(),
    updated: z.int(),
    reinforced: z.int(),
    superseded: z.int(),
    conflicts: z.int(),
    suspect: z.int().describe('Those waiting for review.'),
    ungrounded: z
      .int()
      .describe('Statements of the model that the transcript does not support; not trusted.'),
    rejected: z.int().describe('Not stored because they were forgotten before.'),
  })
  .describe('The outcomes of the extracted facts.')

const distilled = {
  change: z.string().nullable().describe('The change to pass to undo.'),
  changes: changesSchema,
  facts,
  identityStatements: z.int().describe('How many identity statements were added.'),
  pendingSignals: z.int().describe('How many signals of the session still wait for distillation.'),
}
const outcome = z
  .string()
  .describe('The outcome: distilled, no_signals, skipped:…, empty:…, dead_letter:n or error:….')

function toDistilled({ change, changes, facts, identity, pending }: Distillation) {
  const { refused: rejected, ...counts } = facts
  return {
    ...{ change, changes: [...changes], facts: { ...counts, rejected } },
    ...{ identityStatements: identity, pendingSignals: pending },
  }
}

export const ingestConversation = defineOperation({
  name: 'memory.ingest',
  summary: 'Stores a conversation and distills it. Idempotent.',
  access: 'write',
  isIdempotent: true,
  input: z.strictObject({
    agent_id: name.optional().describe("The owner. Default: the key's default owner."),
    user,
    conversation_id: name.describe('Its id, which becomes the session id.'),
    turns: z
      .array(
        z.strictObject({
          user: z.string().max(TURN_CHARACTERS_MAX),
          assistant: z.string().max(TURN_CHARACTERS_MAX).nullable().optional(),
        }),
      )
      .max(INGESTED_EXCHANGES_MAX),
    session_date: timeField.optional().describe('When it took place. Default: now.'),
    skip_extraction: z.boolean().default(false).describe('Stores the turns without distillation.'),
  }),
  output: z.object({
    status: z.literal('ok').describe('The turns are stored; `distillation` reports the rest.'),
    turns_ingested: z.int(),
    distillation: outcome,
    episode_id: z.string().nullable(),
    ...distilled,
  }),
  http: { method: 'POST', path: '/memory/ingest' },
  cli: 'ingest',
  targets: ({ episode_id }) => (episode_id === null ? ['conversation'] : [episode_id]),
  run: async (context, input) => {
    const { owner: whose, user: person } = resolveScope(
      context,
      { owner: input.agent_id, user: input.user },
      'write',
    )
    const result = await context.engine.learning.ingest(
      {
        owner: whose,
        user: person ?? null,
        conversation: input.conversation_id,
        turns: input.turns.map(({ user: said, assistant = null }) => ({ user: said, assistant })),
        ...(input.session_date === undefined ? {} : { sessionDate: input.session_date }),
        skipExtraction: input.skip_extraction,
        isReported: context.isToolCall === true,
      },
      { signal: context.signal },
    )
    return {
      status: 'ok' as const,
      turns_ingested: result.turns,
      distillation: result.outcome,
      episode_id: result.episode,
      ...toDistilled(result),
    }
  },
})

export const flushSession = defineOperation({
  name: 'session.flush',
  summary: 'Distills a session now, for agents that are about to compact their context.',
  access: 'write',
  isIdempotent: true,
  input: z.strictObject({
    ...{ owner, apiKeyId, user },
    id: name.optional().describe('Default: the latest session.'),
  }),
  output: z.object({ outcome, episode: z.string().nullable(), ...distilled }),
  http: { method: 'POST', path: '/api/sessions/{id}/flush' },
  mcp: {
    tool: 'memory_flush',
    description: 'Learn from the conversation before your context is compacted.',
    fields: ['id', 'user'],
  },
  cli: 'flush',
  targets: ({ episode }) => (episode === null ? [] : [episode]),
  run: async (context, { id, ...input }) => {
    const scope =
      id === undefined
        ? await latestSession(context, resolveScope(context, input, 'write'))
        : resolveScope(context, { ...input, sessionId: id }, 'write')
    const result = await context.engine.learning.distill(scope, { signal: context.signal })
    const isEmpty = result.outcome === 'no_signals' && result.episode === null
    if (
      isEmpty &&
      (await context.engine.learning.signals.list(scope, { limit: 1 })).rows.length === 0
    ) {
      throw new AppError('not_found', 'Session not found: it has no turns.', {
        id: id ?? null,
      })
    }
    return { outcome: result.outcome, episode: result.episode, ...toDistilled(result) }
  },
})

async function latestSession({ engine }: OperationContext, scope: ScopeInput): Promise<ScopeInput> {
  const [latest] = (await engine.conversations.sessions.list(scope, { limit: 1 })).rows
  if (latest !== undefined) return latest.place
  throw new AppError('not_found', 'No session with learnable turns exists.')
}
