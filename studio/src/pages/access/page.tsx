import { useSearchParams } from '../../app/search-params.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import { EmptyState, Page } from '../../ui/layout.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Keys } from './keys.tsx'
import { Owners } from './owners.tsx'

type AccessTab = 'keys' | 'owners'

export function AccessPage() {
  const { t } = useI18n()
  const { can } = useSession()
  const [search, change] = useSearchParams()
  if (!can('manage')) {
    return (
      <Page title={t('access.title')}>
        <EmptyState icon="access" title={t('access.onlySuperadmins')} />
      </Page>
    )
  }
  return (
    <Page title={t('access.title')} description={t('access.description')}>
      <Tabs<AccessTab>
        label={t('access.title')}
        value={search.tab === 'owners' ? 'owners' : 'keys'}
        onValueChange={(tab) =>
          change({ tab: tab === 'owners' ? tab : undefined }, { isPush: true })
        }
        tabs={[
          { name: 'keys', text: t('access.keys'), content: <Keys /> },
          { name: 'owners', text: t('access.owners'), content: <Owners /> },
        ]}
      />
    </Page>
  )
}
