/** The numbers above the list. */
import { useQuery } from '@tanstack/react-query'
import { api, data } from '../../api/client.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import { LoadedInline, Stat, Stats } from '../../ui/layout.tsx'

/** How many requests the hit rate looks back on. */
const RECEIPTS = 100

const INDEX_LOOK_MS = 2_000

export function Numbers({ owner }: { owner: string }) {
  const { t, number } = useI18n()
  const { may } = useSession()
  const list = useQuery({
    queryKey: ['stats', owner],
    queryFn: () => data(api.GET('/api/memory', { params: { query: { owner, limit: 1 } } })),
  })
  const receipts = useQuery({
    queryKey: ['receipts', owner, 'stats'],
    queryFn: () =>
      data(api.GET('/api/receipts', { params: { query: { owner, limit: RECEIPTS } } })),
  })
  const engine = useQuery({
    queryKey: ['stats', 'index'],
    queryFn: () => data(api.GET('/api/memory/reindex')),
    enabled: may('manage'),
    // Nobody tells when a vector is made.
    refetchInterval: ({ state }) => ((state.data?.pending ?? 0) > 0 ? INDEX_LOOK_MS : false),
  })
  return (
    <Stats>
      <Stat
        name={t('memories.statMemories')}
        value={<LoadedInline query={list}>{({ stats }) => number(stats.total)}</LoadedInline>}
      />
      <Stat
        name={t('memories.statTokens')}
        value={<LoadedInline query={list}>{({ stats }) => number(stats.tokensUsed)}</LoadedInline>}
      />
      <Stat
        name={t('memories.statHitRate')}
        note={t('memories.statHitRateHelp')}
        value={
          <LoadedInline query={receipts}>
            {({ receipts: asked }) => {
              const given = asked.filter(({ injected }) => injected !== null).length
              return asked.length === 0 ? '–' : number(given / asked.length, { style: 'percent' })
            }}
          </LoadedInline>
        }
      />
      {may('manage') && (
        <Stat
          name={t('memories.statNotEmbedded')}
          note={t('memories.statNotEmbeddedHelp')}
          value={<LoadedInline query={engine}>{({ pending }) => number(pending)}</LoadedInline>}
        />
      )}
    </Stats>
  )
}
