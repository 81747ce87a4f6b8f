import { useOwner } from '../../app/search-params.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import { EmptyState, Page } from '../../ui/layout.tsx'
import { ComponentList } from './component-list.tsx'
import { EmbeddingCard } from './embedding.tsx'
import { ModelsCard } from './models.tsx'
import styles from './page.module.css'
import { QdrantCard } from './qdrant.tsx'
import { RerankerCard } from './reranker.tsx'
import { StoreCard } from './store.tsx'
import { VectorIndexCard } from './vector-index.tsx'
import { Warnings } from './warnings.tsx'

export function EnginePage() {
  const { t } = useI18n()
  const { can } = useSession()
  const owner = useOwner()
  if (!can('manage')) {
    return (
      <Page title={t('engine.title')}>
        <EmptyState icon="engine" title={t('engine.onlySuperadmins')} />
      </Page>
    )
  }
  return (
    <Page title={t('engine.title')} description={t('engine.description')}>
      <Warnings owner={owner} />
      <ComponentList owner={owner} />
      <div className={styles.cards}>
        <div className={styles.stack}>
          <EmbeddingCard />
          <VectorIndexCard />
          <QdrantCard />
        </div>
        <div className={styles.stack}>
          <ModelsCard owner={owner} />
          <RerankerCard />
          <StoreCard />
        </div>
      </div>
    </Page>
  )
}
