/** The language models: configuration, a test, and today's usage. */
import { Link } from '@tanstack/react-router'
import { useId, useState } from 'react'
import { api, data } from '../../api/client.ts'
import type { paths } from '../../api/types.ts'
import { useAttempt } from '../../app/mutations.ts'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { CommitField } from '../../ui/commit-field.tsx'
import { Card, Chip, Meter, Notice, QueryResult } from '../../ui/layout.tsx'
import { Table } from '../../ui/table.tsx'
import {
  type EffectiveSettings,
  storedValue,
  useChange,
  useEffectiveSettings,
} from '../settings/queries.ts'
import styles from './page.module.css'
import { AFFECTED_QUERIES, CARDS, useLearning, useModelProviders } from './queries.ts'

type TestResult = paths['/api/models/test']['post']['responses'][200]['content']['application/json']
type ModelSetting = 'learning.extractionModel' | 'gateway.gateModel'

const FIELDS: readonly (readonly [ModelSetting, MessageKey, MessageKey])[] = [
  ['learning.extractionModel', 'engine.extractionModel', 'engine.extractionModelHelp'],
  ['gateway.gateModel', 'engine.gateModel', 'engine.gateModelHelp'],
]

export function ModelsCard({ owner }: { owner: string }) {
  const { t } = useI18n()
  const list = useId()
  const settings = useEffectiveSettings('system', owner)
  const own = useEffectiveSettings('owner', owner).data
  const known = useModelProviders().data
  return (
    <Card title={t('engine.models')} id={CARDS.models}>
      <div className={styles.stack}>
        <p className={styles.soft}>{t('engine.modelsHelp')}</p>
        <QueryResult query={settings} lines={4}>
          {(effective) =>
            FIELDS.map(([name, label, help]) => (
              <ModelField
                key={name}
                {...{ name, owner, list }}
                label={t(label)}
                help={t(help)}
                settings={effective}
              />
            ))
          }
        </QueryResult>
        <datalist id={list}>
          {[
            ...(known?.providers.flatMap(({ models }) => models) ?? []),
            ...(known?.aliases ?? []),
          ].map((model) => (
            <option key={model} value={model} />
          ))}
        </datalist>
        {own?.sourceOf('learning.extractionModel') === 'owner' && (
          <Notice
            action={
              <Link to="/studio/settings" search={{ owner, q: 'learning.extractionModel' }}>
                {t('engine.openSettings')}
              </Link>
            }
          >
            {t('engine.ownerModel', {
              owner,
              model: String(own.valueOf('learning.extractionModel')),
            })}
          </Notice>
        )}
        <BudgetUsage owner={owner} />
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
  settings: EffectiveSettings
}) {
  const { t } = useI18n()
  const change = useChange('system', owner)
  const attempt = useAttempt(AFFECTED_QUERIES)
  const [result, setResult] = useState<TestResult | null>(null)
  const [fault, setFault] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const model = String(settings.valueOf(name) ?? '')
  const set = async (text: string) => {
    setResult(null)
    const before = storedValue('system', settings, name)
    const outcome = await change(name, text === '' ? null : text, before)
    setFault(outcome.fault ?? undefined)
  }
  const test = async () => {
    setBusy(true)
    setResult(null)
    setResult(await attempt(() => data(api.POST('/api/models/test', { body: { model, owner } }))))
    setBusy(false)
  }
  return (
    <div className={styles.stack}>
      <CommitField
        {...{ label, help, list, fault }}
        placeholder="openai/gpt-6-luna"
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
      {result !== null && <ResultNotice result={result} />}
    </div>
  )
}

function ResultNotice({ result }: { result: TestResult }) {
  const { t, number, time } = useI18n()
  const { works, error, answer, tokens, latencyMs } = result
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
      {error?.retryAt != null && <> {t('engine.retryAt', { time: time(error.retryAt) })}</>}
    </Notice>
  )
}

function BudgetUsage({ owner }: { owner: string }) {
  const { t, number } = useI18n()
  const learning = useLearning(owner)
  return (
    <QueryResult query={learning} lines={1}>
      {({ usageToday }) => {
        if (usageToday === null) return null
        const used = usageToday.input + usageToday.output
        return (
          <div className={styles.line}>
            <span>
              {usageToday.budget === 0
                ? t('engine.usageToday', { owner, used, calls: usageToday.calls })
                : t('engine.budgetUsed', {
                    owner,
                    used,
                    budget: usageToday.budget,
                    calls: usageToday.calls,
                  })}
            </span>
            {usageToday.budget > 0 && (
              <Meter
                name={t('engine.budgetShare', {
                  share: number(used / usageToday.budget, { style: 'percent' }),
                })}
                value={Math.min(used, usageToday.budget)}
                max={usageToday.budget}
              />
            )}
          </div>
        )
      }}
    </QueryResult>
  )
}

function Providers() {
  const { t } = useI18n()
  const known = useModelProviders()
  return (
    <div className={styles.part}>
      <h3>{t('engine.providers')}</h3>
      <QueryResult query={known} lines={3}>
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
      </QueryResult>
    </div>
  )
}
