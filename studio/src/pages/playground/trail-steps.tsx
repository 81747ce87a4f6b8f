/** The ranking trail of one result: score, rank and note of each stage. */
import { useI18n } from '../../i18n/i18n.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Tooltip } from '../../ui/tooltip.tsx'
import type { StageResult } from './ranking-trail.ts'
import { STAGE_HELP, STAGE_NAMES } from './stage-names.ts'
import styles from './trail-steps.module.css'

export function TrailSteps({
  stageResults,
  tokens,
  budget,
}: {
  stageResults: readonly StageResult[]
  tokens: number
  budget: { readonly sum: number; readonly max: number }
}) {
  const { t, number } = useI18n()
  const visible = stageResults.filter(({ hasStep }) => hasStep)
  const fitNote = t('playground.budgetNote', {
    tokens: t('playground.tokens', { count: tokens }),
    sum: budget.sum,
    max: budget.max,
  })
  return (
    <ol className={styles.steps}>
      {visible.map((stageResult) => {
        const { stage, score, rank, note } = stageResult
        return (
          <li key={stage} className={styles.step}>
            <Tooltip text={t(STAGE_HELP[stage])}>
              <span className={styles.stage}>{t(STAGE_NAMES[stage])}</span>
            </Tooltip>
            <span className={styles.score}>
              {score !== null && stage !== 'fit' && stage !== 'recent'
                ? number(score, { minimumFractionDigits: 2, maximumFractionDigits: 3 })
                : ''}
            </span>
            <span className={styles.rank}>
              {rank !== null && t('playground.rank', { rank })}{' '}
              <RankChange moved={stageResult.rankChange} />
            </span>
            <span className={styles.note}>{stage === 'fit' ? fitNote : note}</span>
          </li>
        )
      })}
    </ol>
  )
}

function RankChange({ moved }: { moved: number | null }) {
  const { t } = useI18n()
  if (moved === null || moved === 0) return null
  const text = t(moved > 0 ? 'playground.upBy' : 'playground.downBy', { count: Math.abs(moved) })
  return (
    <span className={moved > 0 ? styles.up : styles.down}>
      <Icon name={moved > 0 ? 'up' : 'down'} size={12} />
      {Math.abs(moved)}
      <span className="visually-hidden"> {text}</span>
    </span>
  )
}
