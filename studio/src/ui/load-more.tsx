import { useI18n } from '../i18n/i18n.tsx'
import { Button } from './button.tsx'
import styles from './layout.module.css'
import { Notice } from './layout.tsx'

/** The button that loads the next page, with the error if the last attempt failed. */
export function LoadMore({
  query,
}: {
  query: {
    readonly error: Error | null
    readonly hasNextPage: boolean
    readonly isFetchingNextPage: boolean
    readonly isFetchNextPageError: boolean
    readonly fetchNextPage: () => unknown
  }
}) {
  const { t } = useI18n()
  if (!query.hasNextPage) return null
  return (
    <div className={styles.more}>
      {query.isFetchNextPageError && <Notice tone="bad">{query.error?.message}</Notice>}
      <Button isBusy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        {t('common.showMore')}
      </Button>
    </div>
  )
}
