import type { ComponentProps, ReactNode } from 'react'
import { textIn, useOwner, usePageSearch } from '../../app/search-params.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import type { IconName } from '../../ui/icon.tsx'
import { LoadMore } from '../../ui/load-more.tsx'
import { Empty, Failure, Loading, Notice, Page } from '../../ui/layout.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { ConflictCard } from './conflict.tsx'
import styles from './page.module.css'
import { useConflicts, useSuspects } from './queries.ts'
import { SuspectCard } from './suspect.tsx'

type Part = 'suspects' | 'conflicts'

export function ReviewPage() {
  const { t } = useI18n()
  const { may } = useSession()
  const owner = useOwner()
  const [search, change] = usePageSearch()
  const suspects = useSuspects(owner)
  const conflicts = useConflicts(owner)
  const waiting = suspects.data?.pages.flatMap(({ memories }) => memories)
  const open = conflicts.data?.pages.flatMap((page) => page.conflicts)
  const part: Part = textIn(search, 'part') === 'conflicts' ? 'conflicts' : 'suspects'
  return (
    <Page title={t('review.title')} description={t('review.description')}>
      {!may('curate') && <Notice>{t('review.readOnly')}</Notice>}
      <Tabs<Part>
        label={t('review.title')}
        chosen={part}
        onChoose={(chosen) => change({ part: chosen === 'suspects' ? undefined : chosen })}
        tabs={[
          {
            name: 'suspects',
            text: named(t('review.suspects'), waiting?.length, suspects.hasNextPage),
            content: (
              <Pages
                query={suspects}
                help={t('review.suspectsHelp')}
                isEmpty={waiting?.length === 0}
              >
                {waiting?.length === 0 ? (
                  <Nothing
                    icon="review"
                    title={t('review.suspectsEmpty')}
                    help={t('review.suspectsEmptyHelp')}
                  />
                ) : (
                  waiting?.map((memory) => (
                    <SuspectCard key={memory.id} owner={owner} memory={memory} />
                  ))
                )}
              </Pages>
            ),
          },
          {
            name: 'conflicts',
            text: named(t('review.conflicts'), open?.length, conflicts.hasNextPage),
            content: (
              <Pages
                query={conflicts}
                help={t('review.conflictsHelp')}
                isEmpty={open?.length === 0}
              >
                {open?.length === 0 && !conflicts.hasNextPage ? (
                  <Nothing
                    icon="check"
                    title={t('review.conflictsEmpty')}
                    help={t('review.conflictsEmptyHelp')}
                  />
                ) : (
                  open?.map((conflict) => (
                    <ConflictCard key={conflict.memory.id} owner={owner} conflict={conflict} />
                  ))
                )}
              </Pages>
            ),
          },
        ]}
      />
    </Page>
  )
}

function named(name: string, count: number | undefined, isMore: boolean): string {
  if (count === undefined || count === 0) return name
  return `${name} (${count}${isMore ? '+' : ''})`
}

type Paged = ComponentProps<typeof LoadMore>['query'] & {
  readonly data: unknown
  readonly refetch: () => unknown
}

function Pages({
  query,
  help,
  isEmpty,
  children,
}: {
  query: Paged
  help: string
  isEmpty: boolean
  children: ReactNode
}) {
  if (query.data === undefined) {
    return query.error === null ? (
      <Loading lines={8} />
    ) : (
      <Failure error={query.error} onRetry={() => void query.refetch()} />
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

function Nothing({ icon, title, help }: { icon: IconName; title: string; help: string }) {
  return (
    <div className={styles.nothing}>
      <Empty title={title} icon={icon}>
        {help}
      </Empty>
    </div>
  )
}
