/** The memories of all owners, for superadmins. Opening one switches to its owner. */
import { useNavigate } from '@tanstack/react-router'
import { useCallback } from 'react'
import { textParam, useSearchParams } from '../../app/search-params.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { EmptyState, ErrorState, LoadingState, Page } from '../../ui/layout.tsx'
import { Filters } from '../memories/filters.tsx'
import { MemoryRows } from '../memories/list.tsx'
import styles from '../memories/page.module.css'
import { FILTERS, orderIn, useAllMemories } from '../memories/queries.ts'

export function AllOwnersPage() {
  const { t } = useI18n()
  const [search, change] = useSearchParams()
  const query = useAllMemories(search)
  const owners = query.data?.pages[0]?.owners
  return (
    <Page
      title={t('shell.allOwners')}
      {...(owners === undefined
        ? {}
        : { description: t('memories.allOwnersHelp', { count: owners }) })}
    >
      <section className={[styles.panel, styles.tall].join(' ')} aria-label={t('shell.allOwners')}>
        <Filters search={search} onChange={change} isAllOwners />
        <div className={styles.results}>
          <Results
            // Remounts the list, so that it starts at the top.
            key={JSON.stringify([FILTERS.map((name) => search[name]), orderIn(search)])}
            query={query}
            isFiltered={['q', ...FILTERS].some((name) => textParam(search, name) !== '')}
          />
        </div>
      </section>
    </Page>
  )
}

function Results({
  query,
  isFiltered,
}: {
  query: ReturnType<typeof useAllMemories>
  isFiltered: boolean
}) {
  const { t } = useI18n()
  const navigate = useNavigate()
  const { data, error, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } =
    query
  const memories = data?.pages.flatMap((page) => page.data) ?? []
  const loaded = memories.length
  const canFetchNext = hasNextPage && !isFetchingNextPage && !isFetchNextPageError
  const onVisibleRows = useCallback(
    ({ last }: { last: number }) => {
      if (canFetchNext && last >= loaded - 1) void fetchNextPage()
    },
    [canFetchNext, loaded, fetchNextPage],
  )
  if (error !== null && loaded === 0) {
    return <ErrorState error={error} onRetry={() => void query.refetch()} />
  }
  if (data === undefined) return <LoadingState lines={10} />
  if (loaded === 0 && !hasNextPage) {
    return isFiltered ? (
      <EmptyState title={t('memories.noMatch')} icon="search">
        {t('memories.noMatchHelp')}
      </EmptyState>
    ) : (
      <EmptyState title={t('memories.allOwnersEmpty')}>
        {t('memories.allOwnersEmptyHelp')}
      </EmptyState>
    )
  }
  return (
    <>
      <MemoryRows
        // One placeholder row represents the next page.
        count={loaded + (hasNextPage ? 1 : 0)}
        rowAt={(index) => memories[index]}
        loadedRows={memories}
        selection={null}
        onEdit={null}
        onOpen={(id) => {
          const owner = memories.find((memory) => memory.id === id)?.owner
          // read by the memories page
          void navigate({ to: '/studio/memories', search: { owner, memory: id } as never })
        }}
        onVisibleRows={onVisibleRows}
        isSearch
        showsOwner
      />
      {isFetchNextPageError && <ErrorState error={error} onRetry={() => void fetchNextPage()} />}
    </>
  )
}
