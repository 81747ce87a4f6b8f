/** Memories and turns that a receipt references by id. They show the current state, or that they were deleted. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { ApiError, type Receipt } from '../../api/client.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Chip } from '../../ui/layout.tsx'
import { memoriesIn, memoryQuery, useTurn } from './queries.ts'
import styles from './receipt-panel.module.css'

type Trail = Receipt['results'][number]['trail']

export function RecallResults({ owner, receipt }: { owner: string; receipt: Receipt }) {
  const { t } = useI18n()
  const { results, identityIds, excerptIds } = receipt
  const includedIds = new Set([...memoriesIn(receipt), ...excerptIds])
  const resultIds = new Set(results.map(({ memory }) => memory))
  const identityOnly = identityIds.filter((id) => !resultIds.has(id))
  const inclusionOf = (id: string) => {
    if (identityIds.includes(id)) return 'receipts.identity'
    return includedIds.has(id) ? 'receipts.included' : 'receipts.omitted'
  }
  if (results.length + identityOnly.length === 0) {
    return <p className={styles.soft}>{t('receipts.noResults')}</p>
  }
  return (
    <ul className={styles.list}>
      {identityOnly.map((id) => (
        <li key={id}>
          <MemoryLine owner={owner} id={id}>
            <Chip tone="accent">{t('receipts.identity')}</Chip>
          </MemoryLine>
        </li>
      ))}
      {results.map(({ memory, score, trail }) => (
        <li key={memory}>
          <ResultLine owner={owner} id={memory}>
            <Chip tone={includedIds.has(memory) ? 'accent' : 'plain'}>
              {t(inclusionOf(memory))}
            </Chip>
            <Scores score={score} trail={trail} />
          </ResultLine>
        </li>
      ))}
    </ul>
  )
}

/** The score after each stage. */
function Scores({ score, trail }: { score: number; trail: Trail }) {
  const { t, number } = useI18n()
  const short = (value: number) => number(value, { maximumFractionDigits: 2 })
  return (
    <ol className={styles.scores} aria-label={t('receipts.trail')}>
      {trail.map(({ stage, score: after }) => (
        <li key={stage}>
          {stage} <b>{short(after)}</b>
        </li>
      ))}
      {trail.length === 0 && (
        <li>
          <b>{short(score)}</b>
        </li>
      )}
    </ol>
  )
}

/** A recall result is a memory or a turn of an earlier session. */
function ResultLine({ owner, id, children }: { owner: string; id: string; children: ReactNode }) {
  if (!id.startsWith('turn_')) {
    return (
      <MemoryLine owner={owner} id={id}>
        {children}
      </MemoryLine>
    )
  }
  return (
    <div className={styles.line}>
      <TurnLine owner={owner} id={id} />
      <div className={styles.chips}>{children}</div>
    </div>
  )
}

export function MemoryLine({
  owner,
  id,
  children,
}: {
  owner: string
  id: string
  children?: ReactNode
}) {
  const { t } = useI18n()
  const query = useQuery(memoryQuery(owner, id))
  const isDeleted = query.error instanceof ApiError && query.error.status === 404
  return (
    <div className={styles.line}>
      {isDeleted ? (
        <span className={styles.soft}>{t('receipts.deletedMemory')}</span>
      ) : (
        <Link
          to="/studio/memories"
          search={{ owner, memory: id } as never} // accepted by every page
          className={styles.link}
        >
          {query.data?.memory.content ?? id}
        </Link>
      )}
      {children !== undefined && <div className={styles.chips}>{children}</div>}
    </div>
  )
}

export function TurnLine({ owner, id }: { owner: string; id: string }) {
  const { t } = useI18n()
  const query = useTurn(owner, id)
  const isDeleted = query.error instanceof ApiError && query.error.status === 404
  if (isDeleted) return <p className={styles.soft}>{t('receipts.deletedTurn')}</p>
  const turn = query.data?.turn
  return (
    <blockquote className={styles.turn}>
      <span className={styles.soft}>{turn?.role ?? id}</span>
      {turn?.content ?? query.error?.message}
    </blockquote>
  )
}
