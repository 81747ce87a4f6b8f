/** The embedding source: configured, running, and a test. */
import { useId } from 'react'
import { useOwner } from '../../app/search-params.ts'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { CommitField } from '../../ui/commit-field.tsx'
import { Switch } from '../../ui/field.tsx'
import { Card, Notice, QueryResult } from '../../ui/layout.tsx'
import {
  type EffectiveSettings,
  storedValue,
  useChange,
  useEffectiveSettings,
  type Value,
} from '../settings/queries.ts'
import styles from './embedding.module.css'
import { EmbeddingTest } from './embedding-test.tsx'
import layout from './page.module.css'
import { CARDS, type EmbeddingProvider, useEmbeddingProviders, useEngine } from './queries.ts'

const SOURCES = ['auto', 'transformers', 'static', 'remote', 'none'] as const
const SOURCE_LABELS: Record<(typeof SOURCES)[number], readonly [MessageKey, MessageKey]> = {
  auto: ['engine.sourceAuto', 'engine.sourceAutoHelp'],
  transformers: ['engine.sourceLocal', 'engine.sourceLocalHelp'],
  static: ['engine.sourceStatic', 'engine.sourceStaticHelp'],
  remote: ['engine.sourceRemote', 'engine.sourceRemoteHelp'],
  none: ['engine.sourceNone', 'engine.sourceNoneHelp'],
}

export function EmbeddingCard() {
  const { t } = useI18n()
  const effective = useEffectiveSettings('system', useOwner())
  const providers = useEmbeddingProviders()
  return (
    <Card title={t('engine.embedding')} id={CARDS.embedding}>
      <QueryResult query={effective} lines={8}>
        {(settings) => (
          <QueryResult query={providers} lines={8}>
            {(known) => (
              <div className={layout.stack}>
                <RestartNotice settings={settings} providers={known} />
                <Sources settings={settings} providers={known} />
                <EmbeddingTest />
              </div>
            )}
          </QueryResult>
        )}
      </QueryResult>
    </Card>
  )
}

type SettingsProps = { settings: EffectiveSettings; providers: readonly EmbeddingProvider[] }

function Sources({ settings, providers }: SettingsProps) {
  const { t } = useI18n()
  const name = useId()
  const change = useChange('system', useOwner())
  const set = (setting: string, value: Value) =>
    void change(setting, value, storedValue('system', settings, setting))
  const source = settings.valueOf('embedding.source')
  return (
    <>
      <fieldset className={styles.choices}>
        <legend>{t('engine.source')}</legend>
        {SOURCES.map((value) => (
          <label key={value} className={styles.choice}>
            <input
              type="radio"
              name={name}
              checked={source === value}
              onChange={() => set('embedding.source', value)}
            />
            <strong>{t(SOURCE_LABELS[value][0])}</strong>
            <span>{t(SOURCE_LABELS[value][1])}</span>
          </label>
        ))}
      </fieldset>
      {source === 'auto' && (
        <div className={layout.line}>
          {(['embedding.localEnabled', 'embedding.staticEnabled'] as const).map((each) => (
            <Switch
              key={each}
              label={t(
                each === 'embedding.localEnabled' ? 'engine.allowLocal' : 'engine.allowStatic',
              )}
              isOn={settings.valueOf(each) === true}
              onCheckedChange={(isOn) => set(each, isOn)}
            />
          ))}
        </div>
      )}
      {(source === 'auto' || source === 'remote') && (
        <RemoteModel
          value={String(settings.valueOf('embedding.model') ?? '')}
          providers={providers}
          onSet={(model) => set('embedding.model', model === '' ? null : model)}
        />
      )}
    </>
  )
}

const BUNDLED = ['transformers', 'static']

function RemoteModel({
  value,
  providers,
  onSet,
}: {
  value: string
  providers: readonly EmbeddingProvider[]
  onSet: (model: string) => void
}) {
  const { t } = useI18n()
  const list = useId()
  const remote = providers.filter(({ provider }) => !BUNDLED.includes(provider))
  const provider = providerOf(value, remote)
  return (
    <>
      <CommitField
        label={t('engine.remoteModel')}
        help={t('engine.remoteModelHelp')}
        list={list}
        placeholder="openai/text-embedding-3-small"
        spellCheck={false}
        maxLength={200}
        value={value}
        onCommit={onSet}
      />
      <datalist id={list}>
        {remote
          .flatMap(({ models }) => models)
          .map(({ id }) => (
            <option key={id} value={id} />
          ))}
      </datalist>
      {value !== '' && provider === undefined && (
        <Notice tone="warn">{t('engine.providerUnknown')}</Notice>
      )}
      {provider?.hasKey === false && (
        <Notice tone="warn">
          {t('engine.providerKeyMissing', { provider: provider.provider })}
        </Notice>
      )}
    </>
  )
}

function providerOf(model: string, providers: readonly EmbeddingProvider[]) {
  return providers.find(({ provider }) => model.startsWith(`${provider}/`))
}

/**
 * Shown if the configured source differs from the running one: settings are read at startup, and startup options
 * override them.
 */
function RestartNotice({ settings, providers }: SettingsProps) {
  const { t } = useI18n()
  const embedding = useEngine().data?.embedding
  if (embedding === undefined) return null
  const configured = configuredSource(settings, providers)
  const model = String(settings.valueOf('embedding.model') ?? '')
  const isOtherModel =
    configured !== null &&
    !BUNDLED.includes(configured) &&
    model !== `${configured}/${embedding.model}`
  if (configured === embedding.source && !isOtherModel) return null
  return (
    <Notice tone="warn">
      {t('engine.restartPending', {
        running: embedding.source ?? t('common.none'),
        configured: configured ?? t('common.none'),
      })}
    </Notice>
  )
}

/** Mirrors how the server selects the source at startup. */
function configuredSource(
  settings: EffectiveSettings,
  providers: readonly EmbeddingProvider[],
): string | null {
  const source = settings.valueOf('embedding.source')
  const model = String(settings.valueOf('embedding.model') ?? '')
  const remote = providerOf(model, providers)
  if (source === 'none') return null
  if (source === 'remote') return remote?.provider ?? null
  if (source !== 'auto') return String(source)
  if (remote?.hasKey === true) return remote.provider
  if (settings.valueOf('embedding.localEnabled') === true) return 'transformers'
  return settings.valueOf('embedding.staticEnabled') === true ? 'static' : null
}
