import { type ReactNode, useState } from 'react'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { CommittedField } from '../../ui/commit-field.tsx'
import { Select, Switch } from '../../ui/field.tsx'
import { Chip, type Tone } from '../../ui/layout.tsx'
import {
  type InForce,
  type Level,
  type Outcome,
  type Setting,
  type Source,
  storedAt,
  useChange,
  type Value,
} from './queries.ts'
import styles from './setting-row.module.css'

const SOURCES: Record<Source, { readonly name: MessageKey; readonly tone: Tone }> = {
  default: { name: 'settings.sourceDefault', tone: 'plain' },
  start: { name: 'settings.sourceStart', tone: 'warn' },
  system: { name: 'settings.sourceSystem', tone: 'accent' },
  owner: { name: 'settings.sourceOwner', tone: 'good' },
}

const SILENT: Outcome = { fault: null, usedInstead: null }

export function SettingRow({
  setting,
  level,
  owner,
  inForce,
  isFixed,
}: {
  setting: Setting
  level: Level
  owner: string
  inForce: InForce
  /** Whoever looks may not change it. */
  isFixed: boolean
}) {
  const { t, number } = useI18n()
  const change = useChange(level, owner)
  const [outcome, setOutcome] = useState(SILENT)
  const [tries, setTries] = useState(0)
  const { name } = setting
  const source = inForce.sourceOf(name)
  const isOwn = source === level
  const set = async (value: Value) => {
    const before = storedAt(level, inForce, name)
    const told = await change(name, value, before)
    setOutcome(told)
    // A number that was moved may be the one that was there before, and must be shown again.
    if (told.usedInstead !== null) setTries((count) => count + 1)
  }
  return (
    <div className={[styles.row, isOwn ? styles.changed : ''].join(' ')} data-setting={name}>
      <div className={styles.about}>
        <div className={styles.name}>
          <h3>
            <code>{name}</code>
          </h3>
          <Chip tone={SOURCES[source].tone}>{t(SOURCES[source].name)}</Chip>
          {setting.appliesAt === 'start' && <Chip tone="warn">{t('settings.restartRequired')}</Chip>}
        </div>
        <p className={styles.help}>
          <Marked text={setting.help} />
        </p>
        <p className={styles.range}>
          {t('settings.default', { value: shown(setting.default, t, number) })}
          {setting.min !== null && setting.max !== null && (
            <> · {t('settings.range', { min: setting.min, max: setting.max })}</>
          )}
          {setting.isClamped && <> · {t('settings.clamped')}</>}
        </p>
      </div>
      <div className={styles.control}>
        <Control
          key={tries}
          setting={setting}
          value={inForce.valueOf(name)}
          fault={outcome.fault ?? undefined}
          isFixed={isFixed}
          onSet={(value) => void set(value)}
        />
        {outcome.usedInstead !== null && (
          <p className={styles.moved} role="status">
            {t('settings.clampedTo', { value: outcome.usedInstead })}
          </p>
        )}
        {isOwn && !isFixed && (
          <Button
            isSmall
            look="quiet"
            icon="restore"
            aria-label={t('settings.resetNamed', { name })}
            onClick={() => void set(null)}
          >
            {t('settings.reset')}
          </Button>
        )}
      </div>
    </div>
  )
}

function Control({
  setting: { name, kind, choices, min, max, isWhole },
  value,
  fault,
  isFixed,
  onSet,
}: {
  setting: Setting
  value: Value
  fault: string | undefined
  isFixed: boolean
  onSet: (value: Value) => void
}) {
  const { t } = useI18n()
  const around = { label: name, isLabelHidden: true, fault, disabled: isFixed }
  if (kind === 'switch') {
    return (
      <>
        <Switch
          label={name}
          isLabelHidden
          isOn={value === true}
          isDisabled={isFixed}
          onTurn={onSet}
        />
        {fault !== undefined && (
          <p className={styles.fault} role="alert">
            {fault}
          </p>
        )}
      </>
    )
  }
  if (kind === 'choice') {
    return (
      <Select
        {...around}
        value={String(value)}
        onChoose={onSet}
        options={choices.map((choice) => ({ value: choice, text: choice }))}
      />
    )
  }
  if (kind === 'text') {
    return (
      <CommittedField
        {...around}
        value={value === null ? '' : String(value)}
        placeholder={t('common.none')}
        maxLength={200}
        spellCheck={false}
        onCommit={(text) => onSet(text === '' ? null : text)}
      />
    )
  }
  return (
    <CommittedField
      {...around}
      value={String(value)}
      type="number"
      step={isWhole ? 1 : 'any'}
      {...(min === null ? {} : { min })}
      {...(max === null ? {} : { max })}
      // An empty field is the way back to what is in force without it.
      onCommit={(text) => onSet(text === '' ? null : Number(text))}
    />
  )
}

/** What stands between backticks is a name that programs know. */
function Marked({ text }: { text: string }): ReactNode {
  return text.split('`').map((piece, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the pieces never move
    index % 2 === 1 ? <code key={index}>{piece}</code> : piece,
  )
}

function shown(
  value: Value,
  t: ReturnType<typeof useI18n>['t'],
  number: ReturnType<typeof useI18n>['number'],
): string {
  if (value === null) return t('common.none')
  if (typeof value === 'boolean') return t(value ? 'settings.on' : 'settings.off')
  return typeof value === 'number' ? number(value) : value
}
