/** The results, best first, each with its scores and ranking trail. */
import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Chip, EmptyState, Meter } from '../../ui/layout.tsx'
import { Tooltip } from '../../ui/tooltip.tsx'
import type { Preview, PreviewResult } from './queries.ts'
import { RankChart } from './rank-chart.tsx'
import { buildTrail, type StageResult } from './ranking-trail.ts'
import styles from './results.module.css'
import { TrailSteps } from './trail-steps.tsx'
import { SessionLink, TurnHeader, type TurnInfo } from './turn.tsx'

const TIER_NAMES: Record<PreviewResult['tier'], MessageKey> = {
  fts5: 'playground.tierKeyword',
  vector: 'playground.tierVector',
  hybrid: 'playground.tierHybrid',
  'hybrid-rrf': 'playground.tierRrf',
  recent: 'playground.tierRecent',
}

export function Results({
  owner,
  preview,
  ranksInA,
}: {
  owner: string
  preview: Preview
  /** The ranks under configuration A. */
  ranksInA?: ReadonlyMap<string, number>
}) {
  const { t } = useI18n()
  const { memories, abstained, budgetMaxTokens } = preview
  const [expandedId, setExpandedId] = useState<string | null>(null)
  const trail = useMemo(() => buildTrail(memories), [memories])
  if (memories.length === 0) {
    return (
      <EmptyState icon="search" title={t('playground.noResults')}>
        {t(abstained ? 'playground.noResultsThreshold' : 'playground.noResultsMatch')}
      </EmptyState>
    )
  }
  const best = Math.max(...memories.map(({ score }) => score))
  let sum = 0
  return (
    <>
      <ol className={styles.results}>
        {memories.map((result, index) => {
          sum += result.tokens
          return (
            <Result
              key={result.id}
              owner={owner}
              result={result}
              best={best}
              rank={index + 1}
              stageResults={trail.stageResults[index] ?? []}
              budget={{ sum, max: budgetMaxTokens }}
              isExpanded={expandedId === result.id}
              onToggle={() => setExpandedId(expandedId === result.id ? null : result.id)}
              {...(ranksInA && { rankInA: ranksInA.get(result.id) ?? null })}
            />
          )
        })}
      </ol>
      {memories.length > 1 && trail.stages.length > 2 && (
        <RankChart
          results={memories}
          trail={trail}
          selectedId={expandedId}
          onSelect={setExpandedId}
        />
      )}
    </>
  )
}

function Result({
  owner,
  result,
  best,
  rank,
  stageResults,
  budget,
  isExpanded,
  onToggle,
  rankInA,
}: {
  owner: string
  result: PreviewResult
  best: number
  rank: number
  stageResults: readonly StageResult[]
  budget: { readonly sum: number; readonly max: number }
  isExpanded: boolean
  onToggle: () => void
  /** Null if configuration A did not return it; undefined without a comparison. */
  rankInA?: number | null
}) {
  const { t, number } = useI18n()
  const { id, content, snippet, score, tokens, tier, category, vecScore, ftsScore, coverage } =
    result
  const turn = turnInfoOf(result)
  const short = (value: number) =>
    number(value, { minimumFractionDigits: 2, maximumFractionDigits: 2 })
  return (
    <li className={styles.result} data-result={id}>
      <span className={styles.rank} aria-hidden="true">
        {rank}
      </span>
      <div className={styles.main}>
        {turn !== null && <TurnHeader {...turn} />}
        <p className={turn === null ? styles.content : styles.passage}>
          {turn === null ? content : snippet}
        </p>
        <div className={styles.chips}>
          <Chip tone="accent">{t(TIER_NAMES[tier])}</Chip>
          {turn === null && <Chip>{category}</Chip>}
          {result.user !== null && <Chip>{result.user}</Chip>}
          {rankInA !== undefined && <RankInA rank={rank} rankInA={rankInA} />}
          <span className={styles.numbers}>
            <Tooltip text={t('playground.vectorHelp')}>
              <span>
                {t('playground.vector')} <b>{vecScore === null ? '–' : short(vecScore)}</b>
              </span>
            </Tooltip>
            <Tooltip text={t('playground.keywordHelp')}>
              <span>
                {t('playground.keyword')} <b>{ftsScore === null ? '–' : short(ftsScore)}</b>
              </span>
            </Tooltip>
            <span>{t('playground.tokens', { count: tokens })}</span>
          </span>
        </div>
        {isExpanded && (
          <div className={styles.trail}>
            <p className={styles.soft}>
              {t('playground.coverage', { share: number(coverage, { style: 'percent' }) })}
            </p>
            <TrailSteps stageResults={stageResults} tokens={tokens} budget={budget} />
            {turn !== null && content.trim() !== snippet && <FullTurn content={content} />}
          </div>
        )}
      </div>
      <div className={styles.side}>
        <span className={styles.score}>{short(score)}</span>
        {best > 0 && <Meter name={t('playground.score')} value={Math.max(0, score)} max={best} />}
        <span className={styles.actions}>
          <Button isSmall look="quiet" aria-expanded={isExpanded} onClick={onToggle}>
            {t('playground.explain')}
          </Button>
          {turn === null ? (
            <Tooltip text={t('playground.openMemory')}>
              <Link
                to="/studio/memories"
                search={{ owner, memory: id } as never} // accepted by every page
                className={styles.open}
                aria-label={t('playground.openMemory')}
              >
                <Icon name="link" size={16} />
              </Link>
            </Tooltip>
          ) : (
            <SessionLink owner={owner} user={result.user} turn={turn} />
          )}
        </span>
      </div>
    </li>
  )
}

/** Null if the result is a memory. */
function turnInfoOf({ id, role, speaker, sessionId, createdAt }: PreviewResult): TurnInfo | null {
  return role === null ? null : { id, role, speaker: speaker ?? role, sessionId, createdAt }
}

function FullTurn({ content }: { content: string }) {
  const { t } = useI18n()
  return (
    <details>
      <summary className={styles.soft}>{t('playground.fullTurn')}</summary>
      <p className={styles.content}>{content}</p>
    </details>
  )
}

function RankInA({ rank, rankInA }: { rank: number; rankInA: number | null }) {
  const { t } = useI18n()
  if (rankInA === null) return <Chip tone="warn">{t('playground.notInA')}</Chip>
  const tone = rankInA === rank ? 'plain' : rankInA > rank ? 'good' : 'bad'
  return (
    <Chip tone={tone}>
      {tone !== 'plain' && <Icon name={tone === 'good' ? 'up' : 'down'} size={12} />}
      {t('playground.inA', { rank: rankInA })}
    </Chip>
  )
}
