import { Link } from '@tanstack/react-router'
import { textParam, useSearchParams } from '../../app/search-params.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import { Card, EmptyState, Page, QueryResult } from '../../ui/layout.tsx'
import { LoadMore } from '../../ui/load-more.tsx'
import { Table } from '../../ui/table.tsx'
import styles from './audit.module.css'
import { Filters } from './filters.tsx'
import { type AuditEvent, FILTERS, useAudit, useKeyNames } from './queries.ts'

export function AuditPage() {
  const { t } = useI18n()
  const { can } = useSession()
  return (
    <Page title={t('audit.title')} description={t('audit.description')}>
      {can('manage') ? <Log /> : <EmptyState icon="audit" title={t('audit.onlySuperadmins')} />}
    </Page>
  )
}

function Log() {
  const { t } = useI18n()
  const [search, change] = useSearchParams()
  const log = useAudit(search)
  const entries = log.data?.pages.flatMap((page) => page.entries) ?? []
  const isFiltered = FILTERS.some((name) => textParam(search, name) !== '')
  return (
    <Card title={t('audit.log')} isFlush>
      <Filters search={search} onChange={change} entries={entries} />
      <QueryResult query={log} lines={8}>
        {() =>
          entries.length === 0 && !log.hasNextPage ? (
            <EmptyState icon="audit" title={t(isFiltered ? 'audit.noMatch' : 'audit.empty')} />
          ) : (
            <Entries entries={entries} />
          )
        }
      </QueryResult>
      {log.hasNextPage && entries.length === 0 && (
        <p className={styles.more} role="status">
          {t('audit.noMatchYet')}
        </p>
      )}
      <LoadMore query={log} />
    </Card>
  )
}

function Entries({ entries }: { entries: readonly AuditEvent[] }) {
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

/** More do not fit into a row. */
const SHOWN_MAX = 5

/** The ids of the changed resources, as links where a page shows them. */
function Targets({ entry }: { entry: AuditEvent }) {
  const { t } = useI18n()
  const shown = entry.targets.slice(0, SHOWN_MAX)
  const left = entry.targetCount - shown.length
  return (
    <div className={styles.targets}>
      {shown.map((target) => (
        <Target key={target} target={target} entry={entry} />
      ))}
      {left > 0 && <span className={styles.soft}>{t('audit.andMore', { count: left })}</span>}
    </div>
  )
}

function Target({ target, entry: { operation, owner } }: { target: string; entry: AuditEvent }) {
  const id = <code>{target}</code>
  if (target.startsWith('mem_')) {
    return (
      <Link to="/studio/memories" search={{ owner, memory: target }}>
        {id}
      </Link>
    )
  }
  if (target.startsWith('key_')) return <Link to="/studio/access">{id}</Link>
  if (target.startsWith('job_')) return <Link to="/studio/jobs">{id}</Link>
  if (operation === 'settings.change') {
    return (
      <Link to="/studio/settings" search={{ owner, q: target }}>
        {id}
      </Link>
    )
  }
  return id
}
