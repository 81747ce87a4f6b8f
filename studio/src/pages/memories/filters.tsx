import { useEffect, useRef, useState } from 'react'
import { type Search, textIn } from '../../app/address.ts'
import type { MessageKey } from '../../i18n/catalogue.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Select, TextField } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Chip } from '../../ui/surface.tsx'
import styles from './filters.module.css'
import { FILTERS, HOWS, type How, howIn } from './queries.ts'
import { CATEGORIES, SOURCES, STATUSES, TRUSTS, TYPES } from './words.ts'

/** How long to wait until somebody has written what they look for. */
const QUIET_MS = 300

const HOW_NAMES: Record<How, MessageKey> = {
  exact: 'memories.searchExact',
  hybrid: 'memories.searchHybrid',
  semantic: 'memories.searchMeaning',
  keyword: 'memories.searchWords',
}

export function Filters({
  search,
  onChange,
}: {
  search: Search
  onChange: (changes: Search) => void
}) {
  const { t } = useI18n()
  const [isOpen, setOpen] = useState(false)
  const active = FILTERS.filter((name) => textIn(search, name) !== '').length
  const choice = (name: (typeof FILTERS)[number], label: MessageKey, values: readonly string[]) => (
    <Select
      label={t(label)}
      value={textIn(search, name)}
      onChoose={(value) => onChange({ [name]: value === '' ? undefined : value, row: undefined })}
      options={[
        { value: '', text: t('common.all') },
        ...values.map((value) => ({ value, text: value })),
      ]}
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
        <SearchField search={search} onChange={onChange} />
        <Select
          label={t('memories.searchHow')}
          isLabelHidden
          value={howIn(search)}
          onChoose={(how) => onChange({ how: how === 'exact' ? undefined : how, row: undefined })}
          options={HOWS.map((how) => ({ value: how, text: t(HOW_NAMES[how]) }))}
        />
        <Select
          label={t('memories.sort')}
          isLabelHidden
          value={textIn(search, 'order') || 'newest'}
          onChoose={(order) =>
            onChange({ order: order === 'newest' ? undefined : order, row: undefined })
          }
          options={[
            { value: 'newest', text: t('memories.sortNewest') },
            { value: 'oldest', text: t('memories.sortOldest') },
            { value: 'updated', text: t('memories.sortUpdated') },
          ]}
        />
        <Button aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {t('memories.filters')}
          {active > 0 && <Chip tone="accent">{active}</Chip>}
        </Button>
      </div>
      {isOpen && (
        <div className={styles.grid}>
          {choice('category', 'memories.category', CATEGORIES)}
          {choice('type', 'memories.type', TYPES)}
          {choice('status', 'memories.status', STATUSES)}
          {choice('trust', 'memories.trust', TRUSTS)}
          {choice('source', 'memories.source', SOURCES)}
          {choice(
            'importanceMin',
            'memories.importanceMin',
            Array.from({ length: 10 }, (_, index) => String(index + 1)),
          )}
          {words('user', 'memories.user')}
          {words('sessionId', 'memories.session')}
          {words('createdFrom', 'memories.from', 'date')}
          {words('createdBefore', 'memories.until', 'date')}
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

function SearchField({
  search,
  onChange,
}: {
  search: Search
  onChange: (changes: Search) => void
}) {
  const { t } = useI18n()
  const asked = textIn(search, 'q')
  const [text, setText] = useState(asked)
  const latest = useRef(asked)
  useEffect(() => {
    // The address has changed by other means: back, a link.
    if (asked !== latest.current) setText(asked)
    latest.current = asked
  }, [asked])
  useEffect(() => {
    if (text === latest.current) return
    const timer = setTimeout(() => {
      latest.current = text
      onChange({ q: text === '' ? undefined : text, row: undefined })
    }, QUIET_MS)
    return () => clearTimeout(timer)
  }, [text, onChange])
  return (
    <div className={styles.search}>
      <Icon name="search" />
      <TextField
        label={t('memories.search')}
        isLabelHidden
        type="search"
        placeholder={t('memories.search')}
        data-search
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
    </div>
  )
}
