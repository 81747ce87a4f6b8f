/** The list of owners, with export and deletion of their data. */
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Card, EmptyState, QueryResult } from '../../ui/layout.tsx'
import { Table } from '../../ui/table.tsx'
import styles from './access.module.css'
import { OwnerDeletion } from './owner-deletion.tsx'
import { useOwners } from './queries.ts'

export function Owners() {
  const { t, number } = useI18n()
  const owners = useOwners()
  const [deleting, setDeleting] = useState<string | null>(null)
  return (
    <Card title={t('access.owners')} isFlush>
      <QueryResult query={owners} lines={5}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState icon="memories" title={t('access.noOwners')} />
          ) : (
            <Table
              name={t('access.owners')}
              rows={rows}
              idOf={({ owner }) => owner}
              columns={[
                {
                  name: t('access.owner'),
                  cell: ({ owner }) => (
                    <Link to="/studio/memories" search={{ owner }}>
                      {owner}
                    </Link>
                  ),
                },
                {
                  name: t('access.memories'),
                  isNumber: true,
                  cell: ({ memories }) => number(memories),
                },
                { name: t('access.turns'), isNumber: true, cell: ({ turns }) => number(turns) },
                { name: t('access.users'), isNumber: true, cell: ({ users }) => number(users) },
                {
                  name: t('access.actions'),
                  cell: ({ owner }) => (
                    <div className={styles.chips}>
                      <a
                        className={styles.export}
                        href={`/api/memory/export?${new URLSearchParams({ owner })}`}
                        download={`recollect-${owner}.jsonl`}
                        aria-label={t('access.exportNamed', { owner })}
                      >
                        <Icon name="export" size={16} />
                        {t('access.export')}
                      </a>
                      <Button
                        isSmall
                        icon="forget"
                        aria-label={t('access.eraseNamed', { owner })}
                        onClick={() => setDeleting(owner)}
                      >
                        {t('access.erase')}
                      </Button>
                    </div>
                  ),
                },
              ]}
            />
          )
        }
      </QueryResult>
      {deleting !== null && <OwnerDeletion owner={deleting} onClose={() => setDeleting(null)} />}
    </Card>
  )
}
