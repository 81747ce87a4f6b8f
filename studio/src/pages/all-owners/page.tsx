/** The memories of all owners, for superadmins: to find whose something is. What is done to one is done with its owner. */
import { useNavigate } from '@tanstack/react-router'
import { useCallback } from 'react'
import { textIn, usePageSearch } from '../../app/search-params.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Empty, Failure, Loading, Page } from '../../ui/layout.tsx'
import { Filters } from '../memories/filters.tsx'
import { Rows } from '../memories/list.tsx'
import styles from '../memories/page.module.css'
import { FILTERS, orderIn, useEveryone } from '../memories/queries.ts'

export function EveryonePage() {
  const { t } = useI18n()
  const [search, change] = usePageSearch()
  const found = useEveryone(search)
  const owners = found.data?.pages[0]?.owners
  return (
    <Page
      title={t('shell.allOwners')}
      {...(owners === undefined
        ? {}
        : { description: t('memories.allOwnersHelp', { count: owners }) })}
    >
      <section className={[styles.panel, styles.tall].join(' ')} aria-label={t('shell.allOwners')}>
        <Filters search={search} onChange={change} isOfAll />
        <div className={styles.results}>
          <Found
            // A new list begins at its top.
            key={JSON.stringify([FILTERS.map((name) => search[name]), orderIn(search)])}
            found={found}
            isNarrowed={['q', ...FILTERS].some((name) => textIn(search, name) !== '')}
          />
        </div>
      </section>
    </Page>
  )
}

function Found({
  found,
  isNarrowed,
}: {
  found: ReturnType<typeof useEveryone>
  isNarrowed: boolean
}) {
  const { t } = useI18n()
  const navigate = useNavigate()
  const { data, error, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } =
    found
  const memories = data?.pages.flatMap((page) => page.data) ?? []
  const loaded = memories.length
  const isWaiting = hasNextPage && !isFetchingNextPage && !isFetchNextPageError
  const onShown = useCallback(
    ({ last }: { last: number }) => {
      if (isWaiting && last >= loaded - 1) void fetchNextPage()
    },
    [isWaiting, loaded, fetchNextPage],
  )
  if (error !== null && loaded === 0) {
    return <Failure error={error} onRetry={() => void found.refetch()} />
  }
  if (data === undefined) return <Loading lines={10} />
  if (loaded === 0 && !hasNextPage) {
    return isNarrowed ? (
      <Empty title={t('memories.noMatch')} icon="search">
        {t('memories.noMatchHelp')}
      </Empty>
    ) : (
      <Empty title={t('memories.allOwnersEmpty')}>{t('memories.allOwnersEmptyHelp')}</Empty>
    )
  }
  return (
    <>
      <Rows
        // One more stands for what is still to come.
        count={loaded + (hasNextPage ? 1 : 0)}
        rowAt={(index) => memories[index]}
        all={memories}
        selection={null}
        onEdit={null}
        onOpen={(id) => {
          const owner = memories.find((memory) => memory.id === id)?.owner
          // Every page has an owner, and this one reads what is opened.
          void navigate({ to: '/studio/memories', search: { owner, memory: id } as never })
        }}
        onShown={onShown}
        isSearch
        namesOwner
      />
      {isFetchNextPageError && <Failure error={error} onRetry={() => void fetchNextPage()} />}
    </>
  )
}
