/** The query form: query, configuration and filters. All of its state is in the URL. */
import { type FormEvent, type KeyboardEvent, useEffect, useState } from 'react'
import { type SearchParams, textParam } from '../../app/search-params.ts'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { CommitField } from '../../ui/commit-field.tsx'
import { Select, TextArea } from '../../ui/field.tsx'
import { Card, Chip } from '../../ui/layout.tsx'
import { CATEGORIES, TYPES } from '../memories/memory-fields.ts'
import {
  type ConfigParam,
  configParam,
  type EffectiveSettings,
  FILTERS,
  type Filter,
  FUSIONS,
  GATES,
  type Side,
  SOURCES,
  STRATEGIES,
} from './queries.ts'
import styles from './query-form.module.css'

type ParamsProps = {
  search: SearchParams
  onChange: (changes: SearchParams, options?: { isPush?: boolean }) => void
}

export function QueryForm({
  search,
  onChange,
  onRunAgain,
  effective,
  sides,
}: ParamsProps & { onRunAgain: () => void; effective: EffectiveSettings; sides: readonly Side[] }) {
  const { t } = useI18n()
  const currentQuery = textParam(search, 'q')
  const [text, setText] = useState(currentQuery)
  useEffect(() => setText(currentQuery), [currentQuery])
  const run = (event?: FormEvent) => {
    event?.preventDefault()
    const query = text.trim()
    if (query === currentQuery) onRunAgain()
    else onChange({ q: query === '' ? undefined : query }, { isPush: true })
  }
  const runOnEnter = (event: KeyboardEvent) => {
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
            onKeyDown={runOnEnter}
          />
          <Button type="submit" look="primary" icon="run" disabled={text.trim() === ''}>
            {t('playground.run')}
          </Button>
        </div>
        <div className={styles.sides}>
          {sides.map((side) => (
            <Configuration
              key={side}
              search={search}
              onChange={onChange}
              effective={effective}
              side={side}
              title={sides.length === 1 ? 'playground.configuration' : CONFIGURATION_TITLES[side]}
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

const CONFIGURATION_TITLES: Record<Side, MessageKey> = {
  A: 'playground.configurationA',
  B: 'playground.configurationB',
}

function Configuration({
  search,
  onChange,
  effective,
  side,
  title,
}: ParamsProps & { effective: EffectiveSettings; side: Side; title: MessageKey }) {
  const { t } = useI18n()
  const selectField = (
    param: ConfigParam,
    label: MessageKey,
    current: string,
    options: readonly string[],
    info?: string,
  ) => (
    <Select
      label={t(label)}
      info={info}
      value={textParam(search, configParam(param, side))}
      onValueChange={(value) => onChange({ [configParam(param, side)]: value || undefined })}
      options={[
        { value: '', text: t('playground.defaultValue', { value: current }) },
        ...options.map((value) => ({ value, text: value })),
      ]}
    />
  )
  const include = configParam('include', side)
  const budget = configParam('maxTokens', side)
  return (
    <fieldset className={styles.settings}>
      <legend>{t(title)}</legend>
      <Select
        label={t('playground.sources')}
        value={textParam(search, include)}
        onValueChange={(value) => onChange({ [include]: value || undefined })}
        options={[
          {
            value: '',
            text: t('playground.defaultValue', {
              value: t(SOURCE_NAMES[effective['gateway.contextSources']]),
            }),
          },
          ...SOURCES.map((value) => ({ value: value as string, text: t(SOURCE_NAMES[value]) })),
        ]}
      />
      {selectField('strategy', 'playground.strategy', effective['recall.strategy'], STRATEGIES)}
      {selectField(
        'fusion',
        'playground.fusion',
        effective['recall.fusion'],
        FUSIONS,
        t('playground.fusionHelp'),
      )}
      {selectField(
        'gate',
        'playground.gate',
        effective['gateway.gateMode'],
        GATES,
        t('playground.gateHelp'),
      )}
      <CommitField
        label={t('playground.budget')}
        type="number"
        min={1}
        max={16_000}
        value={textParam(search, budget)}
        placeholder={t('playground.defaultValue', { value: effective['gateway.contextTokensMax'] })}
        onCommit={(value) => onChange({ [budget]: value === '' ? undefined : Number(value) })}
      />
    </fieldset>
  )
}

function Filters({ search, onChange }: ParamsProps) {
  const { t } = useI18n()
  const active = FILTERS.filter((name) => textParam(search, name) !== '').length
  const [isOpen, setOpen] = useState(active > 0)
  const setFilter = (name: Filter) => (value: string) => onChange({ [name]: value || undefined })
  const selectField = (name: Filter, label: MessageKey, options: readonly string[]) => (
    <Select
      label={t(label)}
      value={textParam(search, name)}
      onValueChange={setFilter(name)}
      options={[
        { value: '', text: t('playground.any') },
        ...options.map((value) => ({ value, text: value })),
      ]}
    />
  )
  const textField = (name: Filter, label: MessageKey, type = 'text') => (
    <CommitField
      label={t(label)}
      type={type}
      value={textParam(search, name)}
      onCommit={setFilter(name)}
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
          {selectField('type', 'playground.type', TYPES)}
          {selectField('category', 'playground.category', CATEGORIES)}
          {textField('user', 'playground.user')}
          {textField('sessionId', 'playground.session')}
          {textField('asOf', 'playground.asOf', 'datetime-local')}
        </div>
      )}
    </div>
  )
}
