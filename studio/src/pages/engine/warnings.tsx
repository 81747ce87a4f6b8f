/** Warnings for the operator: token costs of memories, and missing models. */
import { Link } from '@tanstack/react-router'
import { useI18n } from '../../i18n/i18n.tsx'
import { ErrorState, Notice } from '../../ui/layout.tsx'
import { useEffectiveSettings } from '../settings/queries.ts'
import styles from './page.module.css'
import { useCost, useEngine, useLearning } from './queries.ts'

const COST_DAYS = 7

export function Warnings({ owner }: { owner: string }) {
  const { t } = useI18n()
  const queries = [useEffectiveSettings('owner', owner), useEngine(), useLearning(owner)] as const
  const [{ data: settings }, { data: engine }, { data: learning }] = queries
  const failed = queries.find(({ data, error }) => data === undefined && error !== null)
  if (failed !== undefined) {
    const retry = () => queries.map((query) => query.refetch())
    return <ErrorState error={failed.error} onRetry={retry} />
  }
  if (settings === undefined || settings.valueOf('gateway.enabled') !== true) return null
  const isContextInserted =
    settings.valueOf('gateway.contextEnabled') === true &&
    settings.valueOf('gateway.dryRun') !== true
  const isLearning = settings.valueOf('learning.enabled') === true
  const hasNoEmbedding = engine !== undefined && !engine.embedding.available
  const hasNoModel = learning !== undefined && learning.model === null
  return (
    <div className={styles.stack}>
      {hasNoEmbedding && <Notice tone="warn">{t('engine.warnEmbedding', { owner })}</Notice>}
      {hasNoModel && isLearning && <Notice tone="warn">{t('engine.warnModel', { owner })}</Notice>}
      {isContextInserted && (
        <CostNotice owner={owner} budget={Number(settings.valueOf('gateway.contextTokensMax'))} />
      )}
    </div>
  )
}

function CostNotice({ owner, budget }: { owner: string; budget: number }) {
  const { t } = useI18n()
  const total = useCost(owner, COST_DAYS, true).data?.total
  const hasUsage = total !== undefined && total.withMemories > 0
  return (
    <Notice
      tone="warn"
      action={
        <Link to="/studio/receipts" search={{ owner }}>
          {t('engine.openReceipts')}
        </Link>
      }
    >
      {t('engine.warnCost', { owner, count: budget })}
      {hasUsage && (
        <>
          {' '}
          {t('engine.cost', {
            days: COST_DAYS,
            requests: total.withMemories,
            average: Math.round(total.memory / total.withMemories),
            tokens: total.memory,
          })}
        </>
      )}
    </Notice>
  )
}
