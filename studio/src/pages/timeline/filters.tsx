/** What the timeline shows: which month, and which conversations of it. */
import { useEffect, useState } from 'react'
import { type Search, textIn, type usePageSearch } from '../../app/search-params.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { Select, TextField } from '../../ui/field.tsx'
import { STATUSES } from '../memories/memory-fields.ts'
import { monthAfter, monthOf, monthsBefore, startOf } from './dates.ts'
import styles from './page.module.css'
import { filtersIn } from './queries.ts'

export type Change = ReturnType<typeof usePageSearch>[1]

const MONTHS_OFFERED = 36

export function MonthPicker({
  month,
  latest,
  onGo,
}: {
  month: string
  latest: string | null
  onGo: (month: string) => void
}) {
  const { t, region } = useI18n()
  const named = new Intl.DateTimeFormat(region, { month: 'long', year: 'numeric' })
  const newest = [monthOf(Date.now()), month, latest ?? ''].sort().at(-1) ?? month
  const offered = monthsBefore(newest, MONTHS_OFFERED)
  const months = offered.includes(month) ? offered : [...offered, month]
  return (
    <div className={styles.months}>
      <IconButton
        icon="back"
        name={t('timeline.previousMonth')}
        onClick={() => onGo(monthAfter(month, -1))}
      />
      <Select
        label={t('timeline.month')}
        isLabelHidden
        value={month}
        options={months.map((value) => ({ value, text: named.format(startOf(value)) }))}
        onChoose={onGo}
      />
      <IconButton
        icon="next"
        name={t('timeline.nextMonth')}
        onClick={() => onGo(monthAfter(month, 1))}
      />
      {latest !== null && latest !== month && (
        <Button isSmall onClick={() => onGo(latest)}>
          {t('timeline.latest')}
        </Button>
      )}
    </div>
  )
}

const TYPING_MS = 300

export function Filters({ search, change }: { search: Search; change: Change }) {
  const { t } = useI18n()
  const isNarrowed = ['topic', 'user', 'status'].some((name) => textIn(search, name) !== '')
  return (
    <div className={styles.filters}>
      <Typed search={search} change={change} name="topic" />
      <Typed search={search} change={change} name="user" />
      <Select
        label={t('timeline.status')}
        value={filtersIn(search).status}
        options={STATUSES.map((value) => ({ value, text: value }))}
        onChoose={(status) => change({ status: status === 'active' ? undefined : status })}
      />
      {isNarrowed && (
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

/** Looked for when the typing pauses. */
function Typed({
  search,
  change,
  name,
}: {
  search: Search
  change: Change
  name: 'topic' | 'user'
}) {
  const { t } = useI18n()
  const kept = textIn(search, name)
  const [text, setText] = useState(kept)
  useEffect(() => setText(kept), [kept])
  useEffect(() => {
    if (text === kept) return
    const timer = setTimeout(() => change({ [name]: text === '' ? undefined : text }), TYPING_MS)
    return () => clearTimeout(timer)
  }, [text, kept, name, change])
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
