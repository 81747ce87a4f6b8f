import { useState } from 'react'
import { api, data } from '../../api/client.ts'
import { useAttempt } from '../../app/mutations.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Card, Notice, QueryResult } from '../../ui/layout.tsx'
import styles from './page.module.css'
import { AFFECTED_QUERIES, CARDS, type EngineStatus, useEngine, useReindex } from './queries.ts'

export function VectorIndexCard() {
  const { t } = useI18n()
  const progress = useReindex()
  const engine = useEngine().data
  const hasModel = engine?.embedding.source !== null
  return (
    <Card title={t('engine.vectorIndex')} id={CARDS.vectors}>
      {hasModel ? (
        <QueryResult query={progress} lines={3}>
          {(now) => (
            <div className={styles.stack}>
              {engine !== undefined && <Counts {...engine.vectorStore} pending={now.pending} />}
              <IndexProgress {...now} />
            </div>
          )}
        </QueryResult>
      ) : (
        <p className={styles.soft}>{t('engine.vectorIndexOff')}</p>
      )}
    </Card>
  )
}

function Counts({ memories, turns, pending }: EngineStatus['vectorStore'] & { pending: number }) {
  const { t, number } = useI18n()
  return (
    <dl className={styles.facts}>
      <dt>{t('engine.storeMemories')}</dt>
      <dd>{number(memories ?? 0)}</dd>
      <dt>{t('engine.storeTurns')}</dt>
      <dd>{number(turns ?? 0)}</dd>
      <dt>{t('engine.notEmbedded')}</dt>
      <dd>{number(pending)}</dd>
    </dl>
  )
}

function IndexProgress({
  running,
  done,
  total,
  pending,
  error,
  perSecond,
}: NonNullable<ReturnType<typeof useReindex>['data']>) {
  const { t } = useI18n()
  const attempt = useAttempt(AFFECTED_QUERIES)
  const [isConfirming, setConfirming] = useState(false)
  const start = (force: boolean) =>
    attempt(() => data(api.POST('/api/memory/reindex', { body: { force } })))
  const cancel = () => attempt(() => data(api.DELETE('/api/memory/reindex')))
  return (
    <div className={styles.stack}>
      <p className={styles.soft}>{t('engine.vectorIndexHelp')}</p>
      {running ? (
        <div role="status">
          <progress
            className={styles.progress}
            aria-label={t('engine.vectorIndex')}
            value={done}
            max={Math.max(1, total)}
          />
          <p className={styles.small}>
            {t('engine.progress', { done, total })}
            {perSecond !== null && ` · ${t('engine.rate', { count: perSecond })}`}
          </p>
          <Button isSmall onClick={() => void cancel()}>
            {t('engine.cancelReindex')}
          </Button>
        </div>
      ) : (
        <>
          {error !== null && <Notice tone="bad">{error}</Notice>}
          <p role="status">
            {pending > 0
              ? t('engine.pendingEmbeddings', { count: pending })
              : t(total > 0 && error === null ? 'engine.embeddedCount' : 'engine.allEmbedded', {
                  count: total,
                })}
          </p>
        </>
      )}
      <div className={styles.line}>
        <Button
          look="primary"
          icon="run"
          isBusy={running}
          disabled={pending === 0}
          onClick={() => void start(false)}
        >
          {t('engine.embedNow')}
        </Button>
        <Button icon="restore" disabled={running} onClick={() => setConfirming(true)}>
          {t('engine.rebuildIndex')}
        </Button>
      </div>
      <Confirm
        isOpen={isConfirming}
        onClose={() => setConfirming(false)}
        isDangerous={false}
        title={t('engine.rebuildIndexTitle')}
        description={t('engine.rebuildIndexHelp')}
        action={t('engine.rebuildIndex')}
        onConfirm={() => start(true)}
      />
    </div>
  )
}
