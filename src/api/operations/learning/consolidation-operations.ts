import { z } from 'zod'
import { defineOperation } from '../operation.ts'
import { resolveScope, scopeFields } from '../scope-fields.ts'
import { report, toReport } from './distillation-operations.ts'

const { owner, apiKeyId, user } = scopeFields

export type WireReport = z.output<typeof report>
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
    const done = await engine.consolidate(scope, { dryRun, signal })
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
    return { reports: (await context.engine.consolidations(scope)).map(toReport) }
  },
})
