import { useState } from 'react'
import type { Memory } from '../../api/client.ts'
import { textParam, useOwner, useSearchParams } from '../../app/search-params.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { LoadingState, Page } from '../../ui/layout.tsx'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { LazyEditor, LazyMemoryPanel } from '../memories/lazy-parts.tsx'

const MemoryMap = lazyPart(
  async () => (await import('./memory-map.tsx')).MemoryMap,
  <LoadingState />,
)
const EntityView = lazyPart(
  async () => (await import('./entity-view.tsx')).EntityView,
  <LoadingState />,
)

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
      <LazyMemoryPanel
        owner={owner}
        id={openId === '' ? null : openId}
        onClose={() => change({ memory: undefined, panel: undefined }, { isPush: true })}
        onOpen={open}
        onEdit={setEditing}
      />
      {editing !== null && (
        <LazyEditor owner={owner} memory={editing} onClose={() => setEditing(null)} />
      )}
    </Page>
  )
}
