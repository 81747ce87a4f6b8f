import { type ComponentProps, type ReactNode, useState } from 'react'
import type { Memory } from '../../api/client.ts'
import { textParam, useOwner, useSearchParams } from '../../app/search-params.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Checkbox } from '../../ui/field.tsx'
import type { IconName } from '../../ui/icon.tsx'
import { EmptyState, ErrorState, LoadingState, Notice, Page } from '../../ui/layout.tsx'
import { LoadMore } from '../../ui/load-more.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { ConflictCard } from './conflict.tsx'
import styles from './page.module.css'
import { type ReviewReason, useConflicts, useReviewActions, useSuspects } from './queries.ts'
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
  const reasons = Object.assign({}, ...(suspects.data?.pages.map((page) => page.reasons) ?? []))
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
                  <Suspects
                    owner={owner}
                    memories={suspectMemories ?? []}
                    reasonOf={(id) => reasons[id] ?? 'marked'}
                  />
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

/** The suspect memories, and the actions for those that are selected. */
function Suspects({
  owner,
  memories,
  reasonOf,
}: {
  owner: string
  memories: readonly Memory[]
  reasonOf: (id: string) => ReviewReason
}) {
  const { t } = useI18n()
  const { can } = useSession()
  const { decideMany } = useReviewActions(owner)
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [isApproving, setApproving] = useState(false)
  const ids = memories.flatMap(({ id }) => (selected.has(id) ? [id] : []))
  const toggle = (id: string) =>
    setSelected((before) => {
      const next = new Set(before)
      if (!next.delete(id)) next.add(id)
      return next
    })
  const decide = (isApproved: boolean) => {
    setSelected(new Set())
    return decideMany(ids, isApproved)
  }
  return (
    <>
      {can('curate') && memories.length > 1 && (
        <div className={styles.selection}>
          <Checkbox
            name={t('review.selectAll')}
            isOn={ids.length === memories.length}
            isMixed={ids.length > 0 && ids.length < memories.length}
            onCheckedChange={(isOn) =>
              setSelected(new Set(isOn ? memories.map(({ id }) => id) : []))
            }
          />
          <span>{t('review.selected', { count: ids.length })}</span>
          {ids.length > 0 && (
            <>
              <Button
                isSmall
                icon="check"
                onClick={() =>
                  ids.some((id) => reasonOf(id) === 'instruction')
                    ? setApproving(true)
                    : void decide(true)
                }
              >
                {t('review.approve')} ({ids.length})
              </Button>
              <Button isSmall icon="close" onClick={() => void decide(false)}>
                {t('review.reject')} ({ids.length})
              </Button>
            </>
          )}
        </div>
      )}
      {memories.map((memory) => (
        <SuspectCard
          key={memory.id}
          owner={owner}
          memory={memory}
          reason={reasonOf(memory.id)}
          isSelected={selected.has(memory.id)}
          onSelect={() => toggle(memory.id)}
        />
      ))}
      <Confirm
        isOpen={isApproving}
        onClose={() => setApproving(false)}
        title={t('review.approveTitle')}
        description={t('review.approveHelp')}
        action={t('review.approve')}
        onConfirm={() => decide(true)}
      />
    </>
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
