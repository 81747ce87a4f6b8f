/** Jobs with what is to become of them: those that wait, run, are over, or failed. */
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, data, type Job } from '../../api/client.ts'
import { useActing } from '../../app/mutations.ts'
import { type Search, textIn } from '../../app/search-params.ts'
import { useSession } from '../../app/session.tsx'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Select, Switch } from '../../ui/field.tsx'
import { LoadMore } from '../../ui/load-more.tsx'
import { Card, Chip, Dot, Empty, Failure, Loading, Meter, type Tone } from '../../ui/layout.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { useTell } from '../../ui/toast.tsx'
import styles from './page.module.css'
import { STATUSES, useIndexing, useJobs } from './queries.ts'
import { JobOutcome } from './words.tsx'

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
  upkeep: 'jobs.kindMaintenance',
}

export function Queue({
  owner,
  search,
  onChange,
}: {
  owner: string
  search: Search
  onChange: (changes: Search) => void
}) {
  const { t } = useI18n()
  const { may } = useSession()
  const status = STATUSES.find((each) => each === textIn(search, 'status')) ?? null
  const isEveryone = may('manage') && textIn(search, 'everyone') === 'true'
  const query = useJobs({ owner: isEveryone ? null : owner, status })
  const { data: pages, error, refetch } = query
  const jobs = pages?.pages.flatMap((page) => page.jobs)
  return (
    <div className={styles.parts}>
      <Indexing />
      <div className={styles.line}>
        <Select
          label={t('jobs.status')}
          isLabelHidden
          value={status ?? ''}
          onChoose={(value) => onChange({ status: value === '' ? undefined : value })}
          options={[
            { value: '', text: t('jobs.anyStatus') },
            ...STATUSES.map((value) => ({ value, text: t(STATUS_NAMES[value]) })),
          ]}
        />
        {may('manage') && (
          <Switch
            label={t('jobs.allOwners')}
            isOn={isEveryone}
            onTurn={(isOn) => onChange({ everyone: isOn || undefined })}
          />
        )}
      </div>
      <Card isFlush>
        {jobs === undefined ? (
          error === null ? (
            <Loading lines={6} />
          ) : (
            <Failure error={error} onRetry={() => void refetch()} />
          )
        ) : jobs.length === 0 ? (
          <Empty title={t(status === null ? 'jobs.empty' : 'jobs.noMatch')} icon="jobs">
            {status === null && t('jobs.emptyHelp')}
          </Empty>
        ) : (
          <JobTable owner={owner} jobs={jobs} isEveryone={isEveryone} />
        )}
      </Card>
      <LoadMore query={query} />
    </div>
  )
}

function Indexing() {
  const { t, number } = useI18n()
  const { data: state } = useIndexing()
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
  isEveryone,
}: {
  owner: string
  jobs: readonly Job[]
  isEveryone: boolean
}) {
  const { t } = useI18n()
  const columns: readonly Column<Job>[] = [
    { name: t('jobs.job'), cell: (job) => <What owner={owner} job={job} /> },
    ...(isEveryone
      ? [{ name: t('jobs.owner'), cell: (job: Job) => job.owner ?? t('jobs.systemOwner') }]
      : []),
    {
      name: t('jobs.status'),
      cell: ({ status }) => <Chip tone={STATUS_TONES[status]}>{t(STATUS_NAMES[status])}</Chip>,
    },
    { name: t('jobs.time'), cell: (job) => <When job={job} /> },
    { name: t('jobs.result'), cell: (job) => <JobOutcome job={job} /> },
    { name: t('jobs.actions'), cell: (job) => <JobActions owner={owner} job={job} /> },
  ]
  return <Table name={t('jobs.queue')} columns={columns} rows={jobs} idOf={({ id }) => id} />
}

function What({ owner, job: { kind, input, owner: whose } }: { owner: string; job: Job }) {
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
              owner: whose ?? owner,
              session,
              ...(typeof user === 'string' ? { user } : {}),
            } as never // every page has its own words in the address
          }
        >
          {session}
        </Link>
      )}
    </div>
  )
}

const HOUR_MS = 3_600_000

function When({ job: { status, dueAt, since, everyMs } }: { job: Job }) {
  const { t, ago } = useI18n()
  const isDue = dueAt !== null && new Date(dueAt).getTime() <= Date.now()
  const said =
    status === 'running'
      ? t('jobs.runningFor', { when: ago(since) })
      : status === 'waiting'
        ? isDue
          ? t('jobs.dueNow')
          : t('jobs.due', { when: dueAt === null ? t('common.never') : ago(dueAt) })
        : t('jobs.finished', { when: ago(since) })
  return (
    <div className={styles.what}>
      <span>{said}</span>
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
  const { may } = useSession()
  const tell = useTell()
  const { attempt } = useActing(owner, ['jobs'])
  const [isAsking, setAsking] = useState(false)
  const { id, status } = job
  const where = { params: { path: { id } } }
  if (!may('curate')) return null
  const retry = async () => {
    const done = await attempt(() => data(api.POST('/api/jobs/{id}/retry', where)))
    if (done !== null) tell({ text: t('jobs.queued') })
  }
  const cancel = async () => {
    const done = await attempt(() => data(api.POST('/api/jobs/{id}/cancel', where)))
    if (done !== null) tell({ text: t('jobs.cancelled') })
  }
  return (
    <div className={styles.buttons}>
      {status !== 'running' && (
        <Button isSmall icon="run" onClick={() => void retry()}>
          {t(status === 'dead' ? 'jobs.retry' : 'jobs.runNow')}
        </Button>
      )}
      {(status === 'waiting' || status === 'running') && (
        <Button isSmall onClick={() => setAsking(true)}>
          {t('jobs.cancel')}
        </Button>
      )}
      <Confirm
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={t('jobs.cancelTitle')}
        description={t('jobs.cancelHelp')}
        action={t('jobs.cancelJob')}
        onConfirm={cancel}
      />
    </div>
  )
}
