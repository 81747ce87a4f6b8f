/** With what it was looked for, and how each part fared. */
import type { ReactNode } from 'react'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Chip, Dot, Notice, type Tone } from '../../ui/layout.tsx'
import { Tooltip } from '../../ui/tooltip.tsx'
import type { Preview } from './queries.ts'
import styles from './retrieval-details.module.css'

type Leg = keyof Preview['legs']
type LegReport = Preview['legs'][Leg]

const LEGS: readonly (readonly [Leg, MessageKey])[] = [
  ['keyword', 'playground.retrieverKeyword'],
  ['meaning', 'playground.retrieverVector'],
  ['rerank', 'playground.retrieverRerank'],
]
const TONES: Record<LegReport['state'], Tone> = {
  searched: 'good',
  skipped: 'plain',
  failed: 'bad',
}

export function Resolution({ preview }: { preview: Preview }) {
  const { t, number } = useI18n()
  const { legs, resolution, closeness, abstained, time } = preview
  const { embeddingSource, embeddingModel, vectorStore, strategyUsed, fusionUsed } = resolution
  const failed = LEGS.filter(([leg]) => legs[leg].state === 'failed')
  return (
    <div className={styles.resolution}>
      {failed.map(([leg, name]) => (
        <Notice key={leg} tone="warn">
          {t('playground.retrieverDegraded', {
            retriever: t(name),
            reason: legs[leg].because ?? '?',
          })}
        </Notice>
      ))}
      <dl className={styles.facts}>
        <Fact name={t('playground.embedder')}>
          {embeddingModel === null
            ? t('playground.noEmbedder')
            : [embeddingModel, embeddingSource].filter((each) => each !== null).join(' · ')}
        </Fact>
        <Fact name={t('playground.vectorStore')}>
          {vectorStore === 'none' || vectorStore === 'store'
            ? t(vectorStore === 'none' ? 'playground.vectorStoreNone' : 'playground.vectorStoreBuiltIn')
            : vectorStore}
        </Fact>
        <Fact name={t('playground.strategy')}>{strategyUsed}</Fact>
        <Fact name={t('playground.fusion')}>{fusionUsed}</Fact>
        {LEGS.map(([leg, name]) => (
          <Fact key={leg} name={t(name)}>
            <LegState report={legs[leg]} />
          </Fact>
        ))}
        {closeness !== null && (
          <Fact name={t('playground.topSimilarity')}>
            <Tooltip text={t('playground.topSimilarityHelp')}>
              <span className={styles.number}>
                {number(closeness, { maximumFractionDigits: 2 })}
              </span>
            </Tooltip>{' '}
            {abstained && <Chip tone="warn">{t('playground.abstained')}</Chip>}
          </Fact>
        )}
        {closeness === null && abstained && (
          <Fact name={t('playground.abstained')}>{t('common.yes')}</Fact>
        )}
        {time !== null && <Fact name={t('playground.timeExpression')}>{time}</Fact>}
      </dl>
    </div>
  )
}

function LegState({ report }: { report: LegReport }) {
  const { t } = useI18n()
  const { state, hits, because, missing = 0 } = report
  const said =
    state === 'searched'
      ? t('playground.retrieverHits', { count: hits })
      : t(state === 'failed' ? 'playground.retrieverFailed' : 'playground.retrieverSkipped')
  return (
    <>
      <Dot tone={TONES[state]}>{said}</Dot>
      {because !== null && <span className={styles.because}>{because}</span>}
      {missing > 0 && (
        <span className={styles.because}>{t('playground.retrieverNotEmbedded', { count: missing })}</span>
      )}
    </>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
