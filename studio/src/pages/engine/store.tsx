/** The store and its integrity check. */
import { useState } from 'react'
import { api, data } from '../../api/client.ts'
import type { paths } from '../../api/types.ts'
import { useAttempt } from '../../app/mutations.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Card, Chip, Notice, QueryResult } from '../../ui/layout.tsx'
import { Table } from '../../ui/table.tsx'
import styles from './page.module.css'
import { AFFECTED_QUERIES, CARDS, type SystemStatus, useSystem } from './queries.ts'

type Findings = paths['/api/doctor']['get']['responses'][200]['content']['application/json']

export function StoreCard() {
  const { t } = useI18n()
  const system = useSystem()
  return (
    <Card title={t('engine.store')} id={CARDS.store}>
      <div className={styles.stack}>
        <QueryResult query={system} lines={5}>
          {(status) => <DetailList {...status} />}
        </QueryResult>
        <IntegrityCheck />
      </div>
    </Card>
  )
}

function DetailList({ store, version }: SystemStatus) {
  const { t, number } = useI18n()
  const { kind, location, schemaVersion, sizeBytes, memories, turns, facts } = store
  return (
    <dl className={styles.facts}>
      <dt>{t('engine.storeKind')}</dt>
      <dd>
        {kind} {typeof facts.sqlite === 'string' && facts.sqlite}
      </dd>
      <dt>{t('engine.storeLocation')}</dt>
      <dd>
        <code>{location}</code>
      </dd>
      {sizeBytes !== null && (
        <>
          <dt>{t('engine.storeSize')}</dt>
          <dd>{formatBytes(sizeBytes, number)}</dd>
        </>
      )}
      <dt>{t('engine.storeMemories')}</dt>
      <dd>{number(memories ?? 0)}</dd>
      <dt>{t('engine.storeTurns')}</dt>
      <dd>{number(turns ?? 0)}</dd>
      {typeof facts.encrypted === 'boolean' && (
        <>
          <dt>{t('engine.storeEncryption')}</dt>
          <dd>
            <Chip tone={facts.encrypted ? 'good' : 'plain'}>
              {t(facts.encrypted ? 'engine.encrypted' : 'engine.notEncrypted')}
            </Chip>
          </dd>
        </>
      )}
      {typeof facts.durability === 'string' && (
        <>
          <dt>{t('engine.storeDurability')}</dt>
          <dd>{facts.durability}</dd>
        </>
      )}
      <dt>{t('engine.storeSchema')}</dt>
      <dd>{number(schemaVersion)}</dd>
      <dt>{t('engine.version')}</dt>
      <dd>{version}</dd>
    </dl>
  )
}

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const

function formatBytes(bytes: number, number: ReturnType<typeof useI18n>['number']): string {
  const power = bytes === 0 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3))
  return number(bytes / 1_000 ** power, {
    style: 'unit',
    unit: UNITS[power] ?? 'byte',
    maximumFractionDigits: 1,
  })
}

function IntegrityCheck() {
  const { t } = useI18n()
  const attempt = useAttempt(AFFECTED_QUERIES)
  const [findings, setFindings] = useState<Findings | null>(null)
  const [isBusy, setBusy] = useState(false)
  const [isConfirming, setConfirming] = useState(false)
  const run = async (isRepair: boolean) => {
    setBusy(true)
    const response = await attempt(() =>
      data(isRepair ? api.POST('/api/doctor') : api.GET('/api/doctor')),
    )
    setBusy(false)
    if (response !== null) setFindings(response)
  }
  const canRepair =
    findings !== null &&
    !findings.isRepaired &&
    findings.problems.some(({ repairable }) => repairable)
  return (
    <div className={styles.part}>
      <h3>{t('engine.doctor')}</h3>
      <p className={styles.soft}>{t('engine.doctorHelp')}</p>
      <div className={styles.line}>
        <Button icon="check" isBusy={isBusy} onClick={() => void run(false)}>
          {t('engine.doctorRun')}
        </Button>
        {canRepair && (
          <Button look="danger" disabled={isBusy} onClick={() => setConfirming(true)}>
            {t('engine.doctorRepair')}
          </Button>
        )}
      </div>
      {findings !== null && <Problems {...findings} />}
      <Confirm
        isOpen={isConfirming}
        onClose={() => setConfirming(false)}
        title={t('engine.doctorRepairTitle')}
        description={t('engine.doctorRepairHelp')}
        action={t('engine.doctorRepair')}
        onConfirm={() => run(true)}
      />
    </div>
  )
}

function Problems({ problems, isRepaired }: Findings) {
  const { t, number } = useI18n()
  if (problems.length === 0) return <Notice tone="good">{t('engine.doctorPassed')}</Notice>
  return (
    <>
      <Notice tone={isRepaired ? 'good' : 'warn'}>
        {t(isRepaired ? 'engine.doctorRepaired' : 'engine.doctorFound', { count: problems.length })}
      </Notice>
      <Table
        name={t('engine.doctor')}
        rows={problems}
        idOf={({ description }) => description}
        columns={[
          { name: t('engine.problem'), cell: ({ description }) => description },
          { name: t('engine.problemCount'), isNumber: true, cell: ({ count }) => number(count) },
          {
            name: t('engine.problemRepairable'),
            cell: ({ repairable }) => t(repairable ? 'common.yes' : 'common.no'),
          },
        ]}
      />
    </>
  )
}
