import { z } from 'zod'
import { JOB_STATUSES } from '../../../jobs/job.ts'
import type { Job } from '../../../jobs/jobs.ts'
import { AppError } from '../../../lib/errors.ts'
import { canReachOwner, hasAccess } from '../authorization.ts'
import { isoTime } from '../memory-schema.ts'
import { defineOperation, type OperationContext, ownerInInput } from '../operation.ts'
import { nextCursorField, pageFields } from '../page-fields.ts'
import { resolveOwner, scopeFields } from '../scope-fields.ts'

export type WireJob = z.output<typeof wireJob>

const wireJob = z
  .object({
    id: z.string(),
    kind: z.string(),
    owner: z.string().nullable(),
    input: z.record(z.string(), z.json()),
    status: z.enum(JOB_STATUSES),
    dueAt: z.string().nullable(),
    statusChangedAt: z.string(),
    attempts: z.int(),
    everyMs: z.int().nullable(),
    lastError: z.string().nullable(),
    outcome: z.record(z.string(), z.json()).nullable(),
  })
  .meta({ id: 'Job' })

function toWireJob(job: Job): WireJob {
  const { id, kind, owner, input, status, dueAt, statusChangedAt } = job
  const { attempts, everyMs, lastError, outcome } = job
  return {
    ...{ id, kind, owner, status, attempts, everyMs, lastError },
    input: { ...input } as WireJob['input'], // plain data
    dueAt: dueAt === null ? null : isoTime(dueAt),
    statusChangedAt: isoTime(statusChangedAt),
    outcome: outcome && ({ ...outcome } as WireJob['outcome']), // plain data
  }
}

const jobInput = z.strictObject({
  id: z.string().min(1).max(200).describe('The id of a job.'),
})

/** Jobs of other owners are not found. */
async function requireJob({ engine, caller }: OperationContext, id: string): Promise<void> {
  const job = await engine.jobs.get(id)
  const isReached =
    job !== null &&
    (job.owner === null ? hasAccess(caller, 'manage') : canReachOwner(caller, job.owner, 'curate'))
  if (!isReached) throw new AppError('not_found', 'Job not found.', { id })
}

export const listJobs = defineOperation({
  name: 'job.list',
  summary: 'Lists background jobs: waiting, running, finished in the last hour, or failed.',
  access: 'read',
  input: z.strictObject({
    owner: scopeFields.owner.describe(
      "The owner. Default: the key's default owner; for superadmins all owners.",
    ),
    apiKeyId: scopeFields.apiKeyId,
    kind: z.string().max(20).optional(),
    status: z.enum(JOB_STATUSES).optional(),
    ...pageFields,
  }),
  output: z.object({ jobs: z.array(wireJob), next: nextCursorField }),
  http: { method: 'GET', path: '/api/jobs' },
  cli: 'jobs',
  run: async (context, { kind, status, limit, after, ...input }) => {
    const isAll = ownerInInput(input) === undefined && hasAccess(context.caller, 'manage')
    const page = await context.engine.jobs.list({
      limit,
      ...(isAll ? {} : { owner: resolveOwner(context, input, 'read') }),
      ...(kind === undefined ? {} : { kind }),
      ...(status === undefined ? {} : { statuses: [status] }),
      ...(after === undefined ? {} : { after }),
    })
    return { jobs: page.rows.map(toWireJob), next: page.next }
  },
})

export const retryJob = defineOperation({
  name: 'job.retry',
  summary: 'Runs a job now with its attempts reset.',
  access: 'curate',
  isIdempotent: true,
  input: jobInput,
  output: z.object({ job: wireJob }),
  http: { method: 'POST', path: '/api/jobs/{id}/retry' },
  cli: 'jobs',
  targets: ({ job }) => [job.id],
  run: async (context, { id }) => {
    await requireJob(context, id)
    return { job: toWireJob(await context.engine.jobs.retry(id)) }
  },
})

export const cancelJob = defineOperation({
  name: 'job.cancel',
  summary: 'Cancels a job, also while it is running; of a recurring job only this run.',
  access: 'curate',
  isIdempotent: true,
  input: jobInput,
  output: z.object({ job: wireJob }),
  http: { method: 'POST', path: '/api/jobs/{id}/cancel' },
  cli: 'jobs',
  targets: ({ job }) => [job.id],
  run: async (context, { id }) => {
    await requireJob(context, id)
    return { job: toWireJob(await context.engine.jobs.cancel(id)) }
  },
})
