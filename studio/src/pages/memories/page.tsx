import { useState } from 'react'
import type { Memory } from '../../api/client.ts'
import { type SearchParams, textParam, useOwner, useSearchParams } from '../../app/search-params.ts'
import { useSession } from '../../app/session.tsx'
import { useShortcuts } from '../../app/shortcuts.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { EmptyState, Notice, Page, QueryResult } from '../../ui/layout.tsx'
import { GetStarted } from '../start/get-started.tsx'
import { BulkActions } from './bulk-actions.tsx'
import { MemoryDrawer } from './drawer.tsx'
import { Editor } from './editor.tsx'
import { Filters } from './filters.tsx'
import { PagedMemoryList, SearchResults, type Selection } from './list.tsx'
import { MemoryStats } from './memory-stats.tsx'
import styles from './page.module.css'
import { FILTERS, isRankedSearch, memoriesIn, useMemorySearch } from './queries.ts'
import { TransferMenu } from './transfer-menu.tsx'

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
  useShortcuts(canEdit ? { n: () => setEditing('new') } : {})
  return (
    <Page
      title={t('memories.title')}
      actions={
        <>
          <TransferMenu owner={owner} search={search} />
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
        {selected.size > 0 && (
          <BulkActions
            owner={owner}
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
            selection={canEdit ? { memories: selected, set: setSelected } : null}
            onOpen={(id) => change({ memory: id }, { isPush: true })}
            onEdit={canEdit ? setEditing : null}
          />
        </div>
      </section>
      <MemoryDrawer
        owner={owner}
        id={openId === '' ? null : openId}
        onClose={() => change({ memory: undefined }, { isPush: true })}
        onOpen={(id) => change({ memory: id }, { isPush: true })}
        onEdit={setEditing}
      />
      {editing !== null && (
        <Editor
          owner={owner}
          memory={editing === 'new' ? null : editing}
          onClose={() => setEditing(null)}
        />
      )}
    </Page>
  )
}

type ResultsProps = {
  owner: string
  search: SearchParams
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
    <GetStarted owner={owner} />
  )
  if (!isRankedSearch(search)) return <PagedMemoryList {...props} empty={emptyState} />
  return (
    <QueryResult query={searchQuery} lines={10}>
      {({ results, abstained }) => {
        const memories = memoriesIn({ results })
        return memories.length === 0 ? (
          <EmptyState title={t('memories.noMatch')} icon="search">
            {abstained ? t('memories.abstained') : t('memories.noMatchHelp')}
          </EmptyState>
        ) : (
          <SearchResults {...props} results={memories} />
        )
      }}
    </QueryResult>
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
