import { useState } from 'react'
import { api, data } from '../../api/client.ts'
import type { paths } from '../../api/types.ts'
import { useOwner } from '../../app/search-params.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { CommittedField } from '../../ui/commit-field.tsx'
import { Switch } from '../../ui/field.tsx'
import { Card, Loaded, Notice } from '../../ui/layout.tsx'
import { type InForce, storedAt, useChange, useInForce, type Value } from '../settings/queries.ts'
import styles from './page.module.css'
import { CARDS, useAttempt, useEngine } from './queries.ts'

type Tested =
  paths['/api/memory/rerank-test']['post']['responses'][200]['content']['application/json']

export function RerankCard() {
  const { t } = useI18n()
  const settings = useInForce('system', useOwner())
  const engine = useEngine()
  return (
    <Card title={t('engine.rerank')} id={CARDS.rerank}>
      <div className={styles.stack}>
        <p className={styles.soft}>{t('engine.rerankHelp')}</p>
        <Loaded query={engine} lines={3}>
          {({ rerank }) =>
            rerank.available || rerank.enabled ? (
              <Loaded query={settings} lines={3}>
                {(inForce) => <Configured settings={inForce} trouble={rerank.reason} />}
              </Loaded>
            ) : (
              <p className={styles.soft}>
                {t('engine.rerankSetup')} <Variables />
              </p>
            )
          }
        </Loaded>
      </div>
    </Card>
  )
}

/** What the server is started with. */
function Variables() {
  return (
    <>
      <code>RECOLLECT_RERANK_URL</code>, <code>RECOLLECT_RERANK_MODEL</code>
    </>
  )
}

function Configured({ settings, trouble }: { settings: InForce; trouble: string | null }) {
  const { t } = useI18n()
  const change = useChange('system', useOwner())
  const [fault, setFault] = useState<string>()
  const set = async (name: string, value: Value) => {
    const told = await change(name, value, storedAt('system', settings, name))
    setFault(told.fault ?? undefined)
  }
  return (
    <>
      {trouble !== null && <Notice tone="bad">{trouble}</Notice>}
      <p className={styles.soft}>
        {t('engine.rerankEnvironment')} <Variables />
      </p>
      <Switch
        label={t('engine.rerankEnable')}
        isOn={settings.valueOf('rerankEnabled') === true}
        onTurn={(isOn) => void set('rerankEnabled', isOn)}
      />
      <CommittedField
        label={t('engine.rerankCandidates')}
        type="number"
        min={0}
        max={100}
        fault={fault}
        value={String(settings.valueOf('rerankCandidates'))}
        onCommit={(text) => void set('rerankCandidates', text === '' ? null : Number(text))}
      />
      <RerankTest />
    </>
  )
}

function RerankTest() {
  const { t, number } = useI18n()
  const attempt = useAttempt()
  const [tested, setTested] = useState<Tested | null>(null)
  const [isBusy, setBusy] = useState(false)
  const run = async () => {
    setBusy(true)
    setTested(await attempt(() => data(api.POST('/api/memory/rerank-test'))))
    setBusy(false)
  }
  return (
    <>
      <div className={styles.line}>
        <Button icon="run" isBusy={isBusy} onClick={() => void run()}>
          {t('engine.test')}
        </Button>
      </div>
      {tested !== null &&
        (tested.works ? (
          <Notice tone={tested.isRight === true ? 'good' : 'warn'}>
            {t(tested.isRight === true ? 'engine.rerankPassed' : 'engine.rerankFailed', {
              model: tested.model ?? '',
              milliseconds: number(tested.latencyMs, { maximumFractionDigits: 0 }),
            })}
          </Notice>
        ) : (
          <Notice tone="bad">{tested.error?.message}</Notice>
        ))}
    </>
  )
}
