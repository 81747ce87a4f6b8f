/** A session: transcript, extracted memories, and pending exchanges. */
import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import { ApiError, type Memory, type Signal } from '../../api/client.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { Chip, EmptyState, ErrorState, LoadingState, Notice } from '../../ui/layout.tsx'
import { LoadMore } from '../../ui/load-more.tsx'
import { ExtractedMemories } from './extracted-memories.tsx'
import page from './page.module.css'
import { PendingSignals } from './pending-signals.tsx'
import {
  groupByTurn,
  type SessionRef,
  type Turn,
  useSessionMemories,
  useSessions,
  useSignals,
  useTurns,
} from './queries.ts'
import { SessionActions, useDistillation } from './session-actions.tsx'
import styles from './session-view.module.css'
import { TurnView } from './turn.tsx'

export function SessionView({
  session,
  turn,
  onSelectTurn,
  onClose,
}: {
  session: SessionRef
  /** The turn that the URL links to. */
  turn: string | null
  onSelectTurn: (turn: string | null) => void
  onClose: () => void
}) {
  const { t } = useI18n()
  const distillation = useDistillation(session)
  const signals = useSignals(session)
  const sessionSignals = signals.data?.signals ?? []
  return (
    <section className={page.pane} aria-label={t('sessions.transcript')}>
      <header className={styles.header}>
        <IconButton
          icon="back"
          name={t('sessions.back')}
          className={styles.back}
          onClick={onClose}
        />
        <Heading session={session} />
        <SessionActions session={session} distillation={distillation} onDeleted={onClose} />
      </header>
      <div className={styles.scroll}>
        {distillation.notice}
        {signals.error !== null && (
          <ErrorState error={signals.error} onRetry={() => void signals.refetch()} />
        )}
        <PendingSignals session={session} signals={sessionSignals} onSelectTurn={onSelectTurn} />
        <Transcript
          session={session}
          turn={turn}
          signals={sessionSignals}
          onSelectTurn={onSelectTurn}
        />
      </div>
    </section>
  )
}

function Heading({ session: { owner, id, user } }: { session: SessionRef }) {
  const { t, time } = useI18n()
  const sessions = useSessions(owner)
  const sessionSignals = sessions.data?.pages
    .flatMap(({ sessions }) => sessions)
    .find((each) => each.id === id && (user === undefined || each.user === user))
  const [from, to] = [sessionSignals?.startedAt, sessionSignals?.lastTurnAt].map((at) =>
    at === undefined ? '' : time(at),
  ) as [string, string] // two entries
  return (
    <div className={styles.heading}>
      <h2>{id}</h2>
      {sessionSignals !== undefined && (
        <p>
          {sessionSignals.user !== null && (
            <span>{t('sessions.user', { user: sessionSignals.user })} · </span>
          )}
          {t('sessions.turns', { count: sessionSignals.turns })} ·{' '}
          {from === to ? from : t('sessions.span', { from, to })}
        </p>
      )}
    </div>
  )
}

function Transcript({
  session,
  turn,
  signals,
  onSelectTurn,
}: {
  session: SessionRef
  turn: string | null
  signals: readonly Signal[]
  onSelectTurn: (turn: string | null) => void
}) {
  const { t } = useI18n()
  const query = useTurns(session)
  const { data, error, refetch } = query
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = query
  const turns = useMemo(() => data?.pages.flatMap((each) => each.turns) ?? [], [data])
  const isShown = turn === null || turns.some(({ id }) => id === turn)
  useEffect(() => {
    // Loads pages until the linked turn is included.
    if (!isShown && hasNextPage && !isFetchingNextPage && !isFetchNextPageError) {
      void fetchNextPage()
    }
  }, [isShown, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage])
  if (data === undefined) {
    if (error === null) return <LoadingState lines={10} />
    return error instanceof ApiError && error.status === 404 ? (
      <EmptyState title={t('sessions.notFound')} icon="sessions">
        {t('sessions.notFoundHelp')}
      </EmptyState>
    ) : (
      <ErrorState error={error} onRetry={() => void refetch()} />
    )
  }
  return (
    <>
      {!isShown && !hasNextPage && (
        <Notice
          tone="warn"
          action={
            <Button isSmall onClick={() => onSelectTurn(null)}>
              {t('common.close')}
            </Button>
          }
        >
          {t('sessions.turnNotFound')}
        </Notice>
      )}
      <Turns session={session} turns={turns} turn={turn} signals={signals} />
      <LoadMore query={query} />
    </>
  )
}

function Turns({
  session,
  turns,
  turn,
  signals,
}: {
  session: SessionRef
  turns: readonly Turn[]
  turn: string | null
  signals: readonly Signal[]
}) {
  const { t } = useI18n()
  const learned = useSessionMemories(session)
  const memories = useMemo(() => learned.data?.memories ?? [], [learned.data])
  const memoriesByTurn = useMemo(() => groupByTurn(memories), [memories])
  const marks = useMemo(() => marksOf(signals), [signals])
  const episode = memories.find(({ category }) => category === 'episode')
  const shown = new Set(turns.map(({ id }) => id))
  const otherMemories = memories.filter(
    (memory) => memory !== episode && !memory.provenance.turns.some((source) => shown.has(source)),
  )
  return (
    <>
      {episode !== undefined && <EpisodeSummary owner={session.owner} episode={episode} />}
      {learned.error !== null && (
        <ErrorState error={learned.error} onRetry={() => void learned.refetch()} />
      )}
      <ol className={styles.turns}>
        {turns.map((each) => (
          <ScrollTarget key={each.id} isLinked={each.id === turn}>
            <TurnView
              session={session}
              turn={each}
              mark={marks.get(each.id)}
              isLinked={each.id === turn}
              memories={memoriesByTurn.get(each.id) ?? []}
            />
          </ScrollTarget>
        ))}
      </ol>
      {otherMemories.length > 0 && (
        <ExtractedMemories
          owner={session.owner}
          title={t('sessions.extractedFromOtherTurns')}
          memories={otherMemories}
        />
      )}
      {learned.data?.isComplete === false && (
        <p className={styles.soft}>
          {t('sessions.extractedIncomplete', { count: memories.length })}
        </p>
      )}
    </>
  )
}

/** Scrolls into view if it is the linked turn. */
function ScrollTarget({ isLinked, children }: { isLinked: boolean; children: ReactNode }) {
  const element = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (isLinked) element.current?.scrollIntoView({ block: 'center' })
  }, [isLinked])
  return <li ref={element}>{children}</li>
}

function EpisodeSummary({ owner, episode }: { owner: string; episode: Memory }) {
  const { t } = useI18n()
  const [isExpanded, setExpanded] = useState(false)
  const { topics } = episode.metadata
  return (
    <section className={styles.digest} aria-label={t('sessions.summary')}>
      <header>
        <h3>{t('sessions.summary')}</h3>
        <Link to="/studio/timeline" search={{ owner, episode: episode.id } as never}>
          {t('sessions.openInTimeline')}
        </Link>
      </header>
      <p className={isExpanded ? '' : styles.clamped}>{episode.content}</p>
      {episode.content.length > SUMMARY_CHARACTERS && (
        <Button isSmall look="quiet" onClick={() => setExpanded(!isExpanded)}>
          {t(isExpanded ? 'sessions.collapse' : 'sessions.expand')}
        </Button>
      )}
      {Array.isArray(topics) && topics.length > 0 && (
        <p className={styles.chips}>
          {topics.map((topic) => (
            <Chip key={String(topic)}>{String(topic)}</Chip>
          ))}
        </p>
      )}
    </section>
  )
}

const SUMMARY_CHARACTERS = 400

/** The learning status of each turn: pending or failed. */
function marksOf(signals: readonly Signal[]): ReadonlyMap<string, 'pending' | 'dead'> {
  const marks = new Map<string, 'pending' | 'dead'>()
  for (const { turns, status } of signals) {
    if (status !== 'pending' && status !== 'dead') continue
    for (const turn of turns) marks.set(turn, status)
  }
  return marks
}
