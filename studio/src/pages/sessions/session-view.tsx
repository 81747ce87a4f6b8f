/** One conversation: what was said, what was learned from each turn, and what still waits. */
import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import { ApiError, type Memory, type Signal } from '../../api/client.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { LoadMore } from '../../ui/load-more.tsx'
import { Chip, Empty, Failure, Loading, Notice } from '../../ui/layout.tsx'
import { Learned } from './extracted-memories.tsx'
import page from './page.module.css'
import {
  byTurn,
  type Named,
  type Turn,
  useLearned,
  useSessions,
  useSignals,
  useTurns,
} from './queries.ts'
import styles from './session-view.module.css'
import { SessionActions, useDistilling } from './session-actions.tsx'
import { TurnView } from './turn.tsx'
import { Waiting } from './pending-signals.tsx'

export function SessionView({
  session,
  turn,
  onTurn,
  onClose,
}: {
  session: Named
  /** The one that a link names. */
  turn: string | null
  onTurn: (turn: string | null) => void
  onClose: () => void
}) {
  const { t } = useI18n()
  const distilling = useDistilling(session)
  const signals = useSignals(session)
  const known = signals.data?.signals ?? []
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
        <SessionActions session={session} distilling={distilling} onGone={onClose} />
      </header>
      <div className={styles.scroll}>
        {distilling.notice}
        {signals.error !== null && (
          <Failure error={signals.error} onRetry={() => void signals.refetch()} />
        )}
        <Waiting session={session} signals={known} onTurn={onTurn} />
        <Transcript session={session} turn={turn} signals={known} onTurn={onTurn} />
      </div>
    </section>
  )
}

function Heading({ session: { owner, id, user } }: { session: Named }) {
  const { t, time } = useI18n()
  const listed = useSessions(owner)
  const known = listed.data?.pages
    .flatMap(({ sessions }) => sessions)
    .find((each) => each.id === id && (user === undefined || each.user === user))
  const [from, to] = [known?.firstSaidAt, known?.lastSaidAt].map((at) =>
    at === undefined ? '' : time(at),
  ) as [string, string] // two of them
  return (
    <div className={styles.heading}>
      <h2>{id}</h2>
      {known !== undefined && (
        <p>
          {known.user !== null && <span>{t('sessions.user', { user: known.user })} · </span>}
          {t('sessions.turns', { count: known.turns })} ·{' '}
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
  onTurn,
}: {
  session: Named
  turn: string | null
  signals: readonly Signal[]
  onTurn: (turn: string | null) => void
}) {
  const { t } = useI18n()
  const query = useTurns(session)
  const { data, error, refetch } = query
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = query
  const turns = useMemo(() => data?.pages.flatMap((each) => each.turns) ?? [], [data])
  const isShown = turn === null || turns.some(({ id }) => id === turn)
  useEffect(() => {
    // A link may name a turn far down; pages are loaded until it is there.
    if (!isShown && hasNextPage && !isFetchingNextPage && !isFetchNextPageError) {
      void fetchNextPage()
    }
  }, [isShown, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage])
  if (data === undefined) {
    if (error === null) return <Loading lines={10} />
    return error instanceof ApiError && error.status === 404 ? (
      <Empty title={t('sessions.notFound')} icon="sessions">
        {t('sessions.notFoundHelp')}
      </Empty>
    ) : (
      <Failure error={error} onRetry={() => void refetch()} />
    )
  }
  return (
    <>
      {!isShown && !hasNextPage && (
        <Notice
          tone="warn"
          action={
            <Button isSmall onClick={() => onTurn(null)}>
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
  session: Named
  turns: readonly Turn[]
  turn: string | null
  signals: readonly Signal[]
}) {
  const { t } = useI18n()
  const learned = useLearned(session)
  const memories = useMemo(() => learned.data?.memories ?? [], [learned.data])
  const produced = useMemo(() => byTurn(memories), [memories])
  const marks = useMemo(() => marksOf(signals), [signals])
  const digest = memories.find(({ category }) => category === 'episode')
  const shown = new Set(turns.map(({ id }) => id))
  const elsewhere = memories.filter(
    (memory) => memory !== digest && !memory.provenance.turns.some((source) => shown.has(source)),
  )
  return (
    <>
      {digest !== undefined && <Digest owner={session.owner} digest={digest} />}
      {learned.error !== null && (
        <Failure error={learned.error} onRetry={() => void learned.refetch()} />
      )}
      <ol className={styles.turns}>
        {turns.map((each) => (
          <Placed key={each.id} isNamed={each.id === turn}>
            <TurnView
              session={session}
              turn={each}
              mark={marks.get(each.id)}
              isNamed={each.id === turn}
              produced={produced.get(each.id) ?? []}
            />
          </Placed>
        ))}
      </ol>
      {elsewhere.length > 0 && (
        <Learned
          owner={session.owner}
          title={t('sessions.extractedFromOtherTurns')}
          memories={elsewhere}
        />
      )}
      {learned.data?.isComplete === false && (
        <p className={styles.soft}>{t('sessions.extractedIncomplete', { count: memories.length })}</p>
      )}
    </>
  )
}

/** Comes into view when a link names it. */
function Placed({ isNamed, children }: { isNamed: boolean; children: ReactNode }) {
  const element = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (isNamed) element.current?.scrollIntoView({ block: 'center' })
  }, [isNamed])
  return <li ref={element}>{children}</li>
}

function Digest({ owner, digest }: { owner: string; digest: Memory }) {
  const { t } = useI18n()
  const [isWhole, setWhole] = useState(false)
  const { topics } = digest.metadata
  return (
    <section className={styles.digest} aria-label={t('sessions.summary')}>
      <header>
        <h3>{t('sessions.summary')}</h3>
        <Link to="/studio/timeline" search={{ owner, episode: digest.id } as never}>
          {t('sessions.openInTimeline')}
        </Link>
      </header>
      <p className={isWhole ? '' : styles.clamped}>{digest.content}</p>
      {digest.content.length > DIGEST_CHARACTERS && (
        <Button isSmall look="quiet" onClick={() => setWhole(!isWhole)}>
          {t(isWhole ? 'sessions.collapse' : 'sessions.expand')}
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

const DIGEST_CHARACTERS = 400

/** By turn, whether it waits to be learned from or could not be. */
function marksOf(signals: readonly Signal[]): ReadonlyMap<string, 'pending' | 'dead'> {
  const marks = new Map<string, 'pending' | 'dead'>()
  for (const { turns, status } of signals) {
    if (status !== 'pending' && status !== 'dead') continue
    for (const turn of turns) marks.set(turn, status)
  }
  return marks
}
