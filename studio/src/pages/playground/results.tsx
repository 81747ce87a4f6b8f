/** What was found, best first; each with its evidence and, opened, how it got its place. */
import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Chip, Empty, Meter } from '../../ui/layout.tsx'
import { Tooltip } from '../../ui/tooltip.tsx'
import { CourseChart } from './rank-chart.tsx'
import type { Found, Preview } from './queries.ts'
import styles from './results.module.css'
import { Steps } from './trail-steps.tsx'
import { courseOf, type Standing } from './ranking-trail.ts'
import { ConversationLink, TurnHeader, type Utterance } from './turn.tsx'

const TIERS: Record<Found['tier'], MessageKey> = {
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
  /** Where each stands with the other settings. */
  ranksInA?: ReadonlyMap<string, number>
}) {
  const { t } = useI18n()
  const { memories, abstained, budgetMaxTokens } = preview
  const [opened, setOpened] = useState<string | null>(null)
  const course = useMemo(() => courseOf(memories), [memories])
  if (memories.length === 0) {
    return (
      <Empty icon="search" title={t('playground.noResults')}>
        {t(abstained ? 'playground.noResultsThreshold' : 'playground.noResultsMatch')}
      </Empty>
    )
  }
  const best = Math.max(...memories.map(({ score }) => score))
  let sum = 0
  return (
    <>
      <ol className={styles.results}>
        {memories.map((found, index) => {
          sum += found.tokens
          return (
            <Result
              key={found.id}
              owner={owner}
              found={found}
              best={best}
              rank={index + 1}
              standings={course.standings[index] ?? []}
              room={{ sum, max: budgetMaxTokens }}
              isOpen={opened === found.id}
              onTurn={() => setOpened(opened === found.id ? null : found.id)}
              {...(ranksInA && { rankInA: ranksInA.get(found.id) ?? null })}
            />
          )
        })}
      </ol>
      {memories.length > 1 && course.stages.length > 2 && (
        <CourseChart found={memories} course={course} chosen={opened} onChoose={setOpened} />
      )}
    </>
  )
}

function Result({
  owner,
  found,
  best,
  rank,
  standings,
  room,
  isOpen,
  onTurn,
  rankInA,
}: {
  owner: string
  found: Found
  best: number
  rank: number
  standings: readonly Standing[]
  room: { readonly sum: number; readonly max: number }
  isOpen: boolean
  onTurn: () => void
  /** Null when it is not there; undefined when nothing is compared. */
  rankInA?: number | null
}) {
  const { t, number } = useI18n()
  const { id, content, snippet, score, tokens, tier, category, vecScore, ftsScore, coverage } =
    found
  const turn = turnIn(found)
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
          <Chip tone="accent">{t(TIERS[tier])}</Chip>
          {turn === null && <Chip>{category}</Chip>}
          {found.user !== null && <Chip>{found.user}</Chip>}
          {rankInA !== undefined && <InA rank={rank} rankInA={rankInA} />}
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
        {isOpen && (
          <div className={styles.trail}>
            <p className={styles.soft}>
              {t('playground.coverage', { share: number(coverage, { style: 'percent' }) })}
            </p>
            <Steps standings={standings} tokens={tokens} room={room} />
            {turn !== null && content.trim() !== snippet && <WholeTurn content={content} />}
          </div>
        )}
      </div>
      <div className={styles.side}>
        <span className={styles.score}>{short(score)}</span>
        {best > 0 && <Meter name={t('playground.score')} value={Math.max(0, score)} max={best} />}
        <span className={styles.actions}>
          <Button isSmall look="quiet" aria-expanded={isOpen} onClick={onTurn}>
            {t('playground.explain')}
          </Button>
          {turn === null ? (
            <Tooltip text={t('playground.openMemory')}>
              <Link
                to="/studio/memories"
                search={{ owner, memory: id } as never} // every page has these
                className={styles.open}
                aria-label={t('playground.openMemory')}
              >
                <Icon name="link" size={16} />
              </Link>
            </Tooltip>
          ) : (
            <ConversationLink owner={owner} user={found.user} turn={turn} />
          )}
        </span>
      </div>
    </li>
  )
}

/** Null for a memory. */
function turnIn({ id, role, speaker, sessionId, createdAt }: Found): Utterance | null {
  return role === null ? null : { id, role, speaker: speaker ?? role, sessionId, createdAt }
}

function WholeTurn({ content }: { content: string }) {
  const { t } = useI18n()
  return (
    <details>
      <summary className={styles.soft}>{t('playground.fullTurn')}</summary>
      <p className={styles.content}>{content}</p>
    </details>
  )
}

function InA({ rank, rankInA }: { rank: number; rankInA: number | null }) {
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
