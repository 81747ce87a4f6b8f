import { useOwner } from '../../app/search-params.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import { Empty, Page } from '../../ui/layout.tsx'
import { EmbeddingCard } from './embedding.tsx'
import { ModelsCard } from './models.tsx'
import styles from './page.module.css'
import { Parts } from './component-list.tsx'
import { QdrantCard } from './qdrant.tsx'
import { ReindexCard } from './vector-index.tsx'
import { RerankCard } from './reranker.tsx'
import { StoreCard } from './store.tsx'
import { Warnings } from './warnings.tsx'

export function EnginePage() {
  const { t } = useI18n()
  const { may } = useSession()
  const owner = useOwner()
  if (!may('manage')) {
    return (
      <Page title={t('engine.title')}>
        <Empty icon="engine" title={t('engine.onlySuperadmins')} />
      </Page>
    )
  }
  return (
    <Page title={t('engine.title')} description={t('engine.description')}>
      <Warnings owner={owner} />
      <Parts owner={owner} />
      <div className={styles.cards}>
        <div className={styles.stack}>
          <EmbeddingCard />
          <ReindexCard />
          <QdrantCard />
        </div>
        <div className={styles.stack}>
          <ModelsCard owner={owner} />
          <RerankCard />
          <StoreCard />
        </div>
      </div>
    </Page>
  )
}
