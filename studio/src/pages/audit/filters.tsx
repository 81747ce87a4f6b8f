import { useId } from 'react'
import { type SearchParams, textParam } from '../../app/search-params.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { CommitField } from '../../ui/commit-field.tsx'
import { Select } from '../../ui/field.tsx'
import styles from './audit.module.css'
import { type AuditEvent, FILTERS, type Filter, LOCAL_ACTOR, useKeyNames } from './queries.ts'

export function Filters({
  search,
  onChange,
  entries,
}: {
  search: SearchParams
  onChange: (changes: SearchParams) => void
  /** The loaded events, used as suggestions. */
  entries: readonly AuditEvent[]
}) {
  const { t } = useI18n()
  const operations = useId()
  const owners = useId()
  const names = useKeyNames().data ?? new Map<string, string>()
  const value = (name: Filter) => textParam(search, name)
  const set = (name: Filter) => (text: string) => onChange({ [name]: text || undefined })
  const actor = value('actor')
  const isUnknownKey = actor !== '' && actor !== LOCAL_ACTOR && !names.has(actor)
  return (
    <div className={styles.filters}>
      <CommitField
        label={t('audit.action')}
        placeholder="memory.forget"
        list={operations}
        spellCheck={false}
        maxLength={100}
        value={value('operation')}
        onCommit={set('operation')}
      />
      <Suggestions id={operations} values={entries.flatMap(operationPrefixes)} />
      <Select
        label={t('audit.actor')}
        value={actor}
        onValueChange={set('actor')}
        options={[
          { value: '', text: t('common.all') },
          { value: LOCAL_ACTOR, text: t('audit.localActor') },
          ...[...names].map(([id, name]) => ({ value: id, text: name })),
          ...(isUnknownKey ? [{ value: actor, text: actor }] : []),
        ]}
      />
      <CommitField
        label={t('audit.owner')}
        list={owners}
        spellCheck={false}
        maxLength={200}
        value={value('of')}
        onCommit={set('of')}
      />
      <Suggestions id={owners} values={entries.map(({ owner }) => owner)} />
      <CommitField
        label={t('audit.resource')}
        placeholder="mem_…"
        spellCheck={false}
        maxLength={200}
        value={value('target')}
        onCommit={set('target')}
      />
      <CommitField
        label={t('audit.from')}
        type="date"
        value={value('from')}
        onCommit={set('from')}
      />
      <CommitField
        label={t('audit.until')}
        type="date"
        value={value('until')}
        onCommit={set('until')}
      />
      <Button
        look="quiet"
        disabled={FILTERS.every((name) => value(name) === '')}
        onClick={() => onChange(Object.fromEntries(FILTERS.map((name) => [name, undefined])))}
      >
        {t('audit.clearFilters')}
      </Button>
    </div>
  )
}

/** An operation such as `memory.forget`, and its prefix `memory`. */
function operationPrefixes({ operation }: AuditEvent): readonly string[] {
  const [kind = operation] = operation.split('.')
  return [kind, operation]
}

function Suggestions({ id, values }: { id: string; values: readonly string[] }) {
  return (
    <datalist id={id}>
      {[...new Set(values)].sort().map((value) => (
        <option key={value} value={value} />
      ))}
    </datalist>
  )
}
