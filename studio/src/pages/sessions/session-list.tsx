/** The sessions, most recent first, or the turns that match a search. */
import { useI18n } from '../../i18n/i18n.tsx'
import { Chip, EmptyState, ErrorState, LoadingState, QueryResult } from '../../ui/layout.tsx'
import { LoadMore } from '../../ui/load-more.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import page from './page.module.css'
import { ROLE_NAMES, type Session, useSessions, useTurnSearch } from './queries.ts'
import styles from './session-list.module.css'

type OpenSession = (session: string, user: Session['user'] | undefined, turn?: string) => void

export function SessionList({
  owner,
  query,
  selectedId,
  onSearch,
  onOpen,
}: {
  owner: string
  query: string
  selectedId: string
  onSearch: (query: string) => void
  onOpen: OpenSession
}) {
  const { t } = useI18n()
  return (
    <section className={page.pane} aria-label={t('sessions.list')}>
      <div className={styles.search}>
        <SearchField
          label={t('sessions.search')}
          value={query}
          onChange={(text) => onSearch(text.trim())}
        />
      </div>
      <div className={styles.rows}>
        {query === '' ? (
          <Sessions owner={owner} selectedId={selectedId} onOpen={onOpen} />
        ) : (
          <TurnResults owner={owner} query={query} onOpen={onOpen} />
        )}
      </div>
    </section>
  )
}

function Sessions({
  owner,
  selectedId,
  onOpen,
}: {
  owner: string
  selectedId: string
  onOpen: OpenSession
}) {
  const { t } = useI18n()
  const query = useSessions(owner)
  const { data: pages, error, refetch } = query
  if (pages === undefined) {
    return error === null ? (
      <LoadingState lines={8} />
    ) : (
      <ErrorState error={error} onRetry={() => void refetch()} />
    )
  }
  const sessions = pages.pages.flatMap((each) => each.sessions)
  if (sessions.length === 0) {
    return (
      <EmptyState title={t('sessions.empty')} icon="sessions">
        {t('sessions.emptyHelp')}
      </EmptyState>
    )
  }
  return (
    <>
      <ul>
        {sessions.map((session) => (
          <li key={JSON.stringify([session.user, session.id])}>
            <SessionRow
              session={session}
              isSelected={session.id === selectedId}
              onOpen={() => onOpen(session.id, session.user)}
            />
          </li>
        ))}
      </ul>
      <LoadMore query={query} />
    </>
  )
}

function SessionRow({
  session,
  isSelected,
  onOpen,
}: {
  session: Session
  isSelected: boolean
  onOpen: () => void
}) {
  const { t, ago } = useI18n()
  const { id, user, firstMessage, turns, pendingSignals, deadLetterSignals, episode, lastTurnAt } =
    session
  return (
    <button
      type="button"
      className={styles.row}
      aria-current={isSelected || undefined}
      onClick={onOpen}
    >
      <span className={styles.opening}>{firstMessage ?? id}</span>
      <span className={styles.facts}>
        <span className={styles.name}>{user === null ? id : `${user} · ${id}`}</span>
        <span>
          {t('sessions.turns', { count: turns })} · {ago(lastTurnAt)}
        </span>
      </span>
      <span className={styles.chips}>
        {episode !== null && <Chip tone="good">{t('sessions.distilled')}</Chip>}
        {pendingSignals > 0 && (
          <Chip tone="accent">{t('sessions.pending', { count: pendingSignals })}</Chip>
        )}
        {deadLetterSignals > 0 && (
          <Chip tone="bad">{t('sessions.failed', { count: deadLetterSignals })}</Chip>
        )}
      </span>
    </button>
  )
}

function TurnResults({
  owner,
  query,
  onOpen,
}: {
  owner: string
  query: string
  onOpen: OpenSession
}) {
  const { t, time } = useI18n()
  const found = useTurnSearch(owner, query)
  return (
    <QueryResult query={found} lines={8}>
      {({ results }) =>
        results.length === 0 ? (
          <EmptyState title={t('sessions.noMatch')} icon="search">
            {t('sessions.noMatchHelp')}
          </EmptyState>
        ) : (
          <ul>
            {results.map(({ id, content, role, session_id: session, created_at: at }) => (
              <li key={id}>
                <button
                  type="button"
                  className={styles.row}
                  onClick={() => onOpen(session, undefined, id)}
                >
                  <span className={styles.excerpt}>{content}</span>
                  <span className={styles.facts}>
                    <span className={styles.name}>{session}</span>
                    <span>
                      {t(ROLE_NAMES[role as keyof typeof ROLE_NAMES] ?? 'sessions.roleUser')} ·{' '}
                      {time(at)}
                    </span>
                  </span>
                </button>
              </li>
            ))}
          </ul>
        )
      }
    </QueryResult>
  )
}
