/** Background jobs as programs control them. Only a process that calls `start` or `runDue` runs any. */

import type { OwnerId } from '../domain/ids.ts'
import { parseScope } from '../domain/scope.ts'
import type { EndedJob, Job, JobQuery, Jobs } from '../jobs/jobs.ts'
import type { ModelCallReport } from '../models/guarded-models.ts'
import type { Page } from '../storage/store.ts'

/** Called for background work. The listeners must not throw. */
export type BackgroundListeners = {
  readonly onJobEnded?: (ended: EndedJob) => void
  readonly onModelCall?: (call: ModelCallReport) => void
}

export interface BackgroundJobs {
  /**
   * Jobs of all owners, or of one; `owner: null` lists those of no owner.
   *
   * @example
   * const page = await engine.jobs.list({ owner: 'ada', statuses: ['waiting'] })
   */
  list(query?: Omit<JobQuery, 'owner'> & { readonly owner?: string | null }): Promise<Page<Job>>
  /**
   * A job by its id; null when there is none.
   *
   * @example
   * const job = await engine.jobs.get('job_01jf8t3z9k')
   */
  get(id: string): Promise<Job | null>
  /**
   * Makes a job due now, with all of its attempts.
   *
   * @example
   * await engine.jobs.retry('job_01jf8t3z9k')
   */
  retry(id: string): Promise<Job>
  /**
   * Stops a job if it is running. Of a recurring job, only this run is canceled.
   *
   * @example
   * await engine.jobs.cancel('job_01jf8t3z9k')
   */
  cancel(id: string): Promise<Job>
  /**
   * Runs everything that is due and returns how many jobs that was.
   *
   * @example
   * const count = await engine.jobs.runDue()
   */
  runDue(): Promise<number>
  /**
   * Runs jobs in the background from now on, those that other processes left behind included.
   *
   * @example
   * await engine.jobs.start({ onJobEnded: ({ kind, outcome }) => console.log(kind, outcome) })
   */
  start(listeners?: BackgroundListeners): Promise<void>
  /**
   * Starts no more jobs and lets running ones finish within `graceMs`; after that they are run again later.
   *
   * @example
   * await engine.jobs.stop(10_000)
   */
  stop(graceMs?: number): Promise<void>
}

export type BackgroundJobsDependencies = {
  readonly jobs: Jobs
  readonly scheduleMaintenance: () => Promise<void>
  readonly setListeners: (listeners: BackgroundListeners) => void
}

export function createBackgroundJobs({
  jobs,
  scheduleMaintenance,
  setListeners,
}: BackgroundJobsDependencies): BackgroundJobs {
  return {
    list: async ({ owner, ...query } = {}) =>
      jobs.list({ ...query, ...(owner === undefined ? {} : { owner: parseOwner(owner) }) }),
    get: (id) => jobs.get(id),
    retry: (id) => jobs.retry(id),
    cancel: (id) => jobs.cancel(id),
    runDue: () => jobs.runDue(),
    start: async (listeners = {}) => {
      setListeners(listeners)
      jobs.start()
      await scheduleMaintenance()
    },
    stop: (graceMs) => jobs.stop(graceMs),
  }
}

function parseOwner(owner: string | null): OwnerId | null {
  return owner === null ? null : parseScope({ owner }).owner
}
