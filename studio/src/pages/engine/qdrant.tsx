/** The vector replica: its status and the configuration of Qdrant. */
import { type FormEvent, useState } from 'react'
import { api, data } from '../../api/client.ts'
import type { paths, VectorReplicaStatus } from '../../api/types.ts'
import { useAttempt } from '../../app/mutations.ts'
import { useOwner } from '../../app/search-params.ts'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Select, TextField } from '../../ui/field.tsx'
import { Card, Chip, Dot, Notice, QueryResult, type Tone } from '../../ui/layout.tsx'
import { useToast } from '../../ui/toast.tsx'
import { MemoryLine } from '../receipts/references.tsx'
import styles from './page.module.css'
import { AFFECTED_QUERIES, CARDS, useQdrant } from './queries.ts'

type Qdrant = paths['/api/settings/qdrant']['get']['responses'][200]['content']['application/json']
type Health =
  paths['/api/settings/qdrant/health']['get']['responses'][200]['content']['application/json']

/** A product name, the same in every language. */
const QDRANT = 'Qdrant'

export const REPLICA_STATES: Readonly<
  Record<VectorReplicaStatus['state'], { readonly tone: Tone; readonly text: MessageKey }>
> = {
  off: { tone: 'plain', text: 'engine.off' },
  checking: { tone: 'accent', text: 'engine.replicaChecking' },
  backfilling: { tone: 'accent', text: 'engine.replicaBackfilling' },
  active: { tone: 'good', text: 'engine.replicaActive' },
  lagging: { tone: 'warn', text: 'engine.replicaLagging' },
  down: { tone: 'bad', text: 'engine.failing' },
  recovering: { tone: 'accent', text: 'engine.replicaRecovering' },
  misconfigured: { tone: 'bad', text: 'engine.replicaMisconfigured' },
}

export function QdrantCard() {
  const { t } = useI18n()
  const qdrant = useQdrant()
  return (
    <Card title={QDRANT} id={CARDS.qdrant}>
      <div className={styles.stack}>
        <p className={styles.soft}>{t('engine.replicaHelp')}</p>
        <QueryResult query={qdrant} lines={5}>
          {(current) => (
            <>
              <ReplicaStatus replica={current.replica} />
              <QdrantForm qdrant={current} />
              {current.url !== null && <QdrantMaintenance />}
              {current.enabled && <QdrantSearch />}
            </>
          )}
        </QueryResult>
      </div>
    </Card>
  )
}

function ReplicaStatus({ replica }: { replica: VectorReplicaStatus }) {
  const { t, time } = useI18n()
  const { backend, state, reason, progress, pendingMemories, nextRetryAt } = replica
  const { tone, text } = REPLICA_STATES[state]
  return (
    <div className={styles.stack} role="status">
      <Dot tone={tone}>
        {backend !== null && backend !== 'qdrant' ? `${backend}: ${t(text)}` : t(text)}
      </Dot>
      {reason !== null && <Notice tone={tone === 'bad' ? 'bad' : 'plain'}>{reason}</Notice>}
      {progress !== null && (
        <div>
          <progress
            className={styles.progress}
            aria-label={t('engine.replicaBackfilling')}
            value={progress.done}
            max={Math.max(1, progress.total)}
          />
          <p className={styles.small}>{t('engine.progress', progress)}</p>
        </div>
      )}
      {pendingMemories !== null && pendingMemories > 0 && (
        <p className={styles.small}>{t('engine.replicaPending', { count: pendingMemories })}</p>
      )}
      {nextRetryAt !== null && (
        <p className={styles.small}>{t('engine.replicaNextRetry', { time: time(nextRetryAt) })}</p>
      )}
    </div>
  )
}

type Quantization = Qdrant['quantization']

function QdrantForm({ qdrant }: { qdrant: Qdrant }) {
  const { t } = useI18n()
  const showToast = useToast()
  const attempt = useAttempt(AFFECTED_QUERIES)
  const [url, setUrl] = useState(qdrant.url ?? '')
  const [apiKey, setApiKey] = useState('')
  const [collection, setCollection] = useState(qdrant.collection)
  const [quantization, setQuantization] = useState<Quantization>(qdrant.quantization)
  const [isBusy, setBusy] = useState(false)
  const updateQdrant = async (body: {
    enabled: boolean
    url?: string
    apiKey?: string
    collection?: string
    quantization?: Quantization
  }) => {
    setBusy(true)
    const saved = await attempt(() => data(api.PUT('/api/settings/qdrant', { body })))
    setBusy(false)
    // Clears the field only if it still holds the saved key: the user may have typed another one in the meantime.
    if (saved !== null) setApiKey((typed) => (typed === body.apiKey ? '' : typed))
    return saved !== null
  }
  const turnOff = async () => {
    if (!(await updateQdrant({ enabled: false }))) return
    const undo = async () => {
      if (await updateQdrant({ enabled: true })) showToast({ text: t('common.undone') })
    }
    showToast({ text: t('engine.qdrantDisabled'), action: { name: t('common.undo'), run: undo } })
  }
  const save = (event: FormEvent) => {
    event.preventDefault()
    const key = apiKey === '' ? {} : { apiKey }
    const prefix = collection.trim() === '' ? {} : { collection: collection.trim() }
    void updateQdrant({ enabled: true, url: url.trim(), quantization, ...prefix, ...key })
  }
  return (
    <form className={styles.part} onSubmit={save}>
      <TextField
        label={t('engine.qdrantUrl')}
        type="url"
        required
        maxLength={200}
        placeholder="http://127.0.0.1:6333"
        value={url}
        onChange={({ target }) => setUrl(target.value)}
      />
      <TextField
        label={t('engine.qdrantKey')}
        type="password"
        autoComplete="off"
        maxLength={4_000}
        help={
          qdrant.apiKeyMasked === null
            ? t('engine.qdrantKeyHelp')
            : t('engine.qdrantKeyStored', { masked: qdrant.apiKeyMasked })
        }
        value={apiKey}
        onChange={({ target }) => setApiKey(target.value)}
      />
      <TextField
        label={t('engine.qdrantCollection')}
        help={t('engine.qdrantCollectionHelp')}
        maxLength={60}
        value={collection}
        onChange={({ target }) => setCollection(target.value)}
      />
      <Select
        label={t('engine.quantization')}
        help={t('engine.quantizationHelp')}
        value={quantization}
        onValueChange={setQuantization}
        options={[
          { value: 'none', text: t('engine.quantizationNone') },
          { value: 'int8', text: t('engine.quantizationInt8') },
          { value: 'binary', text: t('engine.quantizationBinary') },
        ]}
      />
      <div className={styles.line}>
        <Button type="submit" look="primary" isBusy={isBusy} disabled={url.trim() === ''}>
          {t('engine.qdrantSave')}
        </Button>
        {qdrant.enabled && (
          <Button disabled={isBusy} onClick={() => void turnOff()}>
            {t('engine.qdrantDisable')}
          </Button>
        )}
      </div>
    </form>
  )
}

function QdrantMaintenance() {
  const { t, number } = useI18n()
  const attempt = useAttempt(AFFECTED_QUERIES)
  const [health, setHealth] = useState<Health | null>(null)
  const [orphanedCount, setOrphanedCount] = useState<number | null>(null)
  const [result, setResult] = useState<{ tone: Tone; text: string } | null>(null)
  const [isBusy, setBusy] = useState(false)
  const cleanUp = async (dryRun: boolean) => {
    setBusy(true)
    const done = await attempt(() =>
      data(api.POST('/api/settings/qdrant/cleanup', { body: { dryRun } })),
    )
    setBusy(false)
    if (done === null) return
    if (!done.ok) setResult({ tone: 'bad', text: done.error ?? '' })
    else if (dryRun && done.deletedCount > 0) setOrphanedCount(done.deletedCount)
    else setResult({ tone: 'good', text: t('engine.qdrantCleaned', { count: done.deletedCount }) })
  }
  const test = async () => {
    setBusy(true)
    setHealth(await attempt(() => data(api.GET('/api/settings/qdrant/health'))))
    setBusy(false)
  }
  return (
    <div className={styles.part}>
      <div className={styles.line}>
        <Button icon="run" isBusy={isBusy} onClick={() => void test()}>
          {t('engine.qdrantTest')}
        </Button>
        <Button disabled={isBusy} onClick={() => void cleanUp(true)}>
          {t('engine.qdrantClean')}
        </Button>
      </div>
      {health !== null && (
        <Notice tone={health.ok ? 'good' : 'bad'}>
          {health.ok
            ? t('engine.qdrantConnected', {
                detail: health.detail ?? QDRANT,
                milliseconds: number(health.latencyMs ?? 0, { maximumFractionDigits: 0 }),
              })
            : health.error}
        </Notice>
      )}
      {result !== null && <Notice tone={result.tone}>{result.text}</Notice>}
      <Confirm
        isOpen={orphanedCount !== null}
        onClose={() => setOrphanedCount(null)}
        title={t('engine.qdrantCleanTitle')}
        description={t('engine.qdrantCleanHelp', { count: orphanedCount ?? 0 })}
        action={t('engine.qdrantClean')}
        onConfirm={() => cleanUp(false)}
      />
    </div>
  )
}

type SearchResponse =
  paths['/api/settings/qdrant/search']['post']['responses'][200]['content']['application/json']

/** Searches Qdrant directly, to verify the connection. */
function QdrantSearch() {
  const { t, number } = useI18n()
  const owner = useOwner()
  const attempt = useAttempt(AFFECTED_QUERIES)
  const [query, setQuery] = useState('')
  const [response, setResponse] = useState<SearchResponse | null>(null)
  const [isBusy, setBusy] = useState(false)
  const search = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    const body = { owner, query: query.trim() }
    setResponse(await attempt(() => data(api.POST('/api/settings/qdrant/search', { body }))))
    setBusy(false)
  }
  return (
    <form className={styles.part} onSubmit={(event) => void search(event)}>
      <TextField
        label={t('engine.qdrantQuery')}
        required
        maxLength={2_000}
        value={query}
        onChange={({ target }) => setQuery(target.value)}
      />
      <div className={styles.line}>
        <Button type="submit" icon="search" isBusy={isBusy} disabled={query.trim() === ''}>
          {t('engine.qdrantSearch')}
        </Button>
      </div>
      {response !== null && !response.ok && <Notice tone="bad">{response.error}</Notice>}
      {response?.ok === true && (
        <div role="status">
          <p className={styles.small}>
            {t('engine.qdrantFound', { count: response.results.length })}
          </p>
          <ol className={styles.found}>
            {response.results.map(({ id, score }) => (
              <li key={id}>
                <MemoryLine owner={owner} id={id}>
                  <Chip>{number(score, { maximumFractionDigits: 3 })}</Chip>
                </MemoryLine>
              </li>
            ))}
          </ol>
        </div>
      )}
    </form>
  )
}
