/** Operations on the life of memories: what was said is distilled, memories are consolidated, doubts are settled. */
import { z } from 'zod'
import { NAME_CHARACTERS_MAX, TURN_CHARACTERS_MAX } from '../../../domain/limits.ts'
import type { ScopeInput } from '../../../domain/scope.ts'
import {
  type StoredConsolidationReport,
  UNDO_STATES,
} from '../../../learning/consolidation/report.ts'
import { INGESTED_EXCHANGES_MAX } from '../../../learning/distillation/conversation-ingest.ts'
import type { Distillation } from '../../../learning/distillation/outcome.ts'
import { AppError } from '../../../lib/errors.ts'
import { memoryIdField } from '../memories/memory-operations.ts'
import { changesSchema, isoTime, timeField } from '../memory-schema.ts'
import { defineOperation, type OperationContext } from '../operation.ts'
import { resolveScope, scopeFields } from '../scope-fields.ts'
import type { WireReport } from './consolidation-operations.ts'

const name = z.string().min(1).max(NAME_CHARACTERS_MAX)
const { owner, apiKeyId, user } = scopeFields

const facts = z
  .object({
    created: z.int(),
    updated: z.int(),
    reinforced: z.int(),
    superseded: z.int(),
    conflicts: z.int(),
    suspect: z.int().describe('Of all of these, those that wait for review.'),
    refused: z.int().describe('Not kept, because they were forgotten.'),
  })
  .describe('What became of the facts that were found.')

const distilled = {
  change: z.string().nullable().describe('What undo takes.'),
  changes: changesSchema,
  facts,
  identity: z.int().describe('How many statements were added to who the person is.'),
  pending: z.int().describe('How many exchanges of the session still wait.'),
}
const outcome = z
  .string()
  .describe(
    'What became of it: distilled, no_signals, skipped:…, empty:…, dead_letter:n or error:….',
  )

function toDistilled({ change, changes: all, facts: counts, identity, pending }: Distillation) {
  return { change, changes: [...all], facts: { ...counts }, identity, pending }
}

export const ingestConversation = defineOperation({
  name: 'memory.ingest',
  summary: 'Keeps a whole conversation and distils it. Sent again, it changes nothing.',
  access: 'write',
  isIdempotent: true,
  input: z.strictObject({
    agent_id: name.optional().describe('Whose memories; default: the home of the key.'),
    user,
    conversation_id: name.describe('Its name, which is that of its session.'),
    turns: z
      .array(
        z.strictObject({
          user: z.string().max(TURN_CHARACTERS_MAX),
          assistant: z.string().max(TURN_CHARACTERS_MAX).nullable().optional(),
        }),
      )
      .max(INGESTED_EXCHANGES_MAX),
    session_date: timeField.optional().describe('When it took place; default: now.'),
    skip_extraction: z.boolean().default(false).describe('Only keeps what was said.'),
  }),
  output: z.object({
    status: z.literal('ok').describe('What was said is kept; `distillation` tells the rest.'),
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
    const told = await context.engine.learning.ingest(
      {
        owner: whose,
        user: person ?? null,
        conversation: input.conversation_id,
        turns: input.turns.map(({ user: said, assistant = null }) => ({ user: said, assistant })),
        ...(input.session_date === undefined ? {} : { sessionDate: input.session_date }),
        skipExtraction: input.skip_extraction,
      },
      { signal: context.signal },
    )
    return {
      status: 'ok' as const,
      turns_ingested: told.turns,
      distillation: told.outcome,
      episode_id: told.episode,
      ...toDistilled(told),
    }
  },
})

export const flushSession = defineOperation({
  name: 'session.flush',
  summary: 'Distils a session now, for agents that are about to shorten their context.',
  access: 'write',
  isIdempotent: true,
  input: z.strictObject({
    ...{ owner, apiKeyId, user },
    id: name.optional().describe('Default: the latest.'),
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
    const told = await context.engine.learning.distill(scope, { signal: context.signal })
    const isEmpty = told.outcome === 'no_signals' && told.episode === null
    if (
      isEmpty &&
      (await context.engine.learning.signals.list(scope, { limit: 1 })).rows.length === 0
    ) {
      throw new AppError('not_found', 'Nothing was said in such a session here.', {
        id: id ?? null,
      })
    }
    return { outcome: told.outcome, episode: told.episode, ...toDistilled(told) }
  },
})

async function latestSession({ engine }: OperationContext, scope: ScopeInput): Promise<ScopeInput> {
  const [latest] = (await engine.conversations.sessions.list(scope, { limit: 1 })).rows
  if (latest !== undefined) return latest.place
  throw new AppError('not_found', 'Nothing was said here that could be learned from.')
}

export const report = z
  .object({
    id: z.string().nullable().describe('Null in a dry run, which is not kept.'),
    startedAt: z.string(),
    finishedAt: z.string(),
    isDryRun: z.boolean(),
    isHeldBack: z
      .boolean()
      .describe('Nothing was removed for good, because the clock may have leapt.'),
    memories: z.int(),
    decayed: z.int(),
    merged: z.int(),
    judged: z
      .int()
      .describe('Pairs that a model settled; in a dry run, those it would be asked about.'),
    promoted: z.int(),
    evicted: z.int(),
    retired: z.int(),
    prunedEpisodes: z.int(),
    prunedTurns: z.int(),
    trimmed: z.int(),
    emptied: z.int(),
    narrated: z.int().describe('Who people are, told anew.'),
    actions: z.array(
      z.object({
        kind: z.string(),
        memories: z.array(z.string()).describe('In a merge, the one that stays comes first.'),
        because: z.string(),
        change: z.string().nullable().describe('What undo takes.'),
        undo: z
          .enum(UNDO_STATES)
          .describe(
            '`done`: nothing of it is left to take back. `impossible`: it can’t be, or the memories are gone.',
          ),
      }),
    ),
    actionsTotal: z
      .int()
      .describe('How many there were: a run tells 1,000, one that is kept 200, a dry run all.'),
    durationsMs: z.record(z.string(), z.number()),
  })
  .meta({ id: 'ConsolidationReport' })

export function toReport(given: StoredConsolidationReport): WireReport {
  return {
    ...given,
    startedAt: isoTime(given.startedAt),
    finishedAt: isoTime(given.finishedAt),
    actions: given.actions.map((action) => ({ ...action, memories: [...action.memories] })),
    durationsMs: { ...given.durationsMs },
  }
}

export const reviewInput = z.strictObject({ ...scopeFields, id: memoryIdField })
