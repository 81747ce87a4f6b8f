/** Learning: the model, its usage, and pending and failed exchanges. */
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, data, type Signal } from '../../api/client.ts'
import type { paths } from '../../api/types.ts'
import { useMutations } from '../../app/mutations.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, Meter, Notice, QueryResult, Stat, Stats } from '../../ui/layout.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { useToast } from '../../ui/toast.tsx'
import styles from './page.module.css'
import { useFailedSignals, useLearning } from './queries.ts'

type LearningReport =
  paths['/api/learning/status']['get']['responses']['200']['content']['application/json']

export function Learning({ owner }: { owner: string }) {
  const { t, number } = useI18n()
  const query = useLearning(owner)
  return (
    <QueryResult query={query} lines={6}>
      {(report) => (
        <div className={styles.parts}>
          <LearningNotices owner={owner} report={report} />
          <Stats>
            <Stat
              name={t('jobs.model')}
              value={report.model?.replace('/', '/\u200b') ?? t('jobs.noModel')}
              isText
            />
            <Stat name={t('jobs.pending')} value={number(report.signals.pending)} />
            <Stat name={t('jobs.processed')} value={number(report.signals.processed)} />
            <Stat name={t('jobs.failed')} value={number(report.signals.dead)} />
            {report.usageToday !== null && (
              <>
                <Stat name={t('jobs.callsToday')} value={number(report.usageToday.calls)} />
                <Stat
                  name={t('jobs.tokensToday')}
                  value={number(report.usageToday.input + report.usageToday.output)}
                />
              </>
            )}
          </Stats>
          {report.usageToday !== null && <Budget usageToday={report.usageToday} />}
          {report.signals.dead > 0 && <FailedExchanges owner={owner} />}
        </div>
      )}
    </QueryResult>
  )
}

function LearningNotices({ owner, report }: { owner: string; report: LearningReport }) {
  const { t, time } = useI18n()
  const { model, pausedUntil, usageToday } = report
  const isSpent =
    usageToday !== null &&
    usageToday.budget > 0 &&
    usageToday.input + usageToday.output >= usageToday.budget
  return (
    <>
      {model === null && (
        <Notice tone="warn">
          {t('jobs.noModelHelp')}{' '}
          <Link to="/studio/settings" search={{ owner } as never}>
            {t('jobs.openSettings')}
          </Link>
        </Notice>
      )}
      {pausedUntil !== null && (
        <Notice tone="warn">{t('jobs.paused', { when: time(pausedUntil) })}</Notice>
      )}
      {isSpent && <Notice tone="warn">{t('jobs.budgetExhausted')}</Notice>}
    </>
  )
}

function Budget({ usageToday }: { usageToday: NonNullable<LearningReport['usageToday']> }) {
  const { t, number } = useI18n()
  const used = usageToday.input + usageToday.output
  if (usageToday.budget === 0) return <p className={styles.faint}>{t('jobs.noBudget')}</p>
  const label = t('jobs.budgetUsed', { used: number(used), budget: number(usageToday.budget) })
  return (
    <p className={styles.progress}>
      <Meter name={label} value={Math.min(used, usageToday.budget)} max={usageToday.budget} />
      {label}
    </p>
  )
}

function FailedExchanges({ owner }: { owner: string }) {
  const { t, time } = useI18n()
  const { can } = useSession()
  const query = useFailedSignals(owner)
  const { retry, isBusy } = useRetry(owner)
  const columns: readonly Column<Signal>[] = [
    {
      name: t('jobs.session'),
      cell: ({ sessionId, turns, user }) => (
        <Link
          to="/studio/sessions"
          search={
            {
              ...{ owner, session: sessionId, turn: turns[0] },
              ...(user === null ? {} : { user }),
            } as never // pages have different search parameters
          }
        >
          {sessionId}
        </Link>
      ),
    },
    { name: t('jobs.recordedAt'), cell: ({ createdAt }) => time(createdAt) },
    {
      name: t('jobs.error'),
      cell: ({ error, attempts }) => (
        <>
          <code>{error ?? t('jobs.unknown')}</code>, {t('jobs.attempts', { count: attempts })}
        </>
      ),
    },
    ...(can('curate')
      ? [
          {
            name: t('jobs.actions'),
            cell: (signal: Signal) => (
              <Button isSmall disabled={isBusy} onClick={() => void retry([signal.id])}>
                {t('jobs.retry')}
              </Button>
            ),
          },
        ]
      : []),
  ]
  return (
    <Card
      title={t('jobs.failedTitle')}
      isFlush
      actions={
        can('curate') && (
          <Button isSmall isBusy={isBusy} onClick={() => void retry()}>
            {t('jobs.retryAll')}
          </Button>
        )
      }
    >
      <p className={styles.help}>{t('jobs.failedHelp')}</p>
      <QueryResult query={query}>
        {({ signals }) => (
          <Table
            name={t('jobs.failedTitle')}
            columns={columns}
            rows={signals}
            idOf={({ id }) => id}
          />
        )}
      </QueryResult>
    </Card>
  )
}

function useRetry(owner: string) {
  const { t } = useI18n()
  const showToast = useToast()
  const { attempt } = useMutations(owner, ['signals', 'sessions', 'jobs'])
  const [isBusy, setBusy] = useState(false)
  /** Retries all failed exchanges if `ids` is undefined. */
  const retry = async (ids?: string[]) => {
    setBusy(true)
    const body = { owner, ...(ids === undefined ? {} : { ids }) }
    const done = await attempt(() => data(api.POST('/api/signals/retry', { body })))
    if (done !== null)
      showToast({ text: t('jobs.exchangesRetried', { count: done.signals.length }) })
    setBusy(false)
  }
  return { retry, isBusy }
}
