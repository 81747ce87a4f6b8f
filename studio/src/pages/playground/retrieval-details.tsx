/** The models and modes used, and the outcome of each retriever. */
import type { ReactNode } from 'react'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Chip, Dot, Notice, type Tone } from '../../ui/layout.tsx'
import { Tooltip } from '../../ui/tooltip.tsx'
import type { Preview } from './queries.ts'
import styles from './retrieval-details.module.css'

type Retriever = keyof Preview['retrievers']
type RetrieverReport = Preview['retrievers'][Retriever]

const RETRIEVERS: readonly (readonly [Retriever, MessageKey])[] = [
  ['keyword', 'playground.retrieverKeyword'],
  ['vector', 'playground.retrieverVector'],
  ['rerank', 'playground.retrieverRerank'],
]
const TONES: Record<RetrieverReport['state'], Tone> = {
  searched: 'good',
  skipped: 'plain',
  failed: 'bad',
}

export function RetrievalDetails({ preview }: { preview: Preview }) {
  const { t, number } = useI18n()
  const { retrievers, resolution, topSimilarity, abstained, timeExpression } = preview
  const { embeddingSource, embeddingModel, vectorStore, strategyUsed, fusionUsed } = resolution
  const failed = RETRIEVERS.filter(([retriever]) => retrievers[retriever].state === 'failed')
  return (
    <div className={styles.resolution}>
      {failed.map(([retriever, name]) => (
        <Notice key={retriever} tone="warn">
          {t('playground.retrieverDegraded', {
            retriever: t(name),
            reason: retrievers[retriever].reason ?? '?',
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
            <RetrieverStatus report={retrievers[retriever]} />
          </Detail>
        ))}
        {topSimilarity !== null && (
          <Detail name={t('playground.topSimilarity')}>
            <Tooltip text={t('playground.topSimilarityHelp')}>
              <span className={styles.number}>
                {number(topSimilarity, { maximumFractionDigits: 2 })}
              </span>
            </Tooltip>{' '}
            {abstained && <Chip tone="warn">{t('playground.abstained')}</Chip>}
          </Detail>
        )}
        {topSimilarity === null && abstained && (
          <Detail name={t('playground.abstained')}>{t('common.yes')}</Detail>
        )}
        {timeExpression !== null && (
          <Detail name={t('playground.timeExpression')}>{timeExpression}</Detail>
        )}
      </dl>
    </div>
  )
}

function RetrieverStatus({ report }: { report: RetrieverReport }) {
  const { t } = useI18n()
  const { state, hits, reason, withoutVector = 0 } = report
  const text =
    state === 'searched'
      ? t('playground.retrieverHits', { count: hits })
      : t(state === 'failed' ? 'playground.retrieverFailed' : 'playground.retrieverSkipped')
  return (
    <>
      <Dot tone={TONES[state]}>{text}</Dot>
      {reason !== null && <span className={styles.reason}>{reason}</span>}
      {withoutVector > 0 && (
        <span className={styles.reason}>
          {t('playground.retrieverNotEmbedded', { count: withoutVector })}
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
