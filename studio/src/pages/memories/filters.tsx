import { useState } from 'react'
import { type Search, textIn } from '../../app/search-params.ts'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Select, TextField } from '../../ui/field.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { Chip } from '../../ui/layout.tsx'
import styles from './filters.module.css'
import {
  FILTERS,
  HOWS,
  type How,
  howIn,
  isFinding,
  ORDER_NAMES,
  ORDERS,
  type Order,
  orderIn,
  ordering,
} from './queries.ts'
import { ANY_STATUS, CATEGORIES, SOURCES, STATUSES, TRUSTS, TYPES } from './memory-fields.ts'

/** What is in use is what one looks for, unless one says otherwise. */
const OTHER_STATUSES = STATUSES.filter((status) => status !== 'active')

const HOW_NAMES: Record<How, MessageKey> = {
  exact: 'memories.searchExact',
  hybrid: 'memories.searchHybrid',
  semantic: 'memories.searchSemantic',
  keyword: 'memories.searchKeyword',
}

type FiltersProps = {
  search: Search
  onChange: (changes: Search) => void
  /** Of one owner there are users and sessions, and a search by meaning. */
  isOfAll?: boolean
}

/** What was looked for by words or meaning has an order of its own. */
function OrderChoice({ search, onChange, isOfAll = false }: FiltersProps) {
  const { t } = useI18n()
  const label = t('memories.sort')
  if (isFinding(search) && !isOfAll) {
    const options = [{ value: 'best', text: t('memories.sortRelevance') }]
    return <Select label={label} isLabelHidden disabled onChoose={() => {}} options={options} />
  }
  return (
    <Select
      label={label}
      isLabelHidden
      value={orderIn(search)}
      onChoose={(order) => onChange(ordering(order as Order))} // one of these
      options={ORDERS.map((order) => ({ value: order, text: t(ORDER_NAMES[order]) }))}
    />
  )
}

export function Filters({ search, onChange, isOfAll = false }: FiltersProps) {
  const { t } = useI18n()
  const [isOpen, setOpen] = useState(false)
  const active = FILTERS.filter((name) => textIn(search, name) !== '').length
  const choice = (
    name: (typeof FILTERS)[number],
    label: MessageKey,
    values: readonly string[],
    first = [{ value: '', text: t('common.all') }],
  ) => (
    <Select
      label={t(label)}
      value={textIn(search, name)}
      onChoose={(value) => onChange({ [name]: value === '' ? undefined : value, row: undefined })}
      options={[...first, ...values.map((value) => ({ value, text: value }))]}
    />
  )
  const words = (name: (typeof FILTERS)[number], label: MessageKey, type = 'text') => (
    <TextField
      label={t(label)}
      type={type}
      defaultValue={textIn(search, name)}
      key={`${name}:${textIn(search, name)}`}
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
            value={textIn(search, 'q')}
            onChange={(text) => onChange({ q: text === '' ? undefined : text, row: undefined })}
          />
        </div>
        {!isOfAll && (
          <Select
            label={t('memories.searchMode')}
            isLabelHidden
            value={howIn(search)}
            onChoose={(how) => onChange({ how: how === 'exact' ? undefined : how, row: undefined })}
            options={HOWS.map((how) => ({ value: how, text: t(HOW_NAMES[how]) }))}
          />
        )}
        <OrderChoice search={search} onChange={onChange} isOfAll={isOfAll} />
        <Button aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {t('memories.filters')}
          {active > 0 && <Chip tone="accent">{active}</Chip>}
        </Button>
      </div>
      {isOpen && (
        <div className={styles.grid}>
          {choice('category', 'memories.category', CATEGORIES)}
          {choice('type', 'memories.type', TYPES)}
          {choice('status', 'memories.status', OTHER_STATUSES, [
            { value: '', text: 'active' },
            { value: ANY_STATUS, text: t('common.all') },
          ])}
          {choice('trust', 'memories.trust', TRUSTS)}
          {choice('source', 'memories.source', SOURCES)}
          {choice(
            'importanceMin',
            'memories.importanceMin',
            Array.from({ length: 10 }, (_, index) => String(index + 1)),
          )}
          {!isOfAll && words('user', 'memories.user')}
          {!isOfAll && words('sessionId', 'memories.session')}
          {words('createdFrom', 'memories.createdFrom', 'date')}
          {words('createdBefore', 'memories.createdBefore', 'date')}
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
