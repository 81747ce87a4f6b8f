import { useState } from 'react'
import type { Memory } from '../../api/client.ts'
import { textParam, useOwner, useSearchParams } from '../../app/search-params.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Page } from '../../ui/layout.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Editor } from '../memories/editor.tsx'
import { MemoryPanel } from '../memories/memory-panel.tsx'
import { EntityView } from './entity-view.tsx'
import { MemoryMap } from './memory-map.tsx'

type View = 'memories' | 'entities'

export function MapPage() {
  const { t } = useI18n()
  const owner = useOwner()
  const [search, change] = useSearchParams()
  const [editing, setEditing] = useState<Memory | null>(null)
  const openId = textParam(search, 'memory')
  const open = (memory: string) => change({ memory }, { isPush: true })
  const view: View = search.view === 'entities' ? 'entities' : 'memories'
  const viewProps = { owner, search, change, onOpen: open }
  return (
    <Page title={t('map.title')} description={t('map.description')}>
      <Tabs<View>
        label={t('map.views')}
        value={view}
        onValueChange={(chosen) =>
          change({ view: chosen === 'memories' ? undefined : chosen }, { isPush: true })
        }
        tabs={[
          {
            name: 'memories',
            text: t('map.memories'),
            content: <MemoryMap key={owner} {...viewProps} />,
          },
          {
            name: 'entities',
            text: t('map.entities'),
            content: <EntityView key={owner} {...viewProps} />,
          },
        ]}
      />
      <MemoryPanel
        owner={owner}
        id={openId === '' ? null : openId}
        onClose={() => change({ memory: undefined, panel: undefined }, { isPush: true })}
        onOpen={open}
        onEdit={setEditing}
      />
      {editing !== null && (
        <Editor owner={owner} memory={editing} onClose={() => setEditing(null)} />
      )}
    </Page>
  )
}
