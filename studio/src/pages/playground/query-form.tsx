/** What is asked, of which memories, and with which settings. Everything of it stands in the address. */
import { type FormEvent, type KeyboardEvent, useEffect, useState } from 'react'
import { type Search, textIn } from '../../app/search-params.ts'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { CommittedField } from '../../ui/commit-field.tsx'
import { Select, TextArea } from '../../ui/field.tsx'
import { Card, Chip } from '../../ui/layout.tsx'
import { CATEGORIES, TYPES } from '../memories/memory-fields.ts'
import styles from './query-form.module.css'
import {
  FILTERS,
  type Filter,
  FUSIONS,
  GATES,
  type InForce,
  type Side,
  SOURCES,
  STRATEGIES,
  type Tried,
  triedName,
} from './queries.ts'

type Changing = {
  search: Search
  onChange: (changes: Search, options?: { isStep?: boolean }) => void
}

export function Asking({
  search,
  onChange,
  onRunAgain,
  inForce,
  sides,
}: Changing & { onRunAgain: () => void; inForce: InForce; sides: readonly Side[] }) {
  const { t } = useI18n()
  const asked = textIn(search, 'q')
  const [text, setText] = useState(asked)
  useEffect(() => setText(asked), [asked])
  const run = (event?: FormEvent) => {
    event?.preventDefault()
    const said = text.trim()
    if (said === asked) onRunAgain()
    else onChange({ q: said === '' ? undefined : said }, { isStep: true })
  }
  const runByKey = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    run()
  }
  return (
    <Card>
      <form className={styles.form} onSubmit={run}>
        <div className={styles.question}>
          <TextArea
            label={t('playground.query')}
            isLabelHidden
            placeholder={t('playground.queryHint')}
            rows={2}
            data-search
            value={text}
            onChange={({ target }) => setText(target.value)}
            onKeyDown={runByKey}
          />
          <Button type="submit" look="primary" icon="run" disabled={text.trim() === ''}>
            {t('playground.run')}
          </Button>
        </div>
        <div className={styles.sides}>
          {sides.map((side) => (
            <Settings
              key={side}
              search={search}
              onChange={onChange}
              inForce={inForce}
              side={side}
              title={sides.length === 1 ? 'playground.configuration' : TITLES[side]}
            />
          ))}
        </div>
        <Filters search={search} onChange={onChange} />
      </form>
    </Card>
  )
}

const SOURCE_NAMES: Record<(typeof SOURCES)[number], MessageKey> = {
  both: 'playground.sourcesBoth',
  facts: 'playground.sourcesMemories',
  conversations: 'playground.sourcesTurns',
}

const TITLES: Record<Side, MessageKey> = { A: 'playground.configurationA', B: 'playground.configurationB' }

function Settings({
  search,
  onChange,
  inForce,
  side,
  title,
}: Changing & { inForce: InForce; side: Side; title: MessageKey }) {
  const { t } = useI18n()
  const choice = (tried: Tried, label: MessageKey, set: string, options: readonly string[]) => (
    <Select
      label={t(label)}
      value={textIn(search, triedName(tried, side))}
      onChoose={(value) => onChange({ [triedName(tried, side)]: value || undefined })}
      options={[
        { value: '', text: t('playground.defaultValue', { value: set }) },
        ...options.map((value) => ({ value, text: value })),
      ]}
    />
  )
  const include = triedName('include', side)
  const budget = triedName('maxTokens', side)
  return (
    <fieldset className={styles.settings}>
      <legend>{t(title)}</legend>
      <Select
        label={t('playground.sources')}
        value={textIn(search, include)}
        onChoose={(value) => onChange({ [include]: value || undefined })}
        options={[
          {
            value: '',
            text: t('playground.defaultValue', { value: t(SOURCE_NAMES[inForce.recallSources]) }),
          },
          ...SOURCES.map((value) => ({ value: value as string, text: t(SOURCE_NAMES[value]) })),
        ]}
      />
      {choice('strategy', 'playground.strategy', inForce.strategy, STRATEGIES)}
      {choice('fusion', 'playground.fusion', inForce.fusion, FUSIONS)}
      {choice('gate', 'playground.gate', inForce.relevanceGateMode, GATES)}
      <CommittedField
        label={t('playground.budget')}
        type="number"
        min={1}
        max={16_000}
        value={textIn(search, budget)}
        placeholder={t('playground.defaultValue', { value: inForce.contextTokensMax })}
        onCommit={(value) => onChange({ [budget]: value === '' ? undefined : Number(value) })}
      />
    </fieldset>
  )
}

function Filters({ search, onChange }: Changing) {
  const { t } = useI18n()
  const active = FILTERS.filter((name) => textIn(search, name) !== '').length
  const [isOpen, setOpen] = useState(active > 0)
  const set = (name: Filter) => (value: string) => onChange({ [name]: value || undefined })
  const choice = (name: Filter, label: MessageKey, options: readonly string[]) => (
    <Select
      label={t(label)}
      value={textIn(search, name)}
      onChoose={set(name)}
      options={[
        { value: '', text: t('playground.any') },
        ...options.map((value) => ({ value, text: value })),
      ]}
    />
  )
  const words = (name: Filter, label: MessageKey, type = 'text') => (
    <CommittedField
      label={t(label)}
      type={type}
      value={textIn(search, name)}
      onCommit={set(name)}
    />
  )
  return (
    <div>
      <div className={styles.line}>
        <Button isSmall aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {t('playground.filters')}
          {active > 0 && <Chip tone="accent">{active}</Chip>}
        </Button>
        {active > 0 && (
          <Button
            isSmall
            look="quiet"
            onClick={() => onChange(Object.fromEntries(FILTERS.map((name) => [name, undefined])))}
          >
            {t('playground.clearFilters')}
          </Button>
        )}
      </div>
      {isOpen && (
        <div className={styles.grid}>
          {choice('type', 'playground.type', TYPES)}
          {choice('category', 'playground.category', CATEGORIES)}
          {words('user', 'playground.user')}
          {words('sessionId', 'playground.session')}
          {words('asOf', 'playground.asOf', 'datetime-local')}
        </div>
      )}
    </div>
  )
}
