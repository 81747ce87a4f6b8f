/** The models and modes used, and the outcome of each retriever. */
import type { ReactNode } from 'react'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Chip, Dot, Notice, type Tone } from '../../ui/layout.tsx'
import { Tooltip } from '../../ui/tooltip.tsx'
import type { Preview } from './queries.ts'
import styles from './retrieval-details.module.css'

type Retriever = keyof Preview['legs']
type RetrieverReport = Preview['legs'][Retriever]

const RETRIEVERS: readonly (readonly [Retriever, MessageKey])[] = [
  ['keyword', 'playground.retrieverKeyword'],
  ['meaning', 'playground.retrieverVector'],
  ['rerank', 'playground.retrieverRerank'],
]
const TONES: Record<RetrieverReport['state'], Tone> = {
  searched: 'good',
  skipped: 'plain',
  failed: 'bad',
}

export function RetrievalDetails({ preview }: { preview: Preview }) {
  const { t, number } = useI18n()
  const { legs, resolution, closeness, abstained, time } = preview
  const { embeddingSource, embeddingModel, vectorStore, strategyUsed, fusionUsed } = resolution
  const failed = RETRIEVERS.filter(([retriever]) => legs[retriever].state === 'failed')
  return (
    <div className={styles.resolution}>
      {failed.map(([retriever, name]) => (
        <Notice key={retriever} tone="warn">
          {t('playground.retrieverDegraded', {
            retriever: t(name),
            reason: legs[retriever].because ?? '?',
          })}
        </Notice>
      ))}
      <dl className={styles.facts}>
        <Detail name={t('playground.embedder')}>
          {embeddingModel === null
            ? t('playground.noEmbedder')
            : [embeddingModel, embeddingSource].filter((each) => each !== null).join(' · ')}
        </Detail>
        <Detail name={t('playground.vectorStore')}>
          {vectorStore === 'none' || vectorStore === 'store'
            ? t(
                vectorStore === 'none'
                  ? 'playground.vectorStoreNone'
                  : 'playground.vectorStoreBuiltIn',
              )
            : vectorStore}
        </Detail>
        <Detail name={t('playground.strategy')}>{strategyUsed}</Detail>
        <Detail name={t('playground.fusion')}>{fusionUsed}</Detail>
        {RETRIEVERS.map(([retriever, name]) => (
          <Detail key={retriever} name={t(name)}>
            <RetrieverStatus report={legs[retriever]} />
          </Detail>
        ))}
        {closeness !== null && (
          <Detail name={t('playground.topSimilarity')}>
            <Tooltip text={t('playground.topSimilarityHelp')}>
              <span className={styles.number}>
                {number(closeness, { maximumFractionDigits: 2 })}
              </span>
            </Tooltip>{' '}
            {abstained && <Chip tone="warn">{t('playground.abstained')}</Chip>}
          </Detail>
        )}
        {closeness === null && abstained && (
          <Detail name={t('playground.abstained')}>{t('common.yes')}</Detail>
        )}
        {time !== null && <Detail name={t('playground.timeExpression')}>{time}</Detail>}
      </dl>
    </div>
  )
}

function RetrieverStatus({ report }: { report: RetrieverReport }) {
  const { t } = useI18n()
  const { state, hits, because, missing = 0 } = report
  const text =
    state === 'searched'
      ? t('playground.retrieverHits', { count: hits })
      : t(state === 'failed' ? 'playground.retrieverFailed' : 'playground.retrieverSkipped')
  return (
    <>
      <Dot tone={TONES[state]}>{text}</Dot>
      {because !== null && <span className={styles.because}>{because}</span>}
      {missing > 0 && (
        <span className={styles.because}>
          {t('playground.retrieverNotEmbedded', { count: missing })}
        </span>
      )}
    </>
  )
}

function Detail({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
