/** The memories that leave next, when and why, with a button that keeps each of them. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, data } from '../../api/client.ts'
import type { paths } from '../../api/types.ts'
import { useSession } from '../../app/session.tsx'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, QueryResult } from '../../ui/layout.tsx'
import { Table } from '../../ui/table.tsx'
import { useActions } from '../memories/queries.ts'
import styles from './page.module.css'

type Forecast =
  paths['/api/memory/evictions']['get']['responses']['200']['content']['application/json']['evictions'][number]

const SHOWN = 25

const REASONS: Record<Forecast['kind'], MessageKey> = {
  evict: 'jobs.leavesFaded',
  expire: 'jobs.leavesUnused',
  end: 'jobs.leavesExpired',
}

export function EvictionForecast({ owner }: { owner: string }) {
  const { t, day } = useI18n()
  const { can } = useSession()
  const { pin } = useActions(owner)
  const query = useQuery({
    queryKey: ['memories', owner, 'evictions'],
    queryFn: () =>
      data(api.GET('/api/memory/evictions', { params: { query: { owner, limit: SHOWN } } })),
  })
  return (
    <Card title={t('jobs.leaving')} isFlush>
      <QueryResult query={query} lines={4}>
        {({ evictions }) =>
          evictions.length === 0 ? (
            <p className={styles.nothingLeaves}>{t('jobs.nothingLeaves')}</p>
          ) : (
            <Table<Forecast>
              name={t('jobs.leaving')}
              rows={evictions}
              idOf={({ memory }) => memory.id}
              columns={[
                {
                  name: t('memories.content'),
                  cell: ({ memory }) => (
                    <Link to="/studio/memories" search={{ owner, memory: memory.id } as never}>
                      {memory.content}
                    </Link>
                  ),
                },
                { name: t('jobs.leavesOn'), cell: ({ at }) => day(at) },
                { name: t('jobs.leavesWhy'), cell: ({ kind }) => t(REASONS[kind]) },
                ...(can('write')
                  ? [
                      {
                        name: t('jobs.actions'),
                        cell: ({ memory, kind }: Forecast) =>
                          // A pin does not outlast the date that somebody set.
                          kind === 'end' ? null : (
                            <Button isSmall icon="pin" onClick={() => void pin([memory.id])}>
                              {t('jobs.keepForever')}
                            </Button>
                          ),
                      },
                    ]
                  : []),
              ]}
            />
          )
        }
      </QueryResult>
    </Card>
  )
}
