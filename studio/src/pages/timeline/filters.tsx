/** The filters and the month picker of the timeline. */
import { useEffect, useState } from 'react'
import { type SearchParams, textParam, type useSearchParams } from '../../app/search-params.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { Select, TextField } from '../../ui/field.tsx'
import { STATUSES } from '../memories/memory-fields.ts'
import { monthAfter, monthOf, monthsBefore, startOf } from './dates.ts'
import styles from './page.module.css'
import { filtersIn } from './queries.ts'

export type Change = ReturnType<typeof useSearchParams>[1]

const MONTHS_LISTED = 36

export function MonthPicker({
  month,
  latest,
  onMonthChange,
}: {
  month: string
  latest: string | null
  onMonthChange: (month: string) => void
}) {
  const { t, region } = useI18n()
  const monthFormat = new Intl.DateTimeFormat(region, { month: 'long', year: 'numeric' })
  const newest = [monthOf(Date.now()), month, latest ?? ''].sort().at(-1) ?? month
  const listed = monthsBefore(newest, MONTHS_LISTED)
  const months = listed.includes(month) ? listed : [...listed, month]
  return (
    <div className={styles.months}>
      <IconButton
        icon="back"
        name={t('timeline.previousMonth')}
        onClick={() => onMonthChange(monthAfter(month, -1))}
      />
      <Select
        label={t('timeline.month')}
        isLabelHidden
        value={month}
        options={months.map((value) => ({ value, text: monthFormat.format(startOf(value)) }))}
        onValueChange={onMonthChange}
      />
      <IconButton
        icon="next"
        name={t('timeline.nextMonth')}
        onClick={() => onMonthChange(monthAfter(month, 1))}
      />
      {latest !== null && latest !== month && (
        <Button isSmall onClick={() => onMonthChange(latest)}>
          {t('timeline.latest')}
        </Button>
      )}
    </div>
  )
}

const TYPING_MS = 300

export function Filters({ search, change }: { search: SearchParams; change: Change }) {
  const { t } = useI18n()
  const isFiltered = ['topic', 'user', 'status'].some((name) => textParam(search, name) !== '')
  return (
    <div className={styles.filters}>
      <DebouncedField search={search} change={change} name="topic" />
      <DebouncedField search={search} change={change} name="user" />
      <Select
        label={t('timeline.status')}
        value={filtersIn(search).status}
        options={STATUSES.map((value) => ({ value, text: value }))}
        onValueChange={(status) => change({ status: status === 'active' ? undefined : status })}
      />
      {isFiltered && (
        <Button
          look="quiet"
          icon="close"
          onClick={() => change({ topic: undefined, user: undefined, status: undefined })}
        >
          {t('timeline.clearFilters')}
        </Button>
      )}
    </div>
  )
}

/** Updates the filter after a pause in typing. */
function DebouncedField({
  search,
  change,
  name,
}: {
  search: SearchParams
  change: Change
  name: 'topic' | 'user'
}) {
  const { t } = useI18n()
  const current = textParam(search, name)
  const [text, setText] = useState(current)
  useEffect(() => setText(current), [current])
  useEffect(() => {
    if (text === current) return
    const timer = setTimeout(() => change({ [name]: text === '' ? undefined : text }), TYPING_MS)
    return () => clearTimeout(timer)
  }, [text, current, name, change])
  return (
    <TextField
      label={t(name === 'topic' ? 'timeline.topic' : 'timeline.user')}
      value={text}
      {...(name === 'topic'
        ? { 'data-search': '', type: 'search', placeholder: t('timeline.topicHint') }
        : {})}
      onChange={({ target }) => setText(target.value)}
    />
  )
}
