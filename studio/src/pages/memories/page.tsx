import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import type { Memory } from '../../api/client.ts'
import { type SearchParams, textParam, useOwner, useSearchParams } from '../../app/search-params.ts'
import { useSession } from '../../app/session.tsx'
import { useShortcuts } from '../../app/shortcuts.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { EmptyState, Notice, Page, QueryResult } from '../../ui/layout.tsx'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { Filters } from './filters.tsx'
import { LazyEditor, LazyMemoryPanel } from './lazy-parts.tsx'
import { PagedMemoryList, RankedMemoryList, type RowStep, type Selection } from './list.tsx'
import { MemoryStats } from './memory-stats.tsx'
import styles from './page.module.css'
import { FILTERS, isRankedSearch, listPage, RESULTS_MAX, useMemorySearch } from './queries.ts'
import { TransferMenu } from './transfer-menu.tsx'

const Onboarding = lazyPart(async () => (await import('../start/onboarding.tsx')).Onboarding)
const BulkActions = lazyPart(async () => (await import('./bulk-actions.tsx')).BulkActions)
const ImportDialog = lazyPart(async () => (await import('./import-dialog.tsx')).ImportDialog)

export function MemoriesPage() {
  const owner = useOwner()
  // Remounts for each owner, which resets selection and editor.
  return <OwnerMemories key={owner} owner={owner} />
}

function OwnerMemories({ owner }: { owner: string }) {
  const { t } = useI18n()
  const { can } = useSession()
  const [search, change] = useSearchParams()
  const [selected, setSelected] = useState<ReadonlyMap<string, Memory>>(new Map())
  const [editing, setEditing] = useState<Memory | 'new' | null>(null)
  const openId = textParam(search, 'memory')
  const canEdit = can('write')
  // Opened by the command palette as well.
  const dialog = textParam(search, 'dialog')
  const closeDialog = () => change({ dialog: undefined })
  const step: RowStep = useRef(null)
  const filterKey = JSON.stringify(['q', 'mode', ...FILTERS].map((name) => search[name]))
  useShortcuts(canEdit ? { n: () => setEditing('new') } : {})
  return (
    <Page
      title={t('memories.title')}
      actions={
        <>
          <TransferMenu owner={owner} search={search} />
          {can('curate') && (
            <Button icon="import" onClick={() => change({ dialog: 'import' })}>
              {t('memories.import')}
            </Button>
          )}
          {canEdit && (
            <Button look="primary" icon="add" onClick={() => setEditing('new')}>
              {t('memories.add')}
            </Button>
          )}
        </>
      }
    >
      <HowItWorks />
      <MemoryStats owner={owner} />
      <section className={styles.panel} aria-label={t('memories.title')}>
        <Filters search={search} onChange={change} />
        <ResultCount owner={owner} search={search} />
        {selected.size > 0 && (
          <BulkActions
            // All that match are others when the filters change.
            key={filterKey}
            owner={owner}
            search={search}
            memories={[...selected.values()]}
            onClear={() => setSelected(new Map())}
          />
        )}
        <div className={styles.results}>
          <Results
            // Remounts the list, so that it starts at the top.
            key={JSON.stringify([owner, FILTERS.map((name) => search[name]), search.order])}
            owner={owner}
            search={search}
            step={step}
            selection={can('curate') ? { memories: selected, set: setSelected } : null}
            onOpen={(id) => change({ memory: id }, { isPush: true })}
            onEdit={canEdit ? setEditing : null}
          />
        </div>
      </section>
      <LazyMemoryPanel
        owner={owner}
        id={openId === '' ? null : openId}
        step={(by) => step.current?.(by)}
        onClose={() => change({ memory: undefined, panel: undefined }, { isPush: true })}
        onOpen={(id) => change({ memory: id }, { isPush: true })}
        onEdit={setEditing}
      />
      {(editing !== null || (dialog === 'add' && canEdit)) && (
        <LazyEditor
          owner={owner}
          memory={editing === 'new' ? null : editing}
          onClose={() => {
            setEditing(null)
            closeDialog()
          }}
        />
      )}
      {dialog === 'import' && can('curate') && <ImportDialog owner={owner} onClose={closeDialog} />}
    </Page>
  )
}

type ResultsProps = {
  owner: string
  search: SearchParams
  step: RowStep
  selection: Selection | null
  onOpen: (id: string) => void
  onEdit: ((memory: Memory) => void) | null
}

function Results(props: ResultsProps) {
  const { t } = useI18n()
  const { owner, search } = props
  const searchQuery = useMemorySearch(owner, search)
  const isFiltered =
    textParam(search, 'q') !== '' || FILTERS.some((name) => textParam(search, name) !== '')
  const emptyState = isFiltered ? (
    <EmptyState title={t('memories.noMatch')} icon="search">
      {t('memories.noMatchHelp')}
    </EmptyState>
  ) : (
    <Onboarding owner={owner} />
  )
  if (!isRankedSearch(search)) return <PagedMemoryList {...props} empty={emptyState} />
  return (
    <QueryResult query={searchQuery} lines={10}>
      {({ memories, weakIds }) =>
        memories.length === 0 ? (
          <EmptyState title={t('memories.noMatch')} icon="search">
            {t('memories.noMatchHelp')}
          </EmptyState>
        ) : (
          <RankedMemoryList {...props} results={memories} weakIds={weakIds} />
        )
      }
    </QueryResult>
  )
}

/** The number of results of a search or of filters. */
function ResultCount({ owner, search }: { owner: string; search: SearchParams }) {
  const { t, number } = useI18n()
  const [, change] = useSearchParams()
  const isRanked = isRankedSearch(search)
  const list = useQuery({ ...listPage(owner, search, 0), enabled: !isRanked })
  const ranked = useMemorySearch(owner, search)
  const hasFilter = ['q', ...FILTERS].some((name) => textParam(search, name) !== '')
  if (!hasFilter) return null
  const count = isRanked ? ranked.data?.memories.length : list.data?.total
  if (count === undefined) return null
  if (!isRanked || count < RESULTS_MAX) {
    return <p className={styles.count}>{t('memories.resultCount', { count })}</p>
  }
  return (
    <p className={styles.count}>
      {t('memories.bestResults', { count: number(count) })}
      <Button isSmall look="quiet" onClick={() => change({ mode: 'exact' })}>
        {t('memories.showExact')}
      </Button>
    </p>
  )
}

const DISMISSED_KEY = 'recollect.how-it-works'

/** Stays dismissed in this browser. */
function HowItWorks() {
  const { t } = useI18n()
  const [isClosed, setClosed] = useState(() => localStorage.getItem(DISMISSED_KEY) === 'closed')
  if (isClosed) return null
  const close = () => {
    localStorage.setItem(DISMISSED_KEY, 'closed')
    setClosed(true)
  }
  return (
    <Notice
      action={<IconButton isSmall icon="close" name={t('memories.howDismiss')} onClick={close} />}
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
