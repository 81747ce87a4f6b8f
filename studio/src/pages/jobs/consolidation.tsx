/** Consolidation: dry run, run, past reports and undo. */
import { useState } from 'react'
import { api, data } from '../../api/client.ts'
import { useMutations } from '../../app/mutations.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Card, EmptyState, QueryResult } from '../../ui/layout.tsx'
import { useToast } from '../../ui/toast.tsx'
import { ReportCard } from './consolidation-report.tsx'
import { EvictionForecast } from './eviction-forecast.tsx'
import styles from './page.module.css'
import { type Report, useReports } from './queries.ts'

const AFFECTED_QUERIES = [
  'consolidations',
  'jobs',
  'memories',
  'memory',
  'stats',
  'review',
  'sessions',
]

export function Consolidation({ owner }: { owner: string }) {
  const { t } = useI18n()
  const { can } = useSession()
  const query = useReports(owner)
  const [dryRunReport, setDryRunReport] = useState<Report | null>(null)
  return (
    <div className={styles.parts}>
      {can('curate') && <RunControls owner={owner} onDryRun={setDryRunReport} />}
      {dryRunReport !== null && (
        <ReportCard
          owner={owner}
          report={dryRunReport}
          isOpen
          onClose={() => setDryRunReport(null)}
        />
      )}
      <EvictionForecast owner={owner} />
      <h2>{t('jobs.reports')}</h2>
      <QueryResult query={query} lines={6}>
        {({ reports }) =>
          reports.length === 0 ? (
            <Card>
              <EmptyState title={t('jobs.noReports')} icon="jobs">
                {t(can('curate') ? 'jobs.noReportsHelp' : 'jobs.noReportsReader')}
              </EmptyState>
            </Card>
          ) : (
            reports.map((report, index) => (
              <ReportCard key={report.id} owner={owner} report={report} isOpen={index === 0} />
            ))
          )
        }
      </QueryResult>
    </div>
  )
}

function RunControls({
  owner,
  onDryRun,
}: {
  owner: string
  onDryRun: (report: Report | null) => void
}) {
  const { t } = useI18n()
  const showToast = useToast()
  const { attempt } = useMutations(owner, AFFECTED_QUERIES)
  const [isConfirming, setConfirming] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const consolidate = (dryRun: boolean) =>
    attempt(() => data(api.POST('/api/consolidate', { body: { owner, dryRun } })))
  const runDry = async () => {
    setBusy(true)
    onDryRun((await consolidate(true))?.report ?? null)
    setBusy(false)
  }
  const run = async () => {
    const done = await consolidate(false)
    if (done === null) return
    onDryRun(null)
    showToast({ text: t('jobs.runResult', { count: done.report.actionsTotal }) })
  }
  return (
    <Card
      title={t('jobs.consolidate')}
      actions={
        <>
          <Button isBusy={isBusy} onClick={() => void runDry()}>
            {t('jobs.dryRun')}
          </Button>
          <Button look="primary" icon="run" onClick={() => setConfirming(true)}>
            {t('jobs.run')}
          </Button>
        </>
      }
    >
      <p className={styles.faint}>{t('jobs.consolidateHelp')}</p>
      <Confirm
        isOpen={isConfirming}
        onClose={() => setConfirming(false)}
        title={t('jobs.runConfirm')}
        description={t('jobs.runConfirmHelp')}
        action={t('jobs.run')}
        isDangerous={false}
        onConfirm={run}
      />
    </Card>
  )
}
