/** The session list next to the selected session. Narrow screens show one of them. */
import { textParam, useOwner, useSearchParams } from '../../app/search-params.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { EmptyState, Page } from '../../ui/layout.tsx'
import styles from './page.module.css'
import type { Session } from './queries.ts'
import { SessionList } from './session-list.tsx'
import { SessionView } from './session-view.tsx'

export function SessionsPage() {
  const { t } = useI18n()
  const owner = useOwner()
  const [search, change] = useSearchParams()
  const id = textParam(search, 'session')
  const user = textParam(search, 'user')
  const turn = textParam(search, 'turn')
  const open = (session: string, of: Session['user'] | undefined, at?: string) =>
    change({ session, user: of ?? undefined, turn: at }, { isPush: true })
  const close = () =>
    change({ session: undefined, user: undefined, turn: undefined }, { isPush: true })
  return (
    <Page title={t('sessions.title')} description={t('sessions.description')}>
      <div className={[styles.panes, id === '' ? '' : styles.chosen].join(' ')}>
        <SessionList
          owner={owner}
          query={textParam(search, 'q')}
          selectedId={id}
          onSearch={(q) => change({ q: q === '' ? undefined : q })}
          onOpen={open}
        />
        {id === '' ? (
          <section className={styles.pane} aria-label={t('sessions.transcript')}>
            <EmptyState title={t('sessions.select')} icon="sessions">
              {t('sessions.selectHelp')}
            </EmptyState>
          </section>
        ) : (
          <SessionView
            // Remounts for each session, which starts at the top.
            key={JSON.stringify([owner, id, user])}
            session={{ owner, id, ...(user === '' ? {} : { user }) }}
            turn={turn === '' ? null : turn}
            onSelectTurn={(at) => change({ turn: at ?? undefined })}
            onClose={close}
          />
        )}
      </div>
    </Page>
  )
}
