import { useState } from 'react'
import { type SearchParams, textParam } from '../../app/search-params.ts'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Select, TextField } from '../../ui/field.tsx'
import { Chip } from '../../ui/layout.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import styles from './filters.module.css'
import { ANY_STATUS, CATEGORIES, SOURCES, STATUSES, TRUSTS, TYPES } from './memory-fields.ts'
import {
  FILTERS,
  isRankedSearch,
  ORDER_LABELS,
  ORDERS,
  type Order,
  orderIn,
  orderParams,
  SEARCH_MODES,
  type SearchMode,
  searchModeIn,
} from './queries.ts'

/** The filter shows active memories by default. */
const OTHER_STATUSES = STATUSES.filter((status) => status !== 'active')

const SEARCH_MODE_NAMES: Record<SearchMode, MessageKey> = {
  exact: 'memories.searchExact',
  hybrid: 'memories.searchHybrid',
  semantic: 'memories.searchSemantic',
  keyword: 'memories.searchKeyword',
}

type FiltersProps = {
  search: SearchParams
  onChange: (changes: SearchParams) => void
  /** Search modes, users and sessions exist only for a single owner. */
  isAllOwners?: boolean
}

/** Ranked search results are ordered by relevance. */
function OrderSelect({ search, onChange, isAllOwners = false }: FiltersProps) {
  const { t } = useI18n()
  const label = t('memories.sort')
  if (isRankedSearch(search) && !isAllOwners) {
    const options = [{ value: 'best', text: t('memories.sortRelevance') }]
    return (
      <Select label={label} isLabelHidden disabled onValueChange={() => {}} options={options} />
    )
  }
  return (
    <Select
      label={label}
      isLabelHidden
      value={orderIn(search)}
      onValueChange={(order) => onChange(orderParams(order as Order))} // one of `ORDERS`
      options={ORDERS.map((order) => ({ value: order, text: t(ORDER_LABELS[order]) }))}
    />
  )
}

export function Filters({ search, onChange, isAllOwners = false }: FiltersProps) {
  const { t } = useI18n()
  const [isOpen, setOpen] = useState(false)
  const active = FILTERS.filter((name) => textParam(search, name) !== '').length
  const selectField = (
    name: (typeof FILTERS)[number],
    label: MessageKey,
    values: readonly string[],
    firstOptions = [{ value: '', text: t('common.all') }],
  ) => (
    <Select
      label={t(label)}
      value={textParam(search, name)}
      onValueChange={(value) =>
        onChange({ [name]: value === '' ? undefined : value, row: undefined })
      }
      options={[...firstOptions, ...values.map((value) => ({ value, text: value }))]}
    />
  )
  const textField = (name: (typeof FILTERS)[number], label: MessageKey, type = 'text') => (
    <TextField
      label={t(label)}
      type={type}
      defaultValue={textParam(search, name)}
      key={`${name}:${textParam(search, name)}`}
      onBlur={({ target }) => onChange({ [name]: target.value || undefined, row: undefined })}
      onKeyDown={({ key, currentTarget }) => key === 'Enter' && currentTarget.blur()}
    />
  )
  return (
    <div className={styles.filters}>
      <div className={styles.line}>
        <div className={styles.search}>
          <SearchField
            label={t('memories.search')}
            value={textParam(search, 'q')}
            onChange={(text) => onChange({ q: text === '' ? undefined : text, row: undefined })}
          />
        </div>
        {!isAllOwners && (
          <Select
            label={t('memories.searchMode')}
            isLabelHidden
            value={searchModeIn(search)}
            onValueChange={(mode) =>
              onChange({ mode: mode === 'exact' ? undefined : mode, row: undefined })
            }
            options={SEARCH_MODES.map((mode) => ({
              value: mode,
              text: t(SEARCH_MODE_NAMES[mode]),
            }))}
          />
        )}
        <OrderSelect search={search} onChange={onChange} isAllOwners={isAllOwners} />
        <Button aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {t('memories.filters')}
          {active > 0 && <Chip tone="accent">{active}</Chip>}
        </Button>
      </div>
      {isOpen && (
        <div className={styles.grid}>
          {selectField('category', 'memories.category', CATEGORIES)}
          {selectField('type', 'memories.type', TYPES)}
          {selectField('status', 'memories.status', OTHER_STATUSES, [
            { value: '', text: 'active' },
            { value: ANY_STATUS, text: t('common.all') },
          ])}
          {selectField('trust', 'memories.trust', TRUSTS)}
          {selectField('source', 'memories.source', SOURCES)}
          {selectField(
            'importanceMin',
            'memories.importanceMin',
            Array.from({ length: 10 }, (_, index) => String(index + 1)),
          )}
          {!isAllOwners && textField('user', 'memories.user')}
          {!isAllOwners && textField('sessionId', 'memories.session')}
          {textField('createdFrom', 'memories.createdFrom', 'date')}
          {textField('createdBefore', 'memories.createdBefore', 'date')}
          <Button
            look="quiet"
            disabled={active === 0}
            onClick={() => onChange(Object.fromEntries(FILTERS.map((name) => [name, undefined])))}
          >
            {t('memories.clearFilters')}
          </Button>
        </div>
      )}
    </div>
  )
}
