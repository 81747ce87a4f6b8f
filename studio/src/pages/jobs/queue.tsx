/** The job queue and history. */
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, data, type Job } from '../../api/client.ts'
import { useMutations } from '../../app/mutations.ts'
import { type SearchParams, textParam } from '../../app/search-params.ts'
import { useSession } from '../../app/session.tsx'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Select, Switch } from '../../ui/field.tsx'
import {
  Card,
  Chip,
  Dot,
  EmptyState,
  ErrorState,
  LoadingState,
  Meter,
  type Tone,
} from '../../ui/layout.tsx'
import { LoadMore } from '../../ui/load-more.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { useToast } from '../../ui/toast.tsx'
import styles from './page.module.css'
import { STATUSES, useEmbeddingProgress, useJobs } from './queries.ts'

const STATUS_NAMES: Record<Job['status'], MessageKey> = {
  waiting: 'jobs.statusWaiting',
  running: 'jobs.statusRunning',
  done: 'jobs.statusDone',
  dead: 'jobs.statusDead',
  cancelled: 'jobs.statusCancelled',
}
const STATUS_TONES: Record<Job['status'], Tone> = {
  waiting: 'plain',
  running: 'accent',
  done: 'good',
  dead: 'bad',
  cancelled: 'warn',
}
const KIND_NAMES: Readonly<Record<string, MessageKey>> = {
  distill: 'jobs.kindDistill',
  consolidate: 'jobs.kindConsolidate',
  maintenance: 'jobs.kindMaintenance',
}

export function Queue({
  owner,
  search,
  onChange,
}: {
  owner: string
  search: SearchParams
  onChange: (changes: SearchParams) => void
}) {
  const { t } = useI18n()
  const { can } = useSession()
  const status = STATUSES.find((each) => each === textParam(search, 'status')) ?? null
  const isAllOwners = can('manage') && textParam(search, 'allOwners') === 'true'
  const query = useJobs({ owner: isAllOwners ? null : owner, status })
  const { data: pages, error, refetch } = query
  const jobs = pages?.pages.flatMap((page) => page.jobs)
  return (
    <div className={styles.parts}>
      <EmbeddingProgress />
      <div className={styles.line}>
        <Select
          label={t('jobs.status')}
          isLabelHidden
          value={status ?? ''}
          onValueChange={(value) => onChange({ status: value === '' ? undefined : value })}
          options={[
            { value: '', text: t('jobs.anyStatus') },
            ...STATUSES.map((value) => ({ value, text: t(STATUS_NAMES[value]) })),
          ]}
        />
        {can('manage') && (
          <Switch
            label={t('jobs.allOwners')}
            isOn={isAllOwners}
            onCheckedChange={(isOn) => onChange({ allOwners: isOn || undefined })}
          />
        )}
      </div>
      <Card isFlush>
        {jobs === undefined ? (
          error === null ? (
            <LoadingState lines={6} />
          ) : (
            <ErrorState error={error} onRetry={() => void refetch()} />
          )
        ) : jobs.length === 0 ? (
          <EmptyState title={t(status === null ? 'jobs.empty' : 'jobs.noMatch')} icon="jobs">
            {status === null && t('jobs.emptyHelp')}
          </EmptyState>
        ) : (
          <JobTable owner={owner} jobs={jobs} isAllOwners={isAllOwners} />
        )}
      </Card>
      <LoadMore query={query} />
    </div>
  )
}

function EmbeddingProgress() {
  const { t, number } = useI18n()
  const { data: state } = useEmbeddingProgress()
  if (state === undefined || !state.running) return null
  const { done, total } = state
  return (
    <Card>
      <p className={styles.progress}>
        <Dot tone="accent">{t('jobs.embedding')}</Dot>
        <Meter name={t('jobs.embedding')} value={done} max={Math.max(total, 1)} />
        {t('jobs.embeddingProgress', { done: number(done), total: number(total) })}
      </p>
    </Card>
  )
}

function JobTable({
  owner,
  jobs,
  isAllOwners,
}: {
  owner: string
  jobs: readonly Job[]
  isAllOwners: boolean
}) {
  const { t } = useI18n()
  const columns: readonly Column<Job>[] = [
    { name: t('jobs.job'), cell: (job) => <JobCell owner={owner} job={job} /> },
    ...(isAllOwners
      ? [{ name: t('jobs.owner'), cell: (job: Job) => job.owner ?? t('jobs.systemOwner') }]
      : []),
    {
      name: t('jobs.status'),
      cell: ({ status }) => <Chip tone={STATUS_TONES[status]}>{t(STATUS_NAMES[status])}</Chip>,
    },
    { name: t('jobs.time'), cell: (job) => <TimeCell job={job} /> },
    { name: t('jobs.result'), cell: (job) => <JobResult job={job} /> },
    { name: t('jobs.actions'), cell: (job) => <JobActions owner={owner} job={job} /> },
  ]
  return <Table name={t('jobs.queue')} columns={columns} rows={jobs} idOf={({ id }) => id} />
}

function JobCell({ owner, job: { kind, input, owner: jobOwner } }: { owner: string; job: Job }) {
  const { t } = useI18n()
  const name = KIND_NAMES[kind]
  const { session, user } = input
  return (
    <div className={styles.what}>
      <span>{name === undefined ? kind : t(name)}</span>
      {typeof session === 'string' && (
        <Link
          to="/studio/sessions"
          search={
            {
              owner: jobOwner ?? owner,
              session,
              ...(typeof user === 'string' ? { user } : {}),
            } as never // pages have different search parameters
          }
        >
          {session}
        </Link>
      )}
    </div>
  )
}

const HOUR_MS = 3_600_000

function TimeCell({ job: { status, dueAt, statusChangedAt, everyMs } }: { job: Job }) {
  const { t, ago } = useI18n()
  const isDue = dueAt !== null && new Date(dueAt).getTime() <= Date.now()
  const text =
    status === 'running'
      ? t('jobs.runningFor', { when: ago(statusChangedAt) })
      : status === 'waiting'
        ? isDue
          ? t('jobs.dueNow')
          : t('jobs.due', { when: dueAt === null ? t('common.never') : ago(dueAt) })
        : t('jobs.finished', { when: ago(statusChangedAt) })
  return (
    <div className={styles.what}>
      <span>{text}</span>
      {everyMs !== null && (
        <span className={styles.faint}>
          {t('jobs.every', { hours: Math.round((everyMs / HOUR_MS) * 10) / 10 })}
        </span>
      )}
    </div>
  )
}

function JobActions({ owner, job }: { owner: string; job: Job }) {
  const { t } = useI18n()
  const { can } = useSession()
  const showToast = useToast()
  const { attempt } = useMutations(owner, ['jobs'])
  const [isConfirming, setConfirming] = useState(false)
  const { id, status } = job
  const request = { params: { path: { id } } }
  if (!can('curate')) return null
  const retry = async () => {
    const done = await attempt(() => data(api.POST('/api/jobs/{id}/retry', request)))
    if (done !== null) showToast({ text: t('jobs.queued') })
  }
  const cancel = async () => {
    const done = await attempt(() => data(api.POST('/api/jobs/{id}/cancel', request)))
    if (done !== null) showToast({ text: t('jobs.cancelled') })
  }
  return (
    <div className={styles.buttons}>
      {status !== 'running' && (
        <Button isSmall icon="run" onClick={() => void retry()}>
          {t(status === 'dead' ? 'jobs.retry' : 'jobs.runNow')}
        </Button>
      )}
      {(status === 'waiting' || status === 'running') && (
        <Button isSmall onClick={() => setConfirming(true)}>
          {t('jobs.cancel')}
        </Button>
      )}
      <Confirm
        isOpen={isConfirming}
        onClose={() => setConfirming(false)}
        title={t('jobs.cancelTitle')}
        description={t('jobs.cancelHelp')}
        action={t('jobs.cancelJob')}
        onConfirm={cancel}
      />
    </div>
  )
}

const OUTCOMES: Readonly<Record<string, MessageKey>> = {
  distilled: 'jobs.outcomeDistilled',
  no_signals: 'jobs.outcomeNoSignals',
  'empty:no_turns': 'jobs.outcomeNoTurns',
  'empty:nothing': 'jobs.outcomeNothing',
  known: 'jobs.outcomeKnown',
  'skipped:low_novelty': 'jobs.outcomeLowNovelty',
  'skipped:no_model': 'jobs.outcomeNoModel',
  'skipped:budget_exhausted': 'jobs.outcomeBudget',
  'skipped:budget': 'jobs.outcomeBudget',
  'skipped:busy': 'jobs.outcomeBusy',
}

/** An outcome in words; the code of others, without its separators. */
function describeOutcome(outcome: string, t: ReturnType<typeof useI18n>['t']): string {
  const key = OUTCOMES[outcome]
  if (key !== undefined) return t(key)
  const [kind = '', code = ''] = outcome.split(':')
  const words = (code || kind).replaceAll('_', ' ')
  return kind === 'error' || kind === 'dead_letter'
    ? t('jobs.outcomeError', { code: words })
    : words
}

function JobResult({ job: { outcome, attempts, lastError } }: { job: Job }) {
  const { t } = useI18n()
  const count = (name: string) => {
    const value = outcome?.[name]
    return typeof value === 'number' ? value : null
  }
  const counted = [
    ['signals', 'jobs.exchanges'],
    ['memories', 'jobs.memoriesScanned'],
    ['actions', 'jobs.actionsDone'],
    ['owners', 'jobs.ownersScanned'],
    ['tokens', 'jobs.tokens'],
  ] as const
  const counts = counted.flatMap(([name, key]) => {
    const value = count(name)
    return value === null ? [] : [t(key, { count: value })]
  })
  const label = outcome?.outcome
  return (
    <div className={styles.what}>
      {typeof label === 'string' && <span title={label}>{describeOutcome(label, t)}</span>}
      {counts.length > 0 && <span className={styles.faint}>{counts.join(', ')}</span>}
      {(attempts > 0 || lastError !== null) && (
        <span className={styles.marks}>
          {attempts > 0 && <Chip tone="warn">{t('jobs.attempts', { count: attempts })}</Chip>}
          {lastError !== null && <Chip tone="bad">{lastError}</Chip>}
        </span>
      )}
    </div>
  )
}
