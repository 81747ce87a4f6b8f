/** The language models that memory asks: which, whether they answer, and what they have used today. */
import { Link } from '@tanstack/react-router'
import { useId, useState } from 'react'
import { api, data } from '../../api/client.ts'
import type { paths } from '../../api/types.ts'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { CommittedField } from '../../ui/commit-field.tsx'
import { Card, Chip, Loaded, Meter, Notice } from '../../ui/layout.tsx'
import { Table } from '../../ui/table.tsx'
import { type InForce, storedAt, useChange, useInForce } from '../settings/queries.ts'
import styles from './page.module.css'
import { CARDS, useAttempt, useLearning, useModelProviders } from './queries.ts'

type Tested = paths['/api/models/test']['post']['responses'][200]['content']['application/json']
type ModelSetting = 'coreModel' | 'fastModel'

const FIELDS: readonly (readonly [ModelSetting, MessageKey, MessageKey])[] = [
  ['coreModel', 'engine.extractionModel', 'engine.extractionModelHelp'],
  ['fastModel', 'engine.gateModel', 'engine.gateModelHelp'],
]

export function ModelsCard({ owner }: { owner: string }) {
  const { t } = useI18n()
  const list = useId()
  const settings = useInForce('system', owner)
  const own = useInForce('owner', owner).data
  const known = useModelProviders().data
  return (
    <Card title={t('engine.models')} id={CARDS.models}>
      <div className={styles.stack}>
        <p className={styles.soft}>{t('engine.modelsHelp')}</p>
        <Loaded query={settings} lines={4}>
          {(inForce) =>
            FIELDS.map(([name, label, help]) => (
              <ModelField
                key={name}
                {...{ name, owner, list }}
                label={t(label)}
                help={t(help)}
                settings={inForce}
              />
            ))
          }
        </Loaded>
        <datalist id={list}>
          {[
            ...(known?.providers.flatMap(({ models }) => models) ?? []),
            ...(known?.aliases ?? []),
          ].map((model) => (
            <option key={model} value={model} />
          ))}
        </datalist>
        {own?.sourceOf('coreModel') === 'owner' && (
          <Notice
            action={
              <Link to="/studio/settings" search={{ owner, q: 'coreModel' }}>
                {t('engine.openSettings')}
              </Link>
            }
          >
            {t('engine.ownerModel', { owner, model: String(own.valueOf('coreModel')) })}
          </Notice>
        )}
        <Spent owner={owner} />
        <Providers />
      </div>
    </Card>
  )
}

function ModelField({
  name,
  owner,
  list,
  label,
  help,
  settings,
}: {
  name: ModelSetting
  owner: string
  list: string
  label: string
  help: string
  settings: InForce
}) {
  const { t } = useI18n()
  const change = useChange('system', owner)
  const attempt = useAttempt()
  const [tested, setTested] = useState<Tested | null>(null)
  const [fault, setFault] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const model = String(settings.valueOf(name) ?? '')
  const set = async (text: string) => {
    setTested(null)
    const before = storedAt('system', settings, name)
    const told = await change(name, text === '' ? null : text, before)
    setFault(told.fault ?? undefined)
  }
  const test = async () => {
    setBusy(true)
    setTested(null)
    setTested(await attempt(() => data(api.POST('/api/models/test', { body: { model, owner } }))))
    setBusy(false)
  }
  return (
    <div className={styles.stack}>
      <CommittedField
        {...{ label, help, list, fault }}
        placeholder="openai/gpt-5-mini"
        spellCheck={false}
        maxLength={200}
        value={model}
        onCommit={(text) => void set(text)}
      />
      <div className={styles.line}>
        <Button
          isSmall
          icon="run"
          isBusy={isBusy}
          disabled={model === ''}
          aria-label={`${t('engine.testModel')}: ${label}`}
          onClick={() => void test()}
        >
          {t('engine.testModel')}
        </Button>
        {isBusy && <span className={styles.small}>{t('engine.testPending')}</span>}
      </div>
      {tested !== null && <Result tested={tested} />}
    </div>
  )
}

function Result({ tested }: { tested: Tested }) {
  const { t, number, time } = useI18n()
  const { works, error, answer, tokens, latencyMs } = tested
  if (works) {
    return (
      <Notice tone="good">
        {t('engine.answered', {
          answer: answer ?? '',
          milliseconds: number(latencyMs, { maximumFractionDigits: 0 }),
          tokens: (tokens?.input ?? 0) + (tokens?.output ?? 0),
        })}
      </Notice>
    )
  }
  return (
    <Notice tone="bad">
      {error?.message}
      {error?.until != null && <> {t('engine.retryAt', { time: time(error.until) })}</>}
    </Notice>
  )
}

function Spent({ owner }: { owner: string }) {
  const { t, number } = useI18n()
  const learning = useLearning(owner)
  return (
    <Loaded query={learning} lines={1}>
      {({ spent }) => {
        if (spent === null) return null
        const used = spent.input + spent.output
        return (
          <div className={styles.line}>
            <span>
              {spent.budget === 0
                ? t('engine.usageToday', { owner, used, calls: spent.calls })
                : t('engine.budgetUsed', { owner, used, budget: spent.budget, calls: spent.calls })}
            </span>
            {spent.budget > 0 && (
              <Meter
                name={t('engine.budgetShare', {
                  share: number(used / spent.budget, { style: 'percent' }),
                })}
                value={Math.min(used, spent.budget)}
                max={spent.budget}
              />
            )}
          </div>
        )
      }}
    </Loaded>
  )
}

function Providers() {
  const { t } = useI18n()
  const known = useModelProviders()
  return (
    <div className={styles.part}>
      <h3>{t('engine.providers')}</h3>
      <Loaded query={known} lines={3}>
        {({ providers, error }) =>
          error !== null ? (
            <Notice tone="bad">{error}</Notice>
          ) : providers.length === 0 ? (
            <p className={styles.soft}>{t('engine.noProviders')}</p>
          ) : (
            <Table
              name={t('engine.providers')}
              rows={providers}
              idOf={({ name }) => name}
              columns={[
                { name: t('engine.provider'), cell: ({ name }) => <code>{name}</code> },
                { name: t('engine.kind'), cell: ({ kind }) => kind },
                {
                  name: t('engine.key'),
                  cell: ({ hasKey }) => (
                    <Chip tone={hasKey ? 'good' : 'warn'}>
                      {t(hasKey ? 'engine.keyAvailable' : 'engine.keyMissing')}
                    </Chip>
                  ),
                },
                {
                  name: t('engine.modelCount'),
                  isNumber: true,
                  cell: ({ models }) => models.length,
                },
              ]}
            />
          )
        }
      </Loaded>
    </div>
  )
}
