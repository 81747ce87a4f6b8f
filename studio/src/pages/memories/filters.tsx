import { useId, useState } from 'react'
import { type SearchParams, textParam, useOwner } from '../../app/search-params.ts'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Select, TextField } from '../../ui/field.tsx'
import { Chip } from '../../ui/layout.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import styles from './filters.module.css'
import { ANY_STATUS, CATEGORIES, SOURCES, STATUSES, TRUSTS, TYPES } from './memory-fields.ts'
import {
  type Facets,
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
  useFacets,
} from './queries.ts'
import { SavedViews } from './saved-views.tsx'
import { useValueName } from './value-names.ts'

/** The filter shows active memories by default. */
const OTHER_STATUSES = STATUSES.filter((status) => status !== 'active')

const SEARCH_MODE_NAMES: Record<SearchMode, MessageKey> = {
  hybrid: 'memories.searchHybrid',
  exact: 'memories.searchExact',
  semantic: 'memories.searchSemantic',
  keyword: 'memories.searchKeyword',
}

type Filter = (typeof FILTERS)[number]

const FILTER_NAMES: Record<Filter, MessageKey> = {
  category: 'memories.category',
  type: 'memories.type',
  status: 'memories.status',
  trust: 'memories.trust',
  source: 'memories.source',
  importanceMin: 'memories.importanceMin',
  user: 'memories.user',
  sessionId: 'memories.session',
  createdFrom: 'memories.createdFrom',
  createdBefore: 'memories.createdBefore',
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
  const isNarrowed = active > 0 || textParam(search, 'q') !== ''
  const { data: facets } = useFacets(useOwner(), search, !isAllOwners && (isOpen || isNarrowed))
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
              onChange({ mode: mode === SEARCH_MODES[0] ? undefined : mode, row: undefined })
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
        {!isAllOwners && <SavedViews search={search} onChange={onChange} />}
      </div>
      {isOpen && (
        <FilterFields
          search={search}
          onChange={onChange}
          isAllOwners={isAllOwners}
          facets={facets}
          active={active}
        />
      )}
      {isNarrowed && facets !== undefined && (
        <Exclusions search={search} onChange={onChange} facets={facets} />
      )}
    </div>
  )
}

function FilterFields({
  search,
  onChange,
  isAllOwners = false,
  facets,
  active,
}: FiltersProps & { facets: Facets | undefined; active: number }) {
  const { t, number } = useI18n()
  const nameOf = useValueName()
  const fieldId = useId()
  const set = (name: Filter, value: string) =>
    onChange({ [name]: value === '' ? undefined : value, row: undefined })
  const counted = (facet: keyof Facets['facets'], value: string) => {
    if (facets === undefined) return nameOf(value)
    const count = facets.facets[facet].find((each) => each.value === value)?.count ?? 0
    return `${nameOf(value)} (${number(count)})`
  }
  const selectField = (
    name: 'category' | 'type' | 'status' | 'trust' | 'source',
    values: readonly string[],
    firstOptions = [{ value: '', text: t('common.all') }],
  ) => {
    // Programs choose their own sources.
    const others = name === 'source' ? (facets?.facets.source.map(({ value }) => value) ?? []) : []
    return (
      <Select
        label={t(FILTER_NAMES[name])}
        value={textParam(search, name)}
        onValueChange={(value) => set(name, value)}
        options={[
          ...firstOptions,
          ...[...new Set([...values, ...others])].map((value) => ({
            value,
            text: counted(name, value),
          })),
        ]}
      />
    )
  }
  const textField = (name: Filter, type = 'text', suggestions: Facets['facets']['user'] = []) => (
    <div>
      <TextField
        label={t(FILTER_NAMES[name])}
        type={type}
        list={suggestions.length === 0 ? undefined : `${fieldId}-${name}`}
        defaultValue={textParam(search, name)}
        key={`${name}:${textParam(search, name)}`}
        onBlur={({ target }) => set(name, target.value)}
        onKeyDown={({ key, currentTarget }) => key === 'Enter' && currentTarget.blur()}
      />
      {suggestions.length > 0 && (
        <datalist id={`${fieldId}-${name}`}>
          {suggestions.map(({ value, count }) => (
            <option key={value} value={value}>
              {`${value} (${number(count)})`}
            </option>
          ))}
        </datalist>
      )}
    </div>
  )
  return (
    <div className={styles.grid}>
      {selectField('category', CATEGORIES)}
      {selectField('type', TYPES)}
      {selectField('status', OTHER_STATUSES, [
        { value: '', text: counted('status', 'active') },
        { value: ANY_STATUS, text: t('common.all') },
      ])}
      {selectField('trust', TRUSTS)}
      {selectField('source', SOURCES)}
      <Select
        label={t('memories.importanceMin')}
        value={textParam(search, 'importanceMin')}
        onValueChange={(value) => set('importanceMin', value)}
        options={[
          { value: '', text: t('common.all') },
          ...Array.from({ length: 10 }, (_, index) => String(index + 1)).map((value) => ({
            value,
            text: value,
          })),
        ]}
      />
      {!isAllOwners && textField('user', 'text', facets?.facets.user)}
      {!isAllOwners && textField('sessionId', 'text', facets?.facets.session)}
      {textField('createdFrom', 'date')}
      {textField('createdBefore', 'date')}
      {facets !== undefined && <Ages facets={facets} onSelect={(day) => set('createdFrom', day)} />}
      <Button
        look="quiet"
        disabled={active === 0}
        onClick={() => onChange(Object.fromEntries(FILTERS.map((name) => [name, undefined])))}
      >
        {t('memories.clearFilters')}
      </Button>
    </div>
  )
}

const DAY_MS = 86_400_000

/** Buttons for the last days, with the number of memories created in them. */
function Ages({ facets, onSelect }: { facets: Facets; onSelect: (day: string) => void }) {
  const { t, number } = useI18n()
  return (
    <div className={styles.ages}>
      {facets.facets.age.map(({ value, count }) => (
        <Button
          key={value}
          isSmall
          onClick={() =>
            onSelect(new Date(Date.now() - Number(value) * DAY_MS).toISOString().slice(0, 10))
          }
        >
          {t('receipts.lastDays', { count: Number(value) })} ({number(count)})
        </Button>
      ))}
    </div>
  )
}

/** The filter parameters of the names that the server gives to filters. */
const PARAMETERS: Readonly<Record<string, Filter>> = { session: 'sessionId' }

/** What each filter hides, with a button that removes it. */
function Exclusions({ search, onChange, facets: { excluded } }: FiltersProps & { facets: Facets }) {
  const { t, number } = useI18n()
  const hiding = Object.entries(excluded).filter(([, count]) => count > 0)
  if (hiding.length === 0) return null
  return (
    <p className={styles.excluded}>
      {t('memories.hiddenBy')}
      {hiding.map(([name, count]) => {
        const parameter = PARAMETERS[name] ?? FILTERS.find((each) => each === name)
        const label =
          parameter === undefined ? t('memories.expiredFilter') : t(FILTER_NAMES[parameter])
        // Without a status, only active memories are shown.
        const isDefault = parameter === undefined || textParam(search, parameter) === ''
        const without =
          parameter === undefined || isDefault ? { status: ANY_STATUS } : { [parameter]: undefined }
        return (
          <Button
            key={name}
            isSmall
            aria-label={t('memories.removeFilter', { name: label, count: number(count) })}
            onClick={() => onChange({ ...without, row: undefined })}
          >
            {label} ({number(count)})
          </Button>
        )
      })}
    </p>
  )
}
