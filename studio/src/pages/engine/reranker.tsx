import { useState } from 'react'
import { api, data } from '../../api/client.ts'
import type { paths } from '../../api/types.ts'
import { useAttempt } from '../../app/mutations.ts'
import { useOwner } from '../../app/search-params.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
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
import styles from './page.module.css'
import { AFFECTED_QUERIES, CARDS, useEngine } from './queries.ts'

type TestResult =
  paths['/api/memory/rerank-test']['post']['responses'][200]['content']['application/json']

export function RerankerCard() {
  const { t } = useI18n()
  const settings = useEffectiveSettings('system', useOwner())
  const engine = useEngine()
  return (
    <Card title={t('engine.rerank')} id={CARDS.rerank}>
      <div className={styles.stack}>
        <p className={styles.soft}>{t('engine.rerankHelp')}</p>
        <QueryResult query={engine} lines={3}>
          {({ rerank }) =>
            rerank.available || rerank.enabled ? (
              <QueryResult query={settings} lines={3}>
                {(effective) => (
                  <RerankerSettings settings={effective} failureReason={rerank.reason} />
                )}
              </QueryResult>
            ) : (
              <p className={styles.soft}>
                {t('engine.rerankSetup')} <EnvironmentVariables />
              </p>
            )
          }
        </QueryResult>
      </div>
    </Card>
  )
}

/** The environment variables that configure the reranker. */
function EnvironmentVariables() {
  return (
    <>
      <code>RECOLLECT_RERANK_URL</code>, <code>RECOLLECT_RERANK_MODEL</code>
    </>
  )
}

function RerankerSettings({
  settings,
  failureReason,
}: {
  settings: EffectiveSettings
  failureReason: string | null
}) {
  const { t } = useI18n()
  const change = useChange('system', useOwner())
  const [fault, setFault] = useState<string>()
  const set = async (name: string, value: Value) => {
    const outcome = await change(name, value, storedValue('system', settings, name))
    setFault(outcome.fault ?? undefined)
  }
  return (
    <>
      {failureReason !== null && <Notice tone="bad">{failureReason}</Notice>}
      <p className={styles.soft}>
        {t('engine.rerankEnvironment')} <EnvironmentVariables />
      </p>
      <Switch
        label={t('engine.rerankEnable')}
        isOn={settings.valueOf('recall.rerankEnabled') === true}
        onCheckedChange={(isOn) => void set('recall.rerankEnabled', isOn)}
      />
      <CommitField
        label={t('engine.rerankCandidates')}
        type="number"
        min={0}
        max={100}
        fault={fault}
        value={String(settings.valueOf('recall.rerankCandidates'))}
        onCommit={(text) => void set('recall.rerankCandidates', text === '' ? null : Number(text))}
      />
      <RerankTest />
    </>
  )
}

function RerankTest() {
  const { t, number } = useI18n()
  const attempt = useAttempt(AFFECTED_QUERIES)
  const [result, setResult] = useState<TestResult | null>(null)
  const [isBusy, setBusy] = useState(false)
  const run = async () => {
    setBusy(true)
    setResult(await attempt(() => data(api.POST('/api/memory/rerank-test'))))
    setBusy(false)
  }
  return (
    <>
      <div className={styles.line}>
        <Button icon="run" isBusy={isBusy} onClick={() => void run()}>
          {t('engine.test')}
        </Button>
      </div>
      {result !== null &&
        (result.works ? (
          <Notice tone={result.isCorrect === true ? 'good' : 'warn'}>
            {t(result.isCorrect === true ? 'engine.rerankPassed' : 'engine.rerankFailed', {
              model: result.model ?? '',
              milliseconds: number(result.latencyMs, { maximumFractionDigits: 0 }),
            })}
          </Notice>
        ) : (
          <Notice tone="bad">{result.error?.message}</Notice>
        ))}
    </>
  )
}
