/** What the person who pays should know: what memories cost, and what keeps them from being of use. */
import { Link } from '@tanstack/react-router'
import { useI18n } from '../../i18n/i18n.tsx'
import { Failure, Notice } from '../../ui/layout.tsx'
import { useInForce } from '../settings/queries.ts'
import styles from './page.module.css'
import { useCost, useEngine, useLearning } from './queries.ts'

const COST_DAYS = 7

export function Warnings({ owner }: { owner: string }) {
  const { t } = useI18n()
  const asked = [useInForce('owner', owner), useEngine(), useLearning(owner)] as const
  const [{ data: settings }, { data: engine }, { data: learning }] = asked
  const failed = asked.find(({ data, error }) => data === undefined && error !== null)
  if (failed !== undefined) {
    const retry = () => asked.map((query) => query.refetch())
    return <Failure error={failed.error} onRetry={retry} />
  }
  if (settings === undefined || settings.valueOf('enabled') !== true) return null
  const isGiven = settings.valueOf('inject') === true && settings.valueOf('shadow') !== true
  const isLearnt = settings.valueOf('extract') === true
  const hasNoMeaning = engine !== undefined && !engine.embedding.available
  const hasNoModel = learning !== undefined && learning.model === null
  return (
    <div className={styles.stack}>
      {hasNoMeaning && <Notice tone="warn">{t('engine.warnEmbedding', { owner })}</Notice>}
      {hasNoModel && isLearnt && <Notice tone="warn">{t('engine.warnModel', { owner })}</Notice>}
      {isGiven && <Cost owner={owner} budget={Number(settings.valueOf('contextTokensMax'))} />}
    </div>
  )
}

function Cost({ owner, budget }: { owner: string; budget: number }) {
  const { t } = useI18n()
  const total = useCost(owner, COST_DAYS, true).data?.total
  const hasSpent = total !== undefined && total.withMemories > 0
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
      {hasSpent && (
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
