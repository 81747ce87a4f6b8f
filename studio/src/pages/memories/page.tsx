import { useState } from 'react'
import type { Memory } from '../../api/client.ts'
import { type Search, textIn, useOwner, usePageSearch } from '../../app/search-params.ts'
import { useKeys } from '../../app/shortcuts.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { Empty, Loaded, Notice, Page } from '../../ui/layout.tsx'
import { Bulk } from './bulk-actions.tsx'
import { MemoryDrawer } from './drawer.tsx'
import { Editor } from './editor.tsx'
import { Filters } from './filters.tsx'
import { FoundList, PagedList, type Selection } from './list.tsx'
import { MovingMenu } from './transfer-menu.tsx'
import { Numbers } from './memory-stats.tsx'
import styles from './page.module.css'
import { FILTERS, isFinding, memoriesIn, useFound } from './queries.ts'

export function MemoriesPage() {
  const owner = useOwner()
  // What was selected, or is written, belongs to its owner.
  return <OwnMemories key={owner} owner={owner} />
}

function OwnMemories({ owner }: { owner: string }) {
  const { t } = useI18n()
  const { may } = useSession()
  const [search, change] = usePageSearch()
  const [selected, setSelected] = useState<ReadonlyMap<string, Memory>>(new Map())
  const [edited, setEdited] = useState<Memory | 'new' | null>(null)
  const opened = textIn(search, 'memory')
  const canEdit = may('write')
  useKeys(canEdit ? { n: () => setEdited('new') } : {})
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
        {selected.size > 0 && (
          <Bulk
            owner={owner}
            memories={[...selected.values()]}
            onClear={() => setSelected(new Map())}
          />
        )}
        <div className={styles.results}>
          <Results
            // A new list begins at its top.
            key={JSON.stringify([owner, FILTERS.map((name) => search[name]), search.order])}
            owner={owner}
            search={search}
            selection={canEdit ? { memories: selected, set: setSelected } : null}
            onOpen={(id) => change({ memory: id }, { isStep: true })}
            onEdit={canEdit ? setEdited : null}
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
  selection: Selection | null
  onOpen: (id: string) => void
  onEdit: ((memory: Memory) => void) | null
}

function Results(props: ResultsProps) {
  const { t } = useI18n()
  const { owner, search } = props
  const found = useFound(owner, search)
  const isNarrowed =
    textIn(search, 'q') !== '' || FILTERS.some((name) => textIn(search, name) !== '')
  const nothing = isNarrowed ? (
    <Empty title={t('memories.noMatch')} icon="search">
      {t('memories.noMatchHelp')}
    </Empty>
  ) : (
    <Empty title={t('memories.empty')}>{t('memories.emptyHelp')}</Empty>
  )
  if (!isFinding(search)) return <PagedList {...props} empty={nothing} />
  return (
    <Loaded query={found} lines={10}>
      {({ results, abstained }) => {
        const memories = memoriesIn({ results })
        return memories.length === 0 ? (
          <Empty title={t('memories.noMatch')} icon="search">
            {abstained ? t('memories.abstained') : t('memories.noMatchHelp')}
          </Empty>
        ) : (
          <FoundList {...props} found={memories} />
        )
      }}
    </Loaded>
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
