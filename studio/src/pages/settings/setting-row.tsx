import { type ReactNode, useState } from 'react'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { CommitField } from '../../ui/commit-field.tsx'
import { Select, Switch } from '../../ui/field.tsx'
import { Chip, type Tone } from '../../ui/layout.tsx'
import {
  type ChangeResult,
  type EffectiveSettings,
  type Level,
  type Setting,
  type Source,
  storedValue,
  useChange,
  type Value,
} from './queries.ts'
import { useSettingText } from './setting-names.ts'
import styles from './setting-row.module.css'

const SOURCES: Record<Source, { readonly name: MessageKey; readonly tone: Tone }> = {
  default: { name: 'settings.sourceDefault', tone: 'plain' },
  start: { name: 'settings.sourceStart', tone: 'warn' },
  system: { name: 'settings.sourceSystem', tone: 'accent' },
  owner: { name: 'settings.sourceOwner', tone: 'good' },
}

const NO_RESULT: ChangeResult = { fault: null, clampedTo: null }

export function SettingRow({
  setting,
  level,
  owner,
  effective,
  isReadOnly,
}: {
  setting: Setting
  level: Level
  owner: string
  effective: EffectiveSettings
  /** Set if the role cannot change the setting. */
  isReadOnly: boolean
}) {
  const { t, number } = useI18n()
  const change = useChange(level, owner)
  const { title } = useSettingText()(setting.name)
  const [outcome, setOutcome] = useState(NO_RESULT)
  const [resetCount, setResetCount] = useState(0)
  const { name } = setting
  const source = effective.sourceOf(name)
  const isSetHere = source === level
  const set = async (value: Value) => {
    const before = storedValue(level, effective, name)
    const result = await change(name, value, before)
    setOutcome(result)
    // Remounts the field: the clamped value may equal the previous one, which would not trigger an update.
    if (result.clampedTo !== null) setResetCount((count) => count + 1)
  }
  return (
    <div className={[styles.row, isSetHere ? styles.changed : ''].join(' ')} data-setting={name}>
      <div className={styles.about}>
        <div className={styles.name}>
          <h3>
            {title} {title !== name && <code className={styles.code}>{name}</code>}
          </h3>
          <Chip tone={SOURCES[source].tone}>{t(SOURCES[source].name)}</Chip>
          {setting.appliesAt === 'start' && (
            <Chip tone="warn">{t('settings.restartRequired')}</Chip>
          )}
        </div>
        <p className={styles.help}>
          <InlineCode text={setting.help} />
        </p>
        <p className={styles.range}>
          {t('settings.default', { value: formatValue(setting.default, t, number) })}
          {setting.min !== null && setting.max !== null && (
            <> · {t('settings.range', { min: setting.min, max: setting.max })}</>
          )}
          {setting.isClamped && <> · {t('settings.clamped')}</>}
        </p>
      </div>
      <div className={styles.control}>
        <Control
          key={resetCount}
          setting={setting}
          value={effective.valueOf(name)}
          fault={outcome.fault ?? undefined}
          isReadOnly={isReadOnly}
          onSet={(value) => void set(value)}
        />
        {outcome.clampedTo !== null && (
          <p className={styles.moved} role="status">
            {t('settings.clampedTo', { value: outcome.clampedTo })}
          </p>
        )}
        {isSetHere && !isReadOnly && (
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
  isReadOnly,
  onSet,
}: {
  setting: Setting
  value: Value
  fault: string | undefined
  isReadOnly: boolean
  onSet: (value: Value) => void
}) {
  const { t } = useI18n()
  const fieldProps = { label: name, isLabelHidden: true, fault, disabled: isReadOnly }
  if (kind === 'switch') {
    return (
      <>
        <Switch
          label={name}
          isLabelHidden
          isOn={value === true}
          isDisabled={isReadOnly}
          onCheckedChange={onSet}
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
        {...fieldProps}
        value={String(value)}
        onValueChange={onSet}
        options={choices.map((choice) => ({ value: choice, text: choice }))}
      />
    )
  }
  if (kind === 'text') {
    return (
      <CommitField
        {...fieldProps}
        value={value === null ? '' : String(value)}
        placeholder={t('common.none')}
        maxLength={200}
        spellCheck={false}
        onCommit={(text) => onSet(text === '' ? null : text)}
      />
    )
  }
  return (
    <CommitField
      {...fieldProps}
      value={String(value)}
      type="number"
      step={isWhole ? 1 : 'any'}
      {...(min === null ? {} : { min })}
      {...(max === null ? {} : { max })}
      // An empty field resets the setting.
      onCommit={(text) => onSet(text === '' ? null : Number(text))}
    />
  )
}

/** Renders text between backticks as code. */
function InlineCode({ text }: { text: string }): ReactNode {
  return text.split('`').map((part, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: parts do not reorder
    index % 2 === 1 ? <code key={index}>{part}</code> : part,
  )
}

function formatValue(
  value: Value,
  t: ReturnType<typeof useI18n>['t'],
  number: ReturnType<typeof useI18n>['number'],
): string {
  if (value === null) return t('common.none')
  if (typeof value === 'boolean') return t(value ? 'settings.on' : 'settings.off')
  return typeof value === 'number' ? number(value) : value
}
