/** Conversations on one side, the chosen one on the other. On a narrow screen one at a time. */
import { textIn, useOwner, usePageSearch } from '../../app/search-params.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Empty, Page } from '../../ui/layout.tsx'
import { SessionList } from './session-list.tsx'
import styles from './page.module.css'
import type { Session } from './queries.ts'
import { SessionView } from './session-view.tsx'

export function SessionsPage() {
  const { t } = useI18n()
  const owner = useOwner()
  const [search, change] = usePageSearch()
  const id = textIn(search, 'session')
  const user = textIn(search, 'user')
  const turn = textIn(search, 'turn')
  const open = (session: string, of: Session['user'] | undefined, at?: string) =>
    change({ session, user: of ?? undefined, turn: at }, { isStep: true })
  const close = () =>
    change({ session: undefined, user: undefined, turn: undefined }, { isStep: true })
  return (
    <Page title={t('sessions.title')} description={t('sessions.description')}>
      <div className={[styles.panes, id === '' ? '' : styles.chosen].join(' ')}>
        <SessionList
          owner={owner}
          query={textIn(search, 'q')}
          chosen={id}
          onAsk={(q) => change({ q: q === '' ? undefined : q })}
          onOpen={open}
        />
        {id === '' ? (
          <section className={styles.pane} aria-label={t('sessions.transcript')}>
            <Empty title={t('sessions.select')} icon="sessions">
              {t('sessions.selectHelp')}
            </Empty>
          </section>
        ) : (
          <SessionView
            // Another conversation begins at its top.
            key={JSON.stringify([owner, id, user])}
            session={{ owner, id, ...(user === '' ? {} : { user }) }}
            turn={turn === '' ? null : turn}
            onTurn={(at) => change({ turn: at ?? undefined })}
            onClose={close}
          />
        )}
      </div>
    </Page>
  )
}
