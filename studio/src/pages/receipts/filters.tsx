import { type Search, textIn } from '../../app/search-params.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { CommittedField } from '../../ui/commit-field.tsx'
import { Select } from '../../ui/field.tsx'
import styles from './filters.module.css'
import { FILTERS, REASONS } from './queries.ts'

export function Filters({
  search,
  onChange,
  models,
}: {
  search: Search
  onChange: (changes: Search) => void
  /** Those that were asked in the period. */
  models: readonly string[]
}) {
  const { t } = useI18n()
  const model = textIn(search, 'model')
  const isNarrowed = FILTERS.some((name) => textIn(search, name) !== '')
  const known = model === '' || models.includes(model) ? models : [...models, model]
  const set = (name: string) => (value: string) => onChange({ [name]: value || undefined })
  return (
    <div className={styles.filters}>
      <Select
        label={t('receipts.filterResult')}
        value={textIn(search, 'skipped')}
        onChoose={set('skipped')}
        options={[
          { value: '', text: t('receipts.any') },
          ...Object.entries(REASONS).map(([value, name]) => ({ value, text: t(name) })),
        ]}
      />
      <Select
        label={t('receipts.filterModel')}
        value={model}
        onChoose={set('model')}
        options={[
          { value: '', text: t('receipts.any') },
          ...known.map((value) => ({ value, text: value })),
        ]}
      />
      <CommittedField
        label={t('receipts.filterUser')}
        value={textIn(search, 'user')}
        onCommit={set('user')}
      />
      <CommittedField
        label={t('receipts.filterSession')}
        value={textIn(search, 'sessionId')}
        onCommit={set('sessionId')}
      />
      <Button
        look="quiet"
        disabled={!isNarrowed}
        onClick={() => onChange(Object.fromEntries(FILTERS.map((name) => [name, undefined])))}
      >
        {t('receipts.clearFilters')}
      </Button>
    </div>
  )
}
