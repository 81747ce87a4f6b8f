/** What the person who pays should know: what memories cost, and what keeps them from being of use. */
import { Link } from '@tanstack/react-router'
import { useI18n } from '../../i18n/i18n.tsx'
import { Notice } from '../../ui/surface.tsx'
import { useInForce } from '../settings/queries.ts'
import styles from './page.module.css'
import { useCost, useEngine, useLearning } from './queries.ts'

const COST_DAYS = 7

export function Warnings({ owner }: { owner: string }) {
  const { t } = useI18n()
  const settings = useInForce('owner', owner).data
  const embedding = useEngine().data?.embedding
  const learning = useLearning(owner).data
  if (settings === undefined || settings.valueOf('enabled') !== true) return null
  const isGiven = settings.valueOf('inject') === true && settings.valueOf('shadow') !== true
  const isLearnt = settings.valueOf('extract') === true
  const hasNoMeaning = embedding !== undefined && !embedding.available
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
