import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, data, type Memory } from '../../api/client.ts'
import { type Search, textIn, useOwner, usePageSearch } from '../../app/address.ts'
import { useKeys } from '../../app/keyboard.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Empty, Loaded, Notice, Page, Stat, Stats } from '../../ui/surface.tsx'
import { MemoryDrawer } from './drawer.tsx'
import { Editor } from './editor.tsx'
import { Filters } from './filters.tsx'
import { FoundList, PagedList } from './list.tsx'
import { MovingMenu } from './moving.tsx'
import styles from './page.module.css'
import { FILTERS, howIn, useActions, useFound } from './queries.ts'

export function MemoriesPage() {
  const { t } = useI18n()
  const { may } = useSession()
  const owner = useOwner()
  const [search, change] = usePageSearch()
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const [edited, setEdited] = useState<Memory | 'new' | null>(null)
  const opened = textIn(search, 'memory')
  const canEdit = may('write')
  useKeys({ n: () => canEdit && setEdited('new') })
  return (
    <Page
      title={t('memories.title')}
      actions={
        <>
          <MovingMenu owner={owner} search={search} />
          {canEdit && (
            <Button look="primary" icon="add" onClick={() => setEdited('new')}>
              {t('memories.add')}
            </Button>
          )}
        </>
      }
    >
      <HowItWorks />
      <Numbers owner={owner} />
      <section className={styles.panel} aria-label={t('memories.title')}>
        <Filters search={search} onChange={change} />
        {ids.size > 0 && <Bulk owner={owner} ids={ids} onClear={() => setIds(new Set())} />}
        <div className={styles.results}>
          <Results
            // A new list begins at its top.
            key={JSON.stringify([owner, FILTERS.map((name) => search[name]), search.order])}
            owner={owner}
            search={search}
            selection={{ ids, set: setIds }}
            onOpen={(id) => change({ memory: id }, { isStep: true })}
            onEdit={(memory) => canEdit && setEdited(memory)}
          />
        </div>
      </section>
      <MemoryDrawer
        owner={owner}
        id={opened === '' ? null : opened}
        onClose={() => change({ memory: undefined }, { isStep: true })}
        onOpen={(id) => change({ memory: id }, { isStep: true })}
        onEdit={setEdited}
      />
      {edited !== null && (
        <Editor
          owner={owner}
          memory={edited === 'new' ? null : edited}
          onClose={() => setEdited(null)}
        />
      )}
    </Page>
  )
}

type ResultsProps = {
  owner: string
  search: Search
  selection: { ids: ReadonlySet<string>; set: (ids: ReadonlySet<string>) => void }
  onOpen: (id: string) => void
  onEdit: (memory: Memory) => void
}

function Results(props: ResultsProps) {
  const { t } = useI18n()
  const { owner, search } = props
  const found = useFound(owner, search)
  const isNarrowed =
    textIn(search, 'q') !== '' || FILTERS.some((name) => textIn(search, name) !== '')
  const nothing = isNarrowed ? (
    <Empty title={t('memories.nothingFits')} icon="search">
      {t('memories.nothingFitsHelp')}
    </Empty>
  ) : (
    <Empty title={t('memories.empty')}>{t('memories.emptyHelp')}</Empty>
  )
  if (howIn(search) === 'exact' || textIn(search, 'q') === '') {
    return <PagedList {...props} empty={nothing} />
  }
  return (
    <Loaded query={found} lines={10}>
      {({ results, abstained }) => {
        const memories = results
          .map(({ memory }) => memory)
          .filter((memory) => memory !== undefined)
        return memories.length === 0 ? (
          <Empty title={t('memories.nothingFits')} icon="search">
            {abstained ? t('memories.abstained') : t('memories.nothingFitsHelp')}
          </Empty>
        ) : (
          <FoundList {...props} found={memories} />
        )
      }}
    </Loaded>
  )
}

function Bulk({
  owner,
  ids,
  onClear,
}: {
  owner: string
  ids: ReadonlySet<string>
  onClear: () => void
}) {
  const { t } = useI18n()
  const { may } = useSession()
  const actions = useActions(owner)
  const [isAsking, setAsking] = useState(false)
  return (
    <div className={styles.bulk} role="status">
      <strong>{t('memories.selected', { count: ids.size })}</strong>
      {may('curate') && (
        <Button isSmall icon="forget" onClick={() => setAsking(true)}>
          {t('memories.forget')}
        </Button>
      )}
      <Button isSmall look="quiet" onClick={onClear}>
        {t('memories.clearSelection')}
      </Button>
      <Confirm
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={t('memories.forgetTitle', { count: ids.size })}
        description={t('memories.forgetHelp', { days: 30 })}
        action={t('memories.forget')}
        onConfirm={async () => {
          await actions.forget([...ids])
          onClear()
        }}
      />
    </div>
  )
}

const HOW_KEPT_AS = 'recollect.how-it-works'

/** Closed once, it is closed for good. */
function HowItWorks() {
  const { t } = useI18n()
  const [isClosed, setClosed] = useState(() => localStorage.getItem(HOW_KEPT_AS) === 'closed')
  if (isClosed) return null
  const close = () => {
    localStorage.setItem(HOW_KEPT_AS, 'closed')
    setClosed(true)
  }
  return (
    <Notice
      action={<IconButton isSmall icon="close" name={t('memories.howClose')} onClick={close} />}
    >
      <strong>{t('memories.howTitle')}</strong>
      <ol className={styles.how}>
        <li>{t('memories.howWrite')}</li>
        <li>{t('memories.howRead')}</li>
        <li>{t('memories.howCorrect')}</li>
      </ol>
    </Notice>
  )
}

/** How many requests the hit rate looks back on. */
const RECEIPTS = 100

function Numbers({ owner }: { owner: string }) {
  const { t, number } = useI18n()
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
    queryKey: ['engine', 'stats'],
    queryFn: () => data(api.GET('/api/memory/reindex')),
    enabled: useSession().may('manage'),
  })
  const asked = receipts.data?.receipts ?? []
  const given = asked.filter(({ injected }) => injected !== null).length
  const rate = asked.length === 0 ? '–' : number(given / asked.length, { style: 'percent' })
  return (
    <Stats>
      <Stat name={t('memories.statEntries')} value={number(list.data?.stats.total ?? 0)} />
      <Stat name={t('memories.statTokens')} value={number(list.data?.stats.tokensUsed ?? 0)} />
      <Stat name={t('memories.statHitRate')} value={rate} note={t('memories.statHitRateNote')} />
      {engine.data !== undefined && (
        <Stat
          name={t('memories.statUnindexed')}
          value={number(engine.data.pending)}
          note={t('memories.statUnindexedNote')}
        />
      )}
    </Stats>
  )
}
