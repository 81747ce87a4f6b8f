/** Every part that memory is made of: its true state, and what to do about it. */
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type I18n, useI18n } from '../../i18n/i18n.tsx'
import { Dot, Loaded, type Tone } from '../../ui/layout.tsx'
import styles from './component-list.module.css'
import { TIERS } from './qdrant.tsx'
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
    <section aria-label={t('engine.components')}>
      <Loaded query={engine} lines={4}>
        {(parts) => (
          <Loaded query={system} lines={4}>
            {(status) => (
              <ul className={styles.parts}>
                <Store {...status} />
                <Keyword {...parts} />
                <Embedding parts={parts} status={status} />
                <Vectors parts={parts} status={status} />
                <Qdrant {...status} />
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

function Part({
  name,
  card,
  tone,
  state,
  detail,
  advice,
}: State & { name: string; card?: keyof typeof CARDS }) {
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

/** Names that are the same in every language. */
const STORES: { readonly [kind: string]: string } = { sqlite: 'SQLite', postgres: 'PostgreSQL' }

function Store({ store: { kind, memories, turns, facts } }: SystemStatus) {
  const { t } = useI18n()
  const version = facts[kind]
  const named = [STORES[kind] ?? kind, typeof version === 'string' ? version : '']
  return (
    <Part
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

/** A copy of the vectors that may answer in the place of the index. */
function Qdrant({ vectors: { mirror, state, because } }: SystemStatus) {
  const { t } = useI18n()
  const isUsed = mirror === 'qdrant' && state !== 'off'
  const { tone, text } = TIERS[isUsed ? state : 'off']
  return (
    <Part
      name="Qdrant"
      card="qdrant"
      tone={tone}
      state={t(isUsed ? text : 'engine.notConfigured')}
      detail={isUsed ? because : t('engine.optional')}
    />
  )
}

function Keyword({ keyword }: EngineStatus) {
  const { t } = useI18n()
  return (
    <Part
      name={t('engine.keyword')}
      tone={keyword.available ? 'good' : 'bad'}
      state={t(keyword.available ? 'engine.healthy' : 'engine.failing')}
      detail={keyword.backend}
    />
  )
}

function Embedding({ parts, status }: { parts: EngineStatus; status: SystemStatus }) {
  const { t } = useI18n()
  return (
    <Part name={t('engine.embedding')} card="embedding" {...embeddingState(parts, status, t)} />
  )
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
    return { tone: 'bad', state: t('engine.failing'), detail: reason, advice: made }
  }
  switch (index?.embedder.state) {
    case 'cold':
      return {
        tone: 'plain',
        state: t('engine.idle'),
        detail: made,
        advice: t('engine.idleHelp'),
      }
    case 'warming':
      return { tone: 'accent', state: t('engine.loading'), detail: made }
    default:
      return { tone: 'good', state: t('engine.healthy'), detail: made }
  }
}

/** Names that are the same in every language. */
const MIRRORS: { readonly [backend: string]: string } = { qdrant: 'Qdrant', lancedb: 'LanceDB' }

function Vectors({ parts, status }: { parts: EngineStatus; status: SystemStatus }) {
  const { t } = useI18n()
  const { backend, available, rowCount, needsReindex, reason } = parts.vectorStore
  const name = t('engine.vectors')
  if (!available) {
    return (
      <Part
        name={name}
        card="vectors"
        tone="plain"
        state={t('engine.off')}
        detail={t('engine.vectorsOffHelp')}
      />
    )
  }
  const own = t(backend.startsWith('postgres') ? 'engine.pgvector' : 'engine.builtIn')
  const kind = MIRRORS[backend] ?? own
  const detail = `${kind} · ${t('engine.vectorCount', { count: rowCount ?? 0 })}`
  if (reason !== null) {
    return (
      <Part
        name={name}
        card="vectors"
        tone="bad"
        state={t('engine.failing')}
        detail={reason}
        advice={detail}
      />
    )
  }
  const { state, mirror, because } = status.vectors
  if (mirror !== null && state !== 'active' && state !== 'off') {
    const { tone, text } = TIERS[state]
    const told = `${MIRRORS[mirror] ?? mirror}: ${t(text)}`
    return <Part name={name} card="vectors" tone={tone} state={told} detail={because ?? detail} />
  }
  const missing = needsReindex ?? 0
  return missing > 0 ? (
    <Part
      name={name}
      card="vectors"
      tone="warn"
      state={t('engine.notEmbeddedCount', { count: missing })}
      detail={detail}
      advice={t('engine.notEmbeddedHelp')}
    />
  ) : (
    <Part name={name} card="vectors" tone="good" state={t('engine.healthy')} detail={detail} />
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
        card="rerank"
        tone={enabled ? 'good' : 'plain'}
        state={t(enabled ? 'engine.healthy' : 'engine.off')}
        detail={enabled ? null : t('engine.rerankDisabled')}
      />
    )
  }
  // Without one, memories stay in the order that they were found in: nothing is broken.
  return enabled ? (
    <Part name={name} card="rerank" tone="bad" state={t('engine.failing')} detail={reason} />
  ) : (
    <Part
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
      <Part name={name} tone="plain" state="…" />
    ) : (
      <Part name={name} tone="bad" state={t('engine.failing')} detail={learning.error.message} />
    )
  }
  return <Part name={name} card="models" {...modelState(learning.data, t, time)} />
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
    const detail = t('engine.pausedHelp', { model, time: time(restsUntil) })
    return { tone: 'bad', state: t('engine.paused'), detail }
  }
  const used = spent === null ? 0 : spent.input + spent.output
  const budget = spent?.budget ?? 0
  if (budget > 0 && used >= budget) {
    return { tone: 'warn', state: t('engine.budgetExhausted'), detail: t('engine.budgetExhaustedHelp') }
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
    return <Part name={name} tone="bad" state={t('engine.failing')} detail={detail} advice={toJobs} />
  }
  if (counts.data === undefined) {
    return counts.error === null ? (
      <Part name={name} tone="plain" state="…" />
    ) : (
      <Part name={name} tone="bad" state={t('engine.failing')} detail={counts.error.message} />
    )
  }
  const { waiting, running, dead } = counts.data
  const told = (count: number) => (count < JOBS_MAX ? number(count) : `${number(count)}+`)
  const detail = t('engine.jobCounts', { waiting: told(waiting), running: told(running) })
  return dead > 0 ? (
    <Part
      name={name}
      tone="warn"
      state={t('engine.jobsFailed', { count: dead })}
      detail={detail}
      advice={toJobs}
    />
  ) : (
    <Part name={name} tone="good" state={t('engine.healthy')} detail={detail} />
  )
}
