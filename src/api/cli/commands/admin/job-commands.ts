import { cancelJob, retryJob } from '../../../operations/admin/job-operations.ts'
import { defineCommand } from '../../command.ts'
import { parseAction, requireId } from '../../input/option-values.ts'
import { formatTime } from '../../input/time-format.ts'
import { JOB_ACTIONS, JOB_OPTIONS, listed } from '../learning/distillation-commands.ts'

export const jobsCommand = defineCommand({
  name: 'jobs',
  group: 'Administration',
  summary: 'List, retry or cancel background jobs.',
  details:
    'Servers run the jobs. With full access, the list covers all owners unless one is ' +
    'named. A job that failed too often is `dead` until it is retried. `signals` lists ' +
    'exchanges that could not be learned from.',
  arguments: [
    { name: 'action', help: `One of ${JOB_ACTIONS.join(', ')}. Default: list.` },
    { name: 'id', help: 'The job to retry or cancel.' },
  ],
  options: JOB_OPTIONS,
  examples: ['recollect jobs --status dead', 'recollect jobs retry job_distill_4f1d…'],
  async run(call) {
    const [word, id] = call.positionals
    const action = parseAction('jobs', word, JOB_ACTIONS)
    if (action === 'list') return listed(call)
    const operation = action === 'retry' ? retryJob : cancelJob
    const output = await call.perform(operation, { id: requireId(call, 'jobs', action, id) })
    const { status, dueAt } = output.job
    const when = dueAt === null ? '' : `, due ${formatTime(Date.parse(dueAt))}`
    return { json: output, text: `${output.job.id} is ${status}${when}.` }
  },
})
