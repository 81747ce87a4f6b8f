import { type FormEvent, useState } from 'react'
import { api, data } from '../../api/client.ts'
import type { paths } from '../../api/types.ts'
import { useAttempt } from '../../app/mutations.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/layout.tsx'
import styles from './page.module.css'
import { AFFECTED_QUERIES, useEngine } from './queries.ts'

type TestResult =
  paths['/api/memory/embedding-test']['post']['responses'][200]['content']['application/json']

/** Embeds two texts and shows duration, dimensions and similarity. */
export function EmbeddingTest() {
  const { t } = useI18n()
  const attempt = useAttempt(AFFECTED_QUERIES)
  const runningModel = useEngine().data?.embedding.model
  const [text, setText] = useState(() => t('engine.testText'))
  const [other, setOther] = useState(() => t('engine.testOther'))
  const [result, setResult] = useState<TestResult | null>(null)
  const [isBusy, setBusy] = useState(false)
  const run = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setResult(null)
    const body = { text, ...(other.trim() === '' ? {} : { other }) }
    setResult(await attempt(() => data(api.POST('/api/memory/embedding-test', { body }))))
    setBusy(false)
  }
  return (
    <form className={styles.part} onSubmit={(event) => void run(event)}>
      <h3>{t('engine.testEmbedding')}</h3>
      {runningModel != null && (
        <p className={styles.soft}>{t('engine.testedModel', { model: runningModel })}</p>
      )}
      <TextField
        label={t('engine.testTextLabel')}
        value={text}
        required
        maxLength={2_000}
        onChange={({ target }) => setText(target.value)}
      />
      <TextField
        label={t('engine.testOtherLabel')}
        value={other}
        maxLength={2_000}
        onChange={({ target }) => setOther(target.value)}
      />
      <div className={styles.line}>
        <Button type="submit" icon="run" isBusy={isBusy} disabled={text.trim() === ''}>
          {t('engine.test')}
        </Button>
        {isBusy && <span className={styles.small}>{t('engine.testPending')}</span>}
      </div>
      {result !== null && <ResultNotice result={result} />}
    </form>
  )
}

function ResultNotice({ result }: { result: TestResult }) {
  const { t, number } = useI18n()
  const { works, error, model, dimensions, latencyMs, similarity } = result
  if (!works) return <Notice tone="bad">{error?.message}</Notice>
  return (
    <Notice tone="good">
      {t('engine.embeddingResult', {
        model: model ?? '',
        count: dimensions ?? 0,
        milliseconds: number(latencyMs, { maximumFractionDigits: 1 }),
      })}
      {similarity !== null && (
        <> {t('engine.similarity', { value: number(similarity, { maximumFractionDigits: 2 }) })}</>
      )}
    </Notice>
  )
}
