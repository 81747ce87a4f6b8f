/** A chart of the rank of each result after each stage, next to the results. */
import type { CSSProperties } from 'react'
import { useI18n } from '../../i18n/i18n.tsx'
import type { PreviewResult } from './queries.ts'
import styles from './rank-chart.module.css'
import type { RankingTrail, StageResult } from './ranking-trail.ts'
import { STAGE_NAMES } from './stage-names.ts'

const ROW = 28
const COLUMN = 52
const HEAD = 24

export function RankChart({
  results,
  trail: { stages, stageResults },
  selectedId,
  onSelect,
}: {
  results: readonly PreviewResult[]
  trail: RankingTrail
  selectedId: string | null
  onSelect: (id: string | null) => void
}) {
  const { t } = useI18n()
  const width = stages.length * COLUMN
  const height = HEAD + results.length * ROW
  const x = (at: number) => at * COLUMN + COLUMN / 2
  const y = (rank: number) => HEAD + (rank - 0.5) * ROW
  return (
    <section className={styles.course} aria-label={t('playground.ranking')}>
      <header>
        <h3>{t('playground.ranking')}</h3>
        <p>{t('playground.rankingHelp')}</p>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be focusable */}
      <section className={styles.frame} aria-label={t('playground.rankingChart')} tabIndex={0}>
        <svg
          className={styles.lines}
          width={width}
          height={height}
          role="img"
          aria-label={t('playground.rankingChart')}
        >
          {stages.map((stage, at) => (
            <g key={stage}>
              <line x1={x(at)} x2={x(at)} y1={HEAD} y2={height} className={styles.column} />
              <text x={x(at)} y={14} className={styles.stage} textAnchor="middle">
                {t(STAGE_NAMES[stage])}
              </text>
            </g>
          ))}
          {results.map(({ id }, index) => (
            <Line
              key={id}
              stageResults={stageResults[index] ?? []}
              x={x}
              y={y}
              state={selectedId === null ? 'plain' : selectedId === id ? 'chosen' : 'faint'}
            />
          ))}
        </svg>
        <ol
          className={styles.names}
          style={
            { '--head': `${HEAD}px`, '--row': `${ROW}px` } as CSSProperties /* custom properties */
          }
        >
          {results.map(({ id, snippet }, index) => (
            <li key={id}>
              <button
                type="button"
                aria-pressed={selectedId === id}
                onClick={() => onSelect(selectedId === id ? null : id)}
              >
                <span>{index + 1}</span> {snippet}
              </button>
            </li>
          ))}
        </ol>
      </section>
    </section>
  )
}

function Line({
  stageResults,
  x,
  y,
  state,
}: {
  stageResults: readonly StageResult[]
  x: (at: number) => number
  y: (rank: number) => number
  state: 'plain' | 'chosen' | 'faint'
}) {
  const points = stageResults.flatMap(({ rank, stage, rankChange: moved }, at) =>
    rank === null ? [] : [{ x: x(at), y: y(rank), stage, moved: moved ?? 0 }],
  )
  return (
    <g className={styles[state]}>
      <polyline points={points.map((point) => `${point.x},${point.y}`).join(' ')} />
      {points.map((point) => (
        <circle
          key={point.stage}
          cx={point.x}
          cy={point.y}
          r={point.moved === 0 ? 3.5 : 5}
          className={point.moved > 0 ? styles.up : point.moved < 0 ? styles.down : ''}
        />
      ))}
    </g>
  )
}
