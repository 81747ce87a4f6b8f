import type { ComponentProps, ReactNode } from 'react'
import { textParam, useOwner, useSearchParams } from '../../app/search-params.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import type { IconName } from '../../ui/icon.tsx'
import { EmptyState, ErrorState, LoadingState, Notice, Page } from '../../ui/layout.tsx'
import { LoadMore } from '../../ui/load-more.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { ConflictCard } from './conflict.tsx'
import styles from './page.module.css'
import { useConflicts, useSuspects } from './queries.ts'
import { SuspectCard } from './suspect.tsx'

type ReviewTab = 'suspects' | 'conflicts'

export function ReviewPage() {
  const { t } = useI18n()
  const { can } = useSession()
  const owner = useOwner()
  const [search, change] = useSearchParams()
  const suspects = useSuspects(owner)
  const conflicts = useConflicts(owner)
  const suspectMemories = suspects.data?.pages.flatMap(({ memories }) => memories)
  const openConflicts = conflicts.data?.pages.flatMap((page) => page.conflicts)
  const tab: ReviewTab = textParam(search, 'tab') === 'conflicts' ? 'conflicts' : 'suspects'
  return (
    <Page title={t('review.title')} description={t('review.description')}>
      {!can('curate') && <Notice>{t('review.readOnly')}</Notice>}
      <Tabs<ReviewTab>
        label={t('review.title')}
        value={tab}
        onValueChange={(chosen) => change({ tab: chosen === 'suspects' ? undefined : chosen })}
        tabs={[
          {
            name: 'suspects',
            text: withCount(t('review.suspects'), suspectMemories?.length, suspects.hasNextPage),
            content: (
              <PagedCards
                query={suspects}
                help={t('review.suspectsHelp')}
                isEmpty={suspectMemories?.length === 0}
              >
                {suspectMemories?.length === 0 ? (
                  <NoEntries
                    icon="review"
                    title={t('review.suspectsEmpty')}
                    help={t('review.suspectsEmptyHelp')}
                  />
                ) : (
                  suspectMemories?.map((memory) => (
                    <SuspectCard key={memory.id} owner={owner} memory={memory} />
                  ))
                )}
              </PagedCards>
            ),
          },
          {
            name: 'conflicts',
            text: withCount(t('review.conflicts'), openConflicts?.length, conflicts.hasNextPage),
            content: (
              <PagedCards
                query={conflicts}
                help={t('review.conflictsHelp')}
                isEmpty={openConflicts?.length === 0}
              >
                {openConflicts?.length === 0 && !conflicts.hasNextPage ? (
                  <NoEntries
                    icon="check"
                    title={t('review.conflictsEmpty')}
                    help={t('review.conflictsEmptyHelp')}
                  />
                ) : (
                  openConflicts?.map((conflict) => (
                    <ConflictCard key={conflict.memory.id} owner={owner} conflict={conflict} />
                  ))
                )}
              </PagedCards>
            ),
          },
        ]}
      />
    </Page>
  )
}

function withCount(name: string, count: number | undefined, isMore: boolean): string {
  if (count === undefined || count === 0) return name
  return `${name} (${count}${isMore ? '+' : ''})`
}

type PagedQuery = ComponentProps<typeof LoadMore>['query'] & {
  readonly data: unknown
  readonly refetch: () => unknown
}

function PagedCards({
  query,
  help,
  isEmpty,
  children,
}: {
  query: PagedQuery
  help: string
  isEmpty: boolean
  children: ReactNode
}) {
  if (query.data === undefined) {
    return query.error === null ? (
      <LoadingState lines={8} />
    ) : (
      <ErrorState error={query.error} onRetry={() => void query.refetch()} />
    )
  }
  return (
    <div className={styles.cards}>
      {!isEmpty && <p className={styles.soft}>{help}</p>}
      {children}
      <LoadMore query={query} />
    </div>
  )
}

function NoEntries({ icon, title, help }: { icon: IconName; title: string; help: string }) {
  return (
    <div className={styles.nothing}>
      <EmptyState title={title} icon={icon}>
        {help}
      </EmptyState>
    </div>
  )
}
