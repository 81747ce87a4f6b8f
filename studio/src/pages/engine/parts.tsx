/** Every part that memory is made of: its true state, and what to do about it. */
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type I18n, useI18n } from '../../i18n/i18n.tsx'
import { Dot, Loaded, type Tone } from '../../ui/surface.tsx'
import styles from './parts.module.css'
import {
  type EngineStatus,
  JOBS_MAX,
  type Learning,
  type SystemStatus,
  useEngine,
  useJobCounts,
  useLearning,
  useSystem,
} from './queries.ts'

type State = {
  readonly tone: Tone
  readonly state: string
  /** What it is made of, or why it doesn't work. */
  readonly detail?: string | null
  /** What to do about it. */
  readonly advice?: ReactNode
}

export function Parts({ owner }: { owner: string }) {
  const { t } = useI18n()
  const engine = useEngine()
  const system = useSystem()
  return (
    <section aria-label={t('engine.parts')}>
      <Loaded query={engine} lines={4}>
        {(parts) => (
          <Loaded query={system} lines={4}>
            {(status) => (
              <ul className={styles.parts}>
                <Keyword {...parts} />
                <Embedding parts={parts} status={status} />
                <Vectors {...parts} />
                <Rerank {...parts} />
                <Models owner={owner} />
                <Jobs status={status} />
              </ul>
            )}
          </Loaded>
        )}
      </Loaded>
    </section>
  )
}

function Part({ name, tone, state, detail, advice }: State & { name: string }) {
  return (
    <li className={styles.part} aria-label={name}>
      <span className={styles.name}>{name}</span>
      <span className={styles.state}>
        <Dot tone={tone}>{state}</Dot>
      </span>
      {detail != null && <span className={styles.detail}>{detail}</span>}
      {advice !== undefined && <span className={styles.detail}>{advice}</span>}
    </li>
  )
}

function Keyword({ keyword }: EngineStatus) {
  const { t } = useI18n()
  return (
    <Part
      name={t('engine.keyword')}
      tone={keyword.available ? 'good' : 'bad'}
      state={t(keyword.available ? 'engine.works' : 'engine.fails')}
      detail={keyword.backend}
    />
  )
}

function Embedding({ parts, status }: { parts: EngineStatus; status: SystemStatus }) {
  const { t } = useI18n()
  return <Part name={t('engine.embedding')} {...embeddingState(parts, status, t)} />
}

function embeddingState({ embedding }: EngineStatus, { index }: SystemStatus, t: I18n['t']): State {
  const { source, model, dimensions, available, reason } = embedding
  if (source === null) {
    return { tone: 'warn', state: t('engine.off'), detail: t('engine.embeddingOff') }
  }
  const made =
    dimensions === null
      ? `${source} · ${model}`
      : `${source} · ${model} · ${t('engine.dimensions', { count: dimensions })}`
  if (!available) {
    return { tone: 'bad', state: t('engine.fails'), detail: reason, advice: made }
  }
  switch (index?.embedder.state) {
    case 'cold':
      return {
        tone: 'plain',
        state: t('engine.asleep'),
        detail: made,
        advice: t('engine.asleepHelp'),
      }
    case 'warming':
      return { tone: 'accent', state: t('engine.warming'), detail: made }
    default:
      return { tone: 'good', state: t('engine.works'), detail: made }
  }
}

function Vectors({ vectorStore }: EngineStatus) {
  const { t } = useI18n()
  const { backend, available, rowCount, needsReindex, reason } = vectorStore
  const name = t('engine.vectors')
  if (!available) {
    return <Part name={name} tone="plain" state={t('engine.off')} detail={t('engine.vectorsOff')} />
  }
  const kind = t(backend.startsWith('postgres') ? 'engine.pgvector' : 'engine.embedded')
  const detail = `${kind} · ${t('engine.vectorCount', { count: rowCount ?? 0 })}`
  if (reason !== null) {
    return <Part name={name} tone="bad" state={t('engine.fails')} detail={reason} advice={detail} />
  }
  const missing = needsReindex ?? 0
  return missing > 0 ? (
    <Part
      name={name}
      tone="warn"
      state={t('engine.behind', { count: missing })}
      detail={detail}
      advice={t('engine.behindHelp')}
    />
  ) : (
    <Part name={name} tone="good" state={t('engine.works')} detail={detail} />
  )
}

function Rerank({ rerank }: EngineStatus) {
  const { t } = useI18n()
  const name = t('engine.rerank')
  const { enabled, available, reason } = rerank
  if (available) {
    return (
      <Part
        name={name}
        tone={enabled ? 'good' : 'plain'}
        state={t(enabled ? 'engine.works' : 'engine.off')}
        detail={enabled ? null : t('engine.rerankTurnedOff')}
      />
    )
  }
  // Without one, memories stay in the order that they were found in: nothing is broken.
  return enabled ? (
    <Part name={name} tone="bad" state={t('engine.fails')} detail={reason} />
  ) : (
    <Part
      name={name}
      tone="plain"
      state={t('engine.notConfigured')}
      detail={t('engine.optional')}
    />
  )
}

function Models({ owner }: { owner: string }) {
  const { t, time } = useI18n()
  const learning = useLearning(owner)
  const name = t('engine.models')
  if (learning.data === undefined) {
    return learning.error === null ? (
      <Part name={name} tone="plain" state="…" />
    ) : (
      <Part name={name} tone="bad" state={t('engine.fails')} detail={learning.error.message} />
    )
  }
  return <Part name={name} {...modelState(learning.data, t, time)} />
}

function modelState(
  { model, restsUntil, spent }: Learning,
  t: I18n['t'],
  time: I18n['time'],
): State {
  if (model === null) {
    return { tone: 'warn', state: t('engine.notConfigured'), detail: t('engine.noModelHelp') }
  }
  if (restsUntil !== null) {
    const detail = t('engine.restsHelp', { model, time: time(restsUntil) })
    return { tone: 'bad', state: t('engine.rests'), detail }
  }
  const used = spent === null ? 0 : spent.input + spent.output
  const budget = spent?.budget ?? 0
  if (budget > 0 && used >= budget) {
    return { tone: 'warn', state: t('engine.spent'), detail: t('engine.spentHelp') }
  }
  const detail = `${model} · ${t('engine.usedToday', { count: used })}`
  return { tone: 'good', state: t('engine.ready'), detail }
}

function Jobs({ status }: { status: SystemStatus }) {
  const { t, number } = useI18n()
  const counts = useJobCounts()
  const name = t('engine.jobs')
  const toJobs = <Link to="/studio/jobs">{t('engine.openJobs')}</Link>
  if (status.learning.because !== null) {
    const detail = status.learning.because
    return <Part name={name} tone="bad" state={t('engine.fails')} detail={detail} advice={toJobs} />
  }
  if (counts.data === undefined) {
    return counts.error === null ? (
      <Part name={name} tone="plain" state="…" />
    ) : (
      <Part name={name} tone="bad" state={t('engine.fails')} detail={counts.error.message} />
    )
  }
  const { waiting, running, dead } = counts.data
  const told = (count: number) => (count < JOBS_MAX ? number(count) : `${number(count)}+`)
  const detail = t('engine.jobCounts', { waiting: told(waiting), running: told(running) })
  return dead > 0 ? (
    <Part
      name={name}
      tone="warn"
      state={t('engine.jobsDead', { count: dead })}
      detail={detail}
      advice={toJobs}
    />
  ) : (
    <Part name={name} tone="good" state={t('engine.works')} detail={detail} />
  )
}
