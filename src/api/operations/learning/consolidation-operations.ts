import { z } from 'zod'
import {
  CONSOLIDATION_ACTIONS,
  type StoredConsolidationReport,
  UNDO_STATES,
} from '../../../learning/consolidation/report.ts'
import { isoTime, toWireMemory, wireMemory } from '../memory-schema.ts'
import { defineOperation } from '../operation.ts'
import { resolveScope, scopeFields } from '../scope-fields.ts'

const { owner, apiKeyId, user } = scopeFields

export const forecastEvictions = defineOperation({
  name: 'memory.evictions',
  summary: 'Lists the memories that leave next if nobody uses them, soonest first, and why.',
  access: 'read',
  input: z.strictObject({ ...scopeFields, limit: z.int().min(1).max(200).default(50) }),
  output: z.object({
    evictions: z.array(
      z.object({
        memory: wireMemory,
        at: z.string().describe('From when it may leave.'),
        kind: z
          .enum(['evict', 'expire', 'end'])
          .describe(
            '`evict`: its salience fades; `expire`: it was not used for too long; `end`: its own date of expiry.',
          ),
      }),
    ),
  }),
  http: { method: 'GET', path: '/api/memory/evictions' },
  run: async (context, { limit, ...input }) => {
    const scope = resolveScope(context, input, 'read')
    const forecasts = await context.engine.learning.forecastEvictions(scope, { limit })
    return {
      evictions: forecasts.map(({ memory, at, kind }) => ({
        ...{ memory: toWireMemory(memory), at: isoTime(at), kind },
      })),
    }
  },
})

const report = z
  .object({
    id: z.string().nullable().describe('Null for a dry run, which is not stored.'),
    startedAt: z.string(),
    finishedAt: z.string(),
    isDryRun: z.boolean(),
    isPurgeSkipped: z
      .boolean()
      .describe('Whether permanent deletion was skipped, because the clock may have jumped.'),
    memories: z.int().describe('Active memories that were read.'),
    salienceDecayed: z.int().describe('Those that have lost at least half of their salience.'),
    merged: z.int(),
    adjudicated: z
      .int()
      .describe('Contradictions that a model resolved; in a dry run, those to resolve.'),
    promoted: z.int(),
    evicted: z.int().describe('Memories moved to the trash for their low salience.'),
    expired: z.int().describe('Memories moved to the trash because they were unused for too long.'),
    episodesDeleted: z.int().describe('Episodes moved to the trash for their age.'),
    turnsDeleted: z.int().describe('Turns past their retention.'),
    expiredEntriesDeleted: z.int().describe('Log entries past their retention.'),
    trashPurged: z.int().describe('Memories erased from the trash.'),
    narrativesWritten: z.int().describe('Identity narratives that were written or removed.'),
    actions: z.array(
      z.object({
        kind: z.enum(CONSOLIDATION_ACTIONS),
        memories: z.array(z.string()).describe('In a merge, the surviving memory comes first.'),
        reason: z.string(),
        change: z.string().nullable().describe('The change to pass to undo.'),
        undo: z
          .enum(UNDO_STATES)
          .describe(
            '`done`: nothing is left to undo. `impossible`: the action cannot be undone, or its memories no longer exist.',
          ),
      }),
    ),
    actionsTotal: z
      .int()
      .describe('The total: a run lists up to 1,000 actions, a stored report 200, a dry run all.'),
    durationsMs: z.record(z.string(), z.number()),
  })
  .meta({ id: 'ConsolidationReport' })

export type WireReport = z.output<typeof report>

function toReport(given: StoredConsolidationReport): WireReport {
  return {
    ...given,
    startedAt: isoTime(given.startedAt),
    finishedAt: isoTime(given.finishedAt),
    actions: given.actions.map((action) => ({ ...action, memories: [...action.memories] })),
    durationsMs: { ...given.durationsMs },
  }
}

export const consolidateMemories = defineOperation({
  name: 'memory.consolidate',
  summary:
    "Consolidates an owner's memories: merges, promotes, evicts and prunes. A dry run reports actions and reasons.",
  access: 'curate',
  isIdempotent: true,
  input: z.strictObject({ owner, apiKeyId, user, dryRun: z.boolean().default(false) }),
  output: z.object({ report }),
  http: { method: 'POST', path: '/api/consolidate' },
  cli: 'consolidate',
  targets: ({ report: { id } }) => (id === null ? [] : [id]),
  run: async (context, { dryRun, ...input }) => {
    const { session: _, ...scope } = resolveScope(context, input, 'curate')
    const { engine, signal } = context
    const done = await engine.learning.consolidate(scope, { dryRun, signal })
    const actions = done.actions.map((action) => ({
      ...action,
      undo: action.change === null ? ('impossible' as const) : ('possible' as const),
    }))
    return { report: toReport({ ...done, actions }) }
  },
})

export const listConsolidations = defineOperation({
  name: 'consolidation.list',
  summary: 'Lists consolidation reports, newest first.',
  access: 'read',
  input: z.strictObject({ owner, apiKeyId, user }),
  output: z.object({ reports: z.array(report) }),
  http: { method: 'GET', path: '/api/consolidate' },
  cli: 'consolidate',
  run: async (context, input) => {
    const { session: _, ...scope } = resolveScope(context, input, 'read')
    return { reports: (await context.engine.learning.listConsolidations(scope)).map(toReport) }
  },
})
