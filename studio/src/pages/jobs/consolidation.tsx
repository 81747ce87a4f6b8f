/** Consolidation: what it would do, what it did, and taking that back. */
import { useState } from 'react'
import { api, data } from '../../api/client.ts'
import { useActing } from '../../app/mutations.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Card, Empty, Loaded } from '../../ui/layout.tsx'
import { useTell } from '../../ui/toast.tsx'
import styles from './page.module.css'
import { type Report, useReports } from './queries.ts'
import { ReportCard } from './consolidation-report.tsx'

const SHOWN = ['consolidations', 'jobs', 'memories', 'memory', 'stats', 'review', 'sessions']

export function Consolidation({ owner }: { owner: string }) {
  const { t } = useI18n()
  const { may } = useSession()
  const query = useReports(owner)
  const [dry, setDry] = useState<Report | null>(null)
  return (
    <div className={styles.parts}>
      {may('curate') && <Run owner={owner} onDry={setDry} />}
      {dry !== null && (
        <ReportCard owner={owner} report={dry} isOpen onClose={() => setDry(null)} />
      )}
      <h2>{t('jobs.reports')}</h2>
      <Loaded query={query} lines={6}>
        {({ reports }) =>
          reports.length === 0 ? (
            <Card>
              <Empty title={t('jobs.noReports')} icon="jobs">
                {t(may('curate') ? 'jobs.noReportsHelp' : 'jobs.noReportsReader')}
              </Empty>
            </Card>
          ) : (
            reports.map((report, index) => (
              <ReportCard key={report.id} owner={owner} report={report} isOpen={index === 0} />
            ))
          )
        }
      </Loaded>
    </div>
  )
}

function Run({ owner, onDry }: { owner: string; onDry: (report: Report | null) => void }) {
  const { t } = useI18n()
  const tell = useTell()
  const { attempt } = useActing(owner, SHOWN)
  const [isAsking, setAsking] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const consolidate = (dryRun: boolean) =>
    attempt(() => data(api.POST('/api/consolidate', { body: { owner, dryRun } })))
  const tryOut = async () => {
    setBusy(true)
    onDry((await consolidate(true))?.report ?? null)
    setBusy(false)
  }
  const run = async () => {
    const done = await consolidate(false)
    if (done === null) return
    onDry(null)
    tell({ text: t('jobs.runResult', { count: done.report.actionsTotal }) })
  }
  return (
    <Card
      title={t('jobs.consolidate')}
      actions={
        <>
          <Button isBusy={isBusy} onClick={() => void tryOut()}>
            {t('jobs.dryRun')}
          </Button>
          <Button look="primary" icon="run" onClick={() => setAsking(true)}>
            {t('jobs.run')}
          </Button>
        </>
      }
    >
      <p className={styles.faint}>{t('jobs.consolidateHelp')}</p>
      <Confirm
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={t('jobs.runConfirm')}
        description={t('jobs.runConfirmHelp')}
        action={t('jobs.run')}
        isDangerous={false}
        onConfirm={run}
      />
    </Card>
  )
}
