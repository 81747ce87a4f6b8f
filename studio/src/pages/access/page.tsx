import { usePageSearch } from '../../app/search-params.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import { Empty, Page } from '../../ui/layout.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Keys } from './keys.tsx'
import { Owners } from './owners.tsx'

type Shown = 'keys' | 'owners'

export function AccessPage() {
  const { t } = useI18n()
  const { may } = useSession()
  const [search, change] = usePageSearch()
  if (!may('manage')) {
    return (
      <Page title={t('access.title')}>
        <Empty icon="access" title={t('access.onlySuperadmins')} />
      </Page>
    )
  }
  return (
    <Page title={t('access.title')} description={t('access.description')}>
      <Tabs<Shown>
        label={t('access.title')}
        chosen={search.show === 'owners' ? 'owners' : 'keys'}
        onChoose={(show) =>
          change({ show: show === 'owners' ? show : undefined }, { isStep: true })
        }
        tabs={[
          { name: 'keys', text: t('access.keys'), content: <Keys /> },
          { name: 'owners', text: t('access.owners'), content: <Owners /> },
        ]}
      />
    </Page>
  )
}
