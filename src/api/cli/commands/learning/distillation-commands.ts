/** Commands for distillation, consolidation and their jobs. */
import type { z } from 'zod'
import { JOB_STATUSES } from '../../../../jobs/job.ts'
import { listJobs, type WireJob } from '../../../operations/admin/job-operations.ts'
import {
  consolidateMemories,
  listConsolidations,
  type WireReport,
} from '../../../operations/learning/consolidation-operations.ts'
import { flushSession } from '../../../operations/learning/distillation-operations.ts'
import {
  approveMemory,
  listConflicts,
  listReview,
  reconcileMemory,
  rejectMemory,
  resolveConflict,
  type WireConflict,
} from '../../../operations/learning/review-operations.ts'
import {
  type CommandResult,
  defineCommand,
  type Invocation,
  requirePositional,
  UsageError,
} from '../../command.ts'
import { PAGE_OPTIONS, parseChoice, parsePage } from '../../input/option-values.ts'
import { formatTime } from '../../input/time-format.ts'
import { renderMemoryList } from '../../output/memory-rendering.ts'
import {
  formatCount,
  formatMemoryCount,
  formatNumber,
  renderFields,
  renderTable,
  toTerminalLine,
} from '../../output/text-rendering.ts'

export const flushCommand = defineCommand({
  name: 'flush',
  group: 'Write',
  summary: 'Distill a session into memories now.',
  details:
    'A running server distills sessions after a period of inactivity. Distillation needs ' +
    'a model: set `learning.extractionModel` to a model of a gateway provider.',
  arguments: [{ name: 'session', help: 'The session to distill.', isRequired: true }],
  options: {},
  examples: ['recollect flush ses_4f1d…'],
  async run(call) {
    const output = await call.perform(flushSession, { id: requirePositional(call) })
    return { json: output, text: renderFields(call.style, distillationFields(call, output)) }
  },
})

type Distilled = Pick<
  z.output<(typeof flushSession)['output']>,
  'outcome' | 'episode' | 'facts' | 'pendingSignals'
>

export function distillationFields(
  call: Invocation,
  { outcome, episode, facts, pendingSignals }: Distilled,
): readonly (readonly [string, string])[] {
  const made = facts.created + facts.updated + facts.superseded + facts.conflicts
  return [
    ['outcome', toTerminalLine(outcome)],
    ['episode', episode ?? '(none)'],
    ['facts', `${made} new or changed, ${facts.reinforced} known before`],
    ...(facts.suspect === 0
      ? []
      : [['review', `${facts.suspect}: ${call.suggestCommand('review')}`] as const]),
    ...(pendingSignals === 0 ? [] : [['pending', formatCount(pendingSignals, 'signal')] as const]),
  ]
}

export const consolidateCommand = defineCommand({
  name: 'consolidate',
  group: 'Administration',
  summary: 'Merge, promote, evict and prune the memories of an owner now.',
  details:
    '`undo` with the reported change reverts it; evicted memories move to the trash. A ' +
    'running server consolidates periodically.',
  arguments: [],
  options: {
    'dry-run': { kind: 'flag', help: 'Only report what would change, and why.' },
    reports: { kind: 'flag', help: 'Show the reports of past runs, newest first.' },
  },
  examples: [
    'recollect consolidate --dry-run',
    'recollect consolidate --owner ada',
    'recollect consolidate --reports',
  ],
  async run(call) {
    const { 'dry-run': dryRun, reports } = call.options
    if (reports && dryRun) throw new UsageError('Give one of --reports and --dry-run, not both.')
    if (reports) return reported(call)
    const output = await call.perform(consolidateMemories, { dryRun })
    return { json: output, text: reportText(call, output.report) }
  },
})

async function reported(call: Invocation): Promise<CommandResult> {
  const output = await call.perform(listConsolidations, {})
  const texts = output.reports.map((report) => {
    const about = `${formatTime(Date.parse(report.startedAt))}  ${report.id ?? ''}`
    return `${call.style.bold(about.trimEnd())}\n${reportText(call, report)}`
  })
  return { json: output, text: texts.join('\n\n') || 'No consolidation has run yet.' }
}

function reportText(call: Invocation, report: WireReport): string {
  const { actions, actionsTotal } = report
  const lines = [
    renderFields(call.style, [
      ['looked at', formatMemoryCount(report.memories)],
      ['merged', String(report.merged)],
      ...(report.adjudicated === 0 ? [] : [adjudicatedField(report)]),
      ['promoted', String(report.promoted)],
      ['evicted', String(report.evicted + report.expired)],
      [
        'pruned',
        `${formatCount(report.episodesDeleted, 'episode')}, ${formatCount(report.turnsDeleted, 'turn')}`,
      ],
      [
        'removed',
        `${formatMemoryCount(report.trashPurged)} from the trash, ${formatCount(report.expiredEntriesDeleted, 'expired entry', 'expired entries')}`,
      ],
      ...(report.narrativesWritten === 0
        ? []
        : [['narratives', formatNumber(report.narrativesWritten)] as const]),
    ]),
    ...actions.map(
      ({ kind, memories: ids, reason, change }) =>
        `${kind}: ${toTerminalLine(reason)}${ids.length === 0 ? '' : ` (${ids.join(', ')})`}${change === null ? '' : ` ${change}`}`,
    ),
  ]
  if (actionsTotal > actions.length) {
    lines.push(`… and ${formatCount(actionsTotal - actions.length, 'more action')}, left out here.`)
  }
  if (report.isDryRun) lines.push('Nothing was changed.')
  return lines.join('\n')
}

function adjudicatedField({ adjudicated, isDryRun }: WireReport): readonly [string, string] {
  const pairs = formatCount(adjudicated, 'pair')
  return ['adjudicated', isDryRun ? `a model would decide ${pairs}` : `${pairs} by a model`]
}

export const JOB_ACTIONS = ['list', 'retry', 'cancel'] as const

export const JOB_OPTIONS = {
  kind: { kind: 'value', value: 'kind', help: 'Filter by kind: distill, consolidate, upkeep.' },
  status: { kind: 'value', value: 'status', help: `Only these: ${JOB_STATUSES.join(', ')}.` },
  ...PAGE_OPTIONS,
} as const

type JobsCall = Invocation<typeof JOB_OPTIONS>

export async function listed(call: JobsCall): Promise<CommandResult> {
  const { kind, status } = call.options
  const { owner } = call.getEnvironment().explicitScope
  const output = await call.perform(listJobs, {
    ...(owner === undefined ? {} : { owner }),
    ...(kind === undefined ? {} : { kind }),
    ...(status === undefined ? {} : { status: parseChoice('status', status, JOB_STATUSES) }),
    ...parsePage(call.options),
  })
  if (output.jobs.length === 0) return { json: output, text: 'There is no background work.' }
  const head = ['ID', 'STATUS', 'DUE', 'TRIED', 'OWNER', 'LAST']
  const lines = [renderTable(call.style, head, output.jobs.map(jobRow))]
  if (output.next !== null) {
    lines.push('', `There are more: ${call.suggestCommand(`jobs --after ${output.next}`)}`)
  }
  return { json: output, text: lines.join('\n') }
}

function jobRow({ id, status, dueAt, attempts, owner, lastError, outcome }: WireJob) {
  const came = lastError ?? (typeof outcome?.outcome === 'string' ? outcome.outcome : '')
  return [
    { text: id },
    { text: status },
    { text: dueAt === null ? '-' : formatTime(Date.parse(dueAt)) },
    { text: String(attempts) },
    { text: toTerminalLine(owner ?? '-') },
    { text: toTerminalLine(came) },
  ]
}

export const REVIEW_ACTIONS = [
  'list',
  'approve',
  'reject',
  'conflicts',
  'resolve',
  'reconcile',
] as const

export const REVIEW_OPTIONS = {
  content: {
    kind: 'value',
    value: 'text',
    help: 'With resolve: the new content of the surviving memory.',
  },
  ...PAGE_OPTIONS,
} as const

type ReviewCall = Invocation<typeof REVIEW_OPTIONS>

export const DECISIONS = {
  approve: { operation: approveMemory, became: 'is used from now on' },
  reject: { operation: rejectMemory, became: 'is forgotten' },
  reconcile: {
    operation: reconcileMemory,
    became: 'and the one it was in conflict with both hold',
  },
} as const

export async function suspects(call: ReviewCall): Promise<CommandResult> {
  const output = await call.perform(listReview, parsePage(call.options))
  if (output.memories.length === 0) return { json: output, text: 'The review queue is empty.' }
  const lines = [renderMemoryList(call.style, output.memories, call.host.now())]
  if (output.next !== null) {
    lines.push('', `There are more: ${call.suggestCommand(`review --after ${output.next}`)}`)
  }
  return { json: output, text: lines.join('\n') }
}

export async function conflicts(call: ReviewCall): Promise<CommandResult> {
  const output = await call.perform(listConflicts, parsePage(call.options))
  const texts = output.conflicts.map((each) => conflictText(call, each))
  if (output.next !== null) {
    texts.push(`There are more: ${call.suggestCommand(`review conflicts --after ${output.next}`)}`)
  }
  return { json: output, text: texts.join('\n\n') || 'No memories contradict each other.' }
}

function conflictText({ style }: Invocation, { memory, other }: WireConflict): string {
  const line = ({ id, content }: WireConflict['memory']) =>
    `${style.dim(id)}  ${toTerminalLine(content)}`
  return `${line(memory)}\n${line(other)}`
}

export async function settled(
  call: ReviewCall,
  keep: string,
  drop?: string,
): Promise<CommandResult> {
  if (drop === undefined) {
    const hint = `Run \`${call.suggestCommand('review conflicts')}\`.`
    throw new UsageError(
      '`review resolve` requires the memory to keep and the memory to supersede.',
      hint,
    )
  }
  const { content } = call.options
  const words = content === undefined ? {} : { content }
  const output = await call.perform(resolveConflict, { keep, drop, ...words })
  const undoing = call.suggestCommand(`undo ${output.change}`)
  return { json: output, text: `${keep} takes the place of ${drop} (undo: ${undoing})` }
}
