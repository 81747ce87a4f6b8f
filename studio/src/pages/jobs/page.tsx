import { textParam, useOwner, useSearchParams } from '../../app/search-params.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Page } from '../../ui/layout.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Consolidation } from './consolidation.tsx'
import { Learning } from './learning.tsx'
import { Queue } from './queue.tsx'

const TABS = ['queue', 'consolidation', 'learning'] as const
type JobsTab = (typeof TABS)[number]

export function JobsPage() {
  const { t } = useI18n()
  const owner = useOwner()
  const [search, change] = useSearchParams()
  const tab = TABS.find((each) => each === textParam(search, 'tab')) ?? 'queue'
  return (
    <Page title={t('jobs.title')} description={t('jobs.description')}>
      <Tabs<JobsTab>
        label={t('jobs.title')}
        value={tab}
        onValueChange={(chosen) => change({ tab: chosen === 'queue' ? undefined : chosen })}
        tabs={[
          {
            name: 'queue',
            text: t('jobs.queue'),
            content: <Queue owner={owner} search={search} onChange={change} />,
          },
          {
            name: 'consolidation',
            text: t('jobs.consolidation'),
            content: <Consolidation key={owner} owner={owner} />,
          },
          { name: 'learning', text: t('jobs.learning'), content: <Learning owner={owner} /> },
        ]}
      />
    </Page>
  )
}
