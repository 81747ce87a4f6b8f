/** What was said and learned on one day. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, data } from '../../api/client.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Card, QueryResult } from '../../ui/layout.tsx'
import { startOf } from './dates.ts'
import styles from './page.module.css'

const MEMORIES_MAX = 100
const SESSIONS_MAX = 200

export function DayDetails({ owner, day }: { owner: string; day: string }) {
  const { t } = useI18n()
  const start = startOf(day)
  const from = start.toISOString()
  const to = new Date(start.getFullYear(), start.getMonth(), start.getDate() + 1).toISOString()
  const learned = useQuery({
    queryKey: ['memories', owner, 'day', day],
    queryFn: () =>
      data(
        api.GET('/api/memory', {
          params: {
            query: {
              ...{ owner, createdFrom: from, createdBefore: to, order: 'oldest' as const },
              limit: MEMORIES_MAX,
            },
          },
        }),
      ),
  })
  const said = useQuery({
    queryKey: ['sessions', owner, 'day', day],
    queryFn: async () => {
      const query = { owner, limit: SESSIONS_MAX }
      const { sessions } = await data(api.GET('/api/sessions', { params: { query } }))
      return sessions.filter(({ startedAt, lastTurnAt }) => startedAt < to && lastTurnAt >= from)
    },
  })
  return (
    <div className={styles.dayDetails}>
      <Card title={t('timeline.learnedThatDay')}>
        <QueryResult query={learned} lines={3}>
          {({ data: memories, total }) => (
            <>
              {memories.length === 0 && (
                <p className={styles.soft}>{t('timeline.nothingLearned')}</p>
              )}
              <ul className={styles.dayList}>
                {memories.map(({ id, content }) => (
                  <li key={id}>
                    <Link to="/studio/memories" search={{ owner, memory: id } as never}>
                      {content}
                    </Link>
                  </li>
                ))}
              </ul>
              {total > memories.length && (
                <p className={styles.soft}>
                  {t('timeline.moreLearned', { count: total - memories.length })}
                </p>
              )}
            </>
          )}
        </QueryResult>
      </Card>
      <Card title={t('timeline.saidThatDay')}>
        <QueryResult query={said} lines={3}>
          {(sessions) => (
            <>
              {sessions.length === 0 && <p className={styles.soft}>{t('timeline.nothingSaid')}</p>}
              <ul className={styles.dayList}>
                {sessions.map(({ id, firstMessage }) => (
                  <li key={id}>
                    <Link to="/studio/sessions" search={{ owner, session: id } as never}>
                      {firstMessage ?? id}
                    </Link>
                  </li>
                ))}
              </ul>
            </>
          )}
        </QueryResult>
      </Card>
    </div>
  )
}
