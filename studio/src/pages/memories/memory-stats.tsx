/** Statistics above the list. */
import { useQuery } from '@tanstack/react-query'
import { api, data } from '../../api/client.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import { InlineQueryResult, Stat, Stats } from '../../ui/layout.tsx'

/** The number of recent requests for the share with memory. */
const RECEIPTS_SAMPLED = 100

const INDEX_POLL_MS = 2_000

export function MemoryStats({ owner }: { owner: string }) {
  const { t, number } = useI18n()
  const { can } = useSession()
  const list = useQuery({
    queryKey: ['stats', owner],
    queryFn: () => data(api.GET('/api/memory', { params: { query: { owner, limit: 1 } } })),
  })
  const receipts = useQuery({
    queryKey: ['receipts', owner, 'stats'],
    queryFn: () =>
      data(api.GET('/api/receipts', { params: { query: { owner, limit: RECEIPTS_SAMPLED } } })),
  })
  const engine = useQuery({
    queryKey: ['stats', 'index'],
    queryFn: () => data(api.GET('/api/memory/reindex')),
    enabled: can('manage'),
    // The completion of an embedding emits no event.
    refetchInterval: ({ state }) => ((state.data?.pending ?? 0) > 0 ? INDEX_POLL_MS : false),
  })
  return (
    <Stats>
      <Stat
        name={t('memories.statMemories')}
        value={
          <InlineQueryResult query={list}>{({ stats }) => number(stats.total)}</InlineQueryResult>
        }
      />
      <Stat
        name={t('memories.statTokens')}
        value={
          <InlineQueryResult query={list}>
            {({ stats }) => number(stats.tokensUsed)}
          </InlineQueryResult>
        }
      />
      <Stat
        name={t('memories.statHitRate')}
        note={t('memories.statHitRateHelp')}
        value={
          <InlineQueryResult query={receipts}>
            {({ receipts: rows }) => {
              const withMemory = rows.filter(({ injected }) => injected !== null).length
              return rows.length === 0
                ? '–'
                : number(withMemory / rows.length, { style: 'percent' })
            }}
          </InlineQueryResult>
        }
      />
      {can('manage') && (
        <Stat
          name={t('memories.statNotEmbedded')}
          note={t('memories.statNotEmbeddedHelp')}
          value={
            <InlineQueryResult query={engine}>{({ pending }) => number(pending)}</InlineQueryResult>
          }
        />
      )}
    </Stats>
  )
}
