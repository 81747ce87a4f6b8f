/** Conversations, those with the last word first; or, when something is looked for, the turns that have it. */
import { useI18n } from '../../i18n/i18n.tsx'
import { LoadMore } from '../../ui/load-more.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { Chip, Empty, Failure, Loaded, Loading } from '../../ui/layout.tsx'
import styles from './session-list.module.css'
import page from './page.module.css'
import { type Session, useSaid, useSessions } from './queries.ts'
import { ROLES } from './words.ts'

type Open = (session: string, user: Session['user'] | undefined, turn?: string) => void

export function SessionList({
  owner,
  query,
  chosen,
  onAsk,
  onOpen,
}: {
  owner: string
  query: string
  chosen: string
  onAsk: (query: string) => void
  onOpen: Open
}) {
  const { t } = useI18n()
  return (
    <section className={page.pane} aria-label={t('sessions.list')}>
      <div className={styles.search}>
        <SearchField
          label={t('sessions.search')}
          value={query}
          onChange={(text) => onAsk(text.trim())}
        />
      </div>
      <div className={styles.rows}>
        {query === '' ? (
          <Conversations owner={owner} chosen={chosen} onOpen={onOpen} />
        ) : (
          <Said owner={owner} query={query} onOpen={onOpen} />
        )}
      </div>
    </section>
  )
}

function Conversations({ owner, chosen, onOpen }: { owner: string; chosen: string; onOpen: Open }) {
  const { t } = useI18n()
  const query = useSessions(owner)
  const { data: pages, error, refetch } = query
  if (pages === undefined) {
    return error === null ? (
      <Loading lines={8} />
    ) : (
      <Failure error={error} onRetry={() => void refetch()} />
    )
  }
  const sessions = pages.pages.flatMap((each) => each.sessions)
  if (sessions.length === 0) {
    return (
      <Empty title={t('sessions.empty')} icon="sessions">
        {t('sessions.emptyHelp')}
      </Empty>
    )
  }
  return (
    <>
      <ul>
        {sessions.map((session) => (
          <li key={JSON.stringify([session.user, session.id])}>
            <Row
              session={session}
              isChosen={session.id === chosen}
              onOpen={() => onOpen(session.id, session.user)}
            />
          </li>
        ))}
      </ul>
      <LoadMore query={query} />
    </>
  )
}

function Row({
  session,
  isChosen,
  onOpen,
}: {
  session: Session
  isChosen: boolean
  onOpen: () => void
}) {
  const { t, ago } = useI18n()
  const { id, user, opening, turns, pending, dead, episode, lastSaidAt } = session
  return (
    <button
      type="button"
      className={styles.row}
      aria-current={isChosen || undefined}
      onClick={onOpen}
    >
      <span className={styles.opening}>{opening ?? id}</span>
      <span className={styles.facts}>
        <span className={styles.name}>{user === null ? id : `${user} · ${id}`}</span>
        <span>
          {t('sessions.turns', { count: turns })} · {ago(lastSaidAt)}
        </span>
      </span>
      <span className={styles.chips}>
        {episode !== null && <Chip tone="good">{t('sessions.distilled')}</Chip>}
        {pending > 0 && <Chip tone="accent">{t('sessions.pending', { count: pending })}</Chip>}
        {dead > 0 && <Chip tone="bad">{t('sessions.failed', { count: dead })}</Chip>}
      </span>
    </button>
  )
}

function Said({ owner, query, onOpen }: { owner: string; query: string; onOpen: Open }) {
  const { t, time } = useI18n()
  const found = useSaid(owner, query)
  return (
    <Loaded query={found} lines={8}>
      {({ results }) =>
        results.length === 0 ? (
          <Empty title={t('sessions.noMatch')} icon="search">
            {t('sessions.noMatchHelp')}
          </Empty>
        ) : (
          <ul>
            {results.map(({ id, content, role, session_id: session, created_at: at }) => (
              <li key={id}>
                <button
                  type="button"
                  className={styles.row}
                  onClick={() => onOpen(session, undefined, id)}
                >
                  <span className={styles.said}>{content}</span>
                  <span className={styles.facts}>
                    <span className={styles.name}>{session}</span>
                    <span>
                      {t(ROLES[role as keyof typeof ROLES] ?? 'sessions.roleUser')} · {time(at)}
                    </span>
                  </span>
                </button>
              </li>
            ))}
          </ul>
        )
      }
    </Loaded>
  )
}
