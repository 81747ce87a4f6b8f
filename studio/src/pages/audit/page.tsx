import { Link } from '@tanstack/react-router'
import { textIn, usePageSearch } from '../../app/search-params.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import { LoadMore } from '../../ui/load-more.tsx'
import { Card, Empty, Loaded, Page } from '../../ui/layout.tsx'
import { Table } from '../../ui/table.tsx'
import styles from './audit.module.css'
import { Filters } from './filters.tsx'
import { type Entry, FILTERS, useAudit, useKeyNames } from './queries.ts'
import { Targets } from './targets.tsx'

export function AuditPage() {
  const { t } = useI18n()
  const { may } = useSession()
  return (
    <Page title={t('audit.title')} description={t('audit.description')}>
      {may('manage') ? <Log /> : <Empty icon="audit" title={t('audit.onlySuperadmins')} />}
    </Page>
  )
}

function Log() {
  const { t } = useI18n()
  const [search, change] = usePageSearch()
  const log = useAudit(search)
  const entries = log.data?.pages.flatMap((page) => page.entries) ?? []
  const isNarrowed = FILTERS.some((name) => textIn(search, name) !== '')
  return (
    <Card title={t('audit.log')} isFlush>
      <Filters search={search} onChange={change} entries={entries} />
      <Loaded query={log} lines={8}>
        {() =>
          entries.length === 0 && !log.hasNextPage ? (
            <Empty icon="audit" title={t(isNarrowed ? 'audit.noMatch' : 'audit.empty')} />
          ) : (
            <Entries entries={entries} />
          )
        }
      </Loaded>
      {log.hasNextPage && entries.length === 0 && (
        <p className={styles.more} role="status">
          {t('audit.noMatchYet')}
        </p>
      )}
      <LoadMore query={log} />
    </Card>
  )
}

function Entries({ entries }: { entries: readonly Entry[] }) {
  const { t, time } = useI18n()
  const names = useKeyNames().data
  return (
    <Table
      name={t('audit.log')}
      rows={entries}
      idOf={({ id }) => id}
      columns={[
        {
          name: t('audit.time'),
          cell: ({ at }) => (
            <time className={styles.when} dateTime={at}>
              {time(at)}
            </time>
          ),
        },
        {
          name: t('audit.actor'),
          cell: ({ actor }) =>
            actor === null ? (
              <span className={styles.soft}>{t('audit.localActor')}</span>
            ) : (
              (names?.get(actor) ?? <code>{actor}</code>)
            ),
        },
        { name: t('audit.action'), cell: ({ operation }) => <code>{operation}</code> },
        {
          name: t('audit.owner'),
          cell: ({ owner }) => (
            <Link to="/studio/memories" search={{ owner }}>
              {owner}
            </Link>
          ),
        },
        { name: t('audit.resource'), cell: (entry) => <Targets entry={entry} /> },
      ]}
    />
  )
}
