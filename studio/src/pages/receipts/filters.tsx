import { type SearchParams, textParam } from '../../app/search-params.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { CommitField } from '../../ui/commit-field.tsx'
import { Select } from '../../ui/field.tsx'
import styles from './filters.module.css'
import { FILTERS, REASONS } from './queries.ts'

export function Filters({
  search,
  onChange,
  models,
}: {
  search: SearchParams
  onChange: (changes: SearchParams) => void
  /** The models of the selected period. */
  models: readonly string[]
}) {
  const { t } = useI18n()
  const model = textParam(search, 'model')
  const isFiltered = FILTERS.some((name) => textParam(search, name) !== '')
  const known = model === '' || models.includes(model) ? models : [...models, model]
  const set = (name: string) => (value: string) => onChange({ [name]: value || undefined })
  return (
    <div className={styles.filters}>
      <CommitField
        label={t('receipts.question')}
        value={textParam(search, 'q')}
        data-search
        onCommit={set('q')}
      />
      <Select
        label={t('receipts.filterResult')}
        value={textParam(search, 'skipped')}
        onValueChange={set('skipped')}
        options={[
          { value: '', text: t('receipts.any') },
          ...Object.entries(REASONS).map(([value, name]) => ({ value, text: t(name) })),
        ]}
      />
      <Select
        label={t('receipts.filterModel')}
        value={model}
        onValueChange={set('model')}
        options={[
          { value: '', text: t('receipts.any') },
          ...known.map((value) => ({ value, text: value })),
        ]}
      />
      <CommitField
        label={t('receipts.filterUser')}
        value={textParam(search, 'user')}
        onCommit={set('user')}
      />
      <CommitField
        label={t('receipts.filterSession')}
        value={textParam(search, 'sessionId')}
        onCommit={set('sessionId')}
      />
      <Button
        look="quiet"
        disabled={!isFiltered}
        onClick={() => onChange(Object.fromEntries(FILTERS.map((name) => [name, undefined])))}
      >
        {t('receipts.clearFilters')}
      </Button>
    </div>
  )
}
