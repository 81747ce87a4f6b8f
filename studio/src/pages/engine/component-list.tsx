/** The components of the engine: their status, and what to do about failures. */
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type I18n, useI18n } from '../../i18n/i18n.tsx'
import { Dot, QueryResult, type Tone } from '../../ui/layout.tsx'
import styles from './component-list.module.css'
import { REPLICA_STATES } from './qdrant.tsx'
import {
  CARDS,
  type EngineStatus,
  JOBS_MAX,
  type Learning,
  type SystemStatus,
  useEngine,
  useJobCounts,
  useLearning,
  useSystem,
} from './queries.ts'

type ComponentState = {
  readonly tone: Tone
  readonly state: string
  /** Its configuration, or the reason for a failure. */
  readonly detail?: string | null
  /** What the operator can do about it. */
  readonly advice?: ReactNode
}

export function ComponentList({ owner }: { owner: string }) {
  const { t } = useI18n()
  const engine = useEngine()
  const system = useSystem()
  return (
    <section aria-label={t('engine.components')}>
      <QueryResult query={engine} lines={4}>
        {(engineStatus) => (
          <QueryResult query={system} lines={4}>
            {(status) => (
              <ul className={styles.parts}>
                <Store {...status} />
                <Keyword {...engineStatus} />
                <Embedding engineStatus={engineStatus} status={status} />
                <Vectors engineStatus={engineStatus} status={status} />
                <Qdrant {...status} />
                <Rerank {...engineStatus} />
                <Models owner={owner} />
                <Jobs status={status} />
              </ul>
            )}
          </QueryResult>
        )}
      </QueryResult>
    </section>
  )
}

function ComponentRow({
  name,
  card,
  tone,
  state,
  detail,
  advice,
}: ComponentState & { name: string; card?: keyof typeof CARDS }) {
  const { t } = useI18n()
  return (
    <li className={styles.part} aria-label={name}>
      <span className={styles.name}>{name}</span>
      <span className={styles.state}>
        <Dot tone={tone}>{state}</Dot>
      </span>
      {detail != null && <span className={styles.detail}>{detail}</span>}
      {advice !== undefined && <span className={styles.detail}>{advice}</span>}
      {card !== undefined && (
        <a
          className={styles.configure}
          href={`#${CARDS[card]}`}
          aria-label={`${t('engine.configure')}: ${name}`}
        >
          {t('engine.configure')}
        </a>
      )}
    </li>
  )
}

/** Product names, the same in every language. */
const STORE_NAMES: { readonly [kind: string]: string } = {
  sqlite: 'SQLite',
  postgres: 'PostgreSQL',
}

function Store({ store: { kind, memories, turns, facts } }: SystemStatus) {
  const { t } = useI18n()
  const version = facts[kind]
  const named = [STORE_NAMES[kind] ?? kind, typeof version === 'string' ? version : '']
  return (
    <ComponentRow
      name={t('engine.store')}
      card="store"
      tone="good"
      state={t('engine.healthy')}
      detail={[
        t('engine.storeSummary', { kind: named.join(' ').trim(), count: memories ?? 0 }),
        t('engine.turnCount', { count: turns ?? 0 }),
      ].join(' · ')}
    />
  )
}

/** The vector replica that can serve searches instead of the primary index. */
function Qdrant({ vectors: { backend, state, reason } }: SystemStatus) {
  const { t } = useI18n()
  const isUsed = backend === 'qdrant' && state !== 'off'
  const { tone, text } = REPLICA_STATES[isUsed ? state : 'off']
  return (
    <ComponentRow
      name="Qdrant"
      card="qdrant"
      tone={tone}
      state={t(isUsed ? text : 'engine.notConfigured')}
      detail={isUsed ? reason : t('engine.optional')}
    />
  )
}

function Keyword({ keyword }: EngineStatus) {
  const { t } = useI18n()
  return (
    <ComponentRow
      name={t('engine.keyword')}
      tone={keyword.available ? 'good' : 'bad'}
      state={t(keyword.available ? 'engine.healthy' : 'engine.failing')}
      detail={keyword.backend}
    />
  )
}

function Embedding({ engineStatus, status }: { engineStatus: EngineStatus; status: SystemStatus }) {
  const { t } = useI18n()
  return (
    <ComponentRow
      name={t('engine.embedding')}
      card="embedding"
      {...embeddingState(engineStatus, status, t)}
    />
  )
}

function embeddingState(
  { embedding }: EngineStatus,
  { index }: SystemStatus,
  t: I18n['t'],
): ComponentState {
  const { source, model, dimensions, available, reason } = embedding
  if (source === null) {
    return { tone: 'warn', state: t('engine.off'), detail: t('engine.embeddingOff') }
  }
  const description =
    dimensions === null
      ? `${source} · ${model}`
      : `${source} · ${model} · ${t('engine.dimensions', { count: dimensions })}`
  if (!available) {
    return { tone: 'bad', state: t('engine.failing'), detail: reason, advice: description }
  }
  switch (index?.embedder.state) {
    case 'cold':
      return {
        tone: 'plain',
        state: t('engine.idle'),
        detail: description,
        advice: t('engine.idleHelp'),
      }
    case 'warming':
      return { tone: 'accent', state: t('engine.loading'), detail: description }
    default:
      return { tone: 'good', state: t('engine.healthy'), detail: description }
  }
}

/** Product names, the same in every language. */
const REPLICA_NAMES: { readonly [backend: string]: string } = {
  qdrant: 'Qdrant',
  lancedb: 'LanceDB',
}

function Vectors({ engineStatus, status }: { engineStatus: EngineStatus; status: SystemStatus }) {
  const { t } = useI18n()
  const { backend, available, rowCount, needsReindex, reason } = engineStatus.vectorStore
  const name = t('engine.vectors')
  if (!available) {
    return (
      <ComponentRow
        name={name}
        card="vectors"
        tone="plain"
        state={t('engine.off')}
        detail={t('engine.vectorsOffHelp')}
      />
    )
  }
  const primaryName = t(backend.startsWith('postgres') ? 'engine.pgvector' : 'engine.builtIn')
  const kind = REPLICA_NAMES[backend] ?? primaryName
  const detail = `${kind} · ${t('engine.vectorCount', { count: rowCount ?? 0 })}`
  if (reason !== null) {
    return (
      <ComponentRow
        name={name}
        card="vectors"
        tone="bad"
        state={t('engine.failing')}
        detail={reason}
        advice={detail}
      />
    )
  }
  const { state, backend: replica, reason: replicaReason } = status.vectors
  if (replica !== null && state !== 'active' && state !== 'off') {
    const { tone, text } = REPLICA_STATES[state]
    const label = `${REPLICA_NAMES[replica] ?? replica}: ${t(text)}`
    return (
      <ComponentRow
        name={name}
        card="vectors"
        tone={tone}
        state={label}
        detail={replicaReason ?? detail}
      />
    )
  }
  const missing = needsReindex ?? 0
  return missing > 0 ? (
    <ComponentRow
      name={name}
      card="vectors"
      tone="warn"
      state={t('engine.notEmbeddedCount', { count: missing })}
      detail={detail}
      advice={t('engine.notEmbeddedHelp')}
    />
  ) : (
    <ComponentRow
      name={name}
      card="vectors"
      tone="good"
      state={t('engine.healthy')}
      detail={detail}
    />
  )
}

function Rerank({ rerank }: EngineStatus) {
  const { t } = useI18n()
  const name = t('engine.rerank')
  const { enabled, available, reason } = rerank
  if (available) {
    return (
      <ComponentRow
        name={name}
        card="rerank"
        tone={enabled ? 'good' : 'plain'}
        state={t(enabled ? 'engine.healthy' : 'engine.off')}
        detail={enabled ? null : t('engine.rerankDisabled')}
      />
    )
  }
  // Reranking is optional: without it, results keep their order.
  return enabled ? (
    <ComponentRow
      name={name}
      card="rerank"
      tone="bad"
      state={t('engine.failing')}
      detail={reason}
    />
  ) : (
    <ComponentRow
      name={name}
      card="rerank"
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
      <ComponentRow name={name} tone="plain" state="…" />
    ) : (
      <ComponentRow
        name={name}
        tone="bad"
        state={t('engine.failing')}
        detail={learning.error.message}
      />
    )
  }
  return <ComponentRow name={name} card="models" {...modelState(learning.data, t, time)} />
}

function modelState(
  { model, pausedUntil, usageToday }: Learning,
  t: I18n['t'],
  time: I18n['time'],
): ComponentState {
  if (model === null) {
    return { tone: 'warn', state: t('engine.notConfigured'), detail: t('engine.noModelHelp') }
  }
  if (pausedUntil !== null) {
    const detail = t('engine.pausedHelp', { model, time: time(pausedUntil) })
    return { tone: 'bad', state: t('engine.paused'), detail }
  }
  const used = usageToday === null ? 0 : usageToday.input + usageToday.output
  const budget = usageToday?.budget ?? 0
  if (budget > 0 && used >= budget) {
    return {
      tone: 'warn',
      state: t('engine.budgetExhausted'),
      detail: t('engine.budgetExhaustedHelp'),
    }
  }
  const detail = `${model} · ${t('engine.usedToday', { count: used })}`
  return { tone: 'good', state: t('engine.ready'), detail }
}

function Jobs({ status }: { status: SystemStatus }) {
  const { t, number } = useI18n()
  const counts = useJobCounts()
  const name = t('engine.jobs')
  const jobsLink = <Link to="/studio/jobs">{t('engine.openJobs')}</Link>
  if (status.learning.reason !== null) {
    const detail = status.learning.reason
    return (
      <ComponentRow
        name={name}
        tone="bad"
        state={t('engine.failing')}
        detail={detail}
        advice={jobsLink}
      />
    )
  }
  if (counts.data === undefined) {
    return counts.error === null ? (
      <ComponentRow name={name} tone="plain" state="…" />
    ) : (
      <ComponentRow
        name={name}
        tone="bad"
        state={t('engine.failing')}
        detail={counts.error.message}
      />
    )
  }
  const { waiting, running, dead } = counts.data
  const label = (count: number) => (count < JOBS_MAX ? number(count) : `${number(count)}+`)
  const detail = t('engine.jobCounts', { waiting: label(waiting), running: label(running) })
  return dead > 0 ? (
    <ComponentRow
      name={name}
      tone="warn"
      state={t('engine.jobsFailed', { count: dead })}
      detail={detail}
      advice={jobsLink}
    />
  ) : (
    <ComponentRow name={name} tone="good" state={t('engine.healthy')} detail={detail} />
  )
}
