import { useState } from 'react'
import type { Memory } from '../../api/client.ts'
import { textIn, useOwner, usePageSearch } from '../../app/search-params.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Page } from '../../ui/layout.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { MemoryDrawer } from '../memories/drawer.tsx'
import { Editor } from '../memories/editor.tsx'
import { EntityGraph } from './entity-view.tsx'
import { MemoriesMap } from './memory-map.tsx'

type View = 'memories' | 'entities'

export function MapPage() {
  const { t } = useI18n()
  const owner = useOwner()
  const [search, change] = usePageSearch()
  const [edited, setEdited] = useState<Memory | null>(null)
  const opened = textIn(search, 'memory')
  const open = (memory: string) => change({ memory }, { isStep: true })
  const view: View = search.view === 'entities' ? 'entities' : 'memories'
  const parts = { owner, search, change, onOpen: open }
  return (
    <Page title={t('map.title')} description={t('map.description')}>
      <Tabs<View>
        label={t('map.views')}
        chosen={view}
        onChoose={(chosen) =>
          change({ view: chosen === 'memories' ? undefined : chosen }, { isStep: true })
        }
        tabs={[
          {
            name: 'memories',
            text: t('map.memories'),
            content: <MemoriesMap key={owner} {...parts} />,
          },
          {
            name: 'entities',
            text: t('map.entities'),
            content: <EntityGraph key={owner} {...parts} />,
          },
        ]}
      />
      <MemoryDrawer
        owner={owner}
        id={opened === '' ? null : opened}
        onClose={() => change({ memory: undefined }, { isStep: true })}
        onOpen={open}
        onEdit={setEdited}
      />
      {edited !== null && <Editor owner={owner} memory={edited} onClose={() => setEdited(null)} />}
    </Page>
  )
}
