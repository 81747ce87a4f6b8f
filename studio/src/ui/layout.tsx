/** Layout components: pages, cards, statistics, chips, and loading, empty and error states. */
import type { ReactNode } from 'react'
import { ApiError } from '../api/client.ts'
import { useI18n } from '../i18n/i18n.tsx'
import { Button } from './button.tsx'
import { Icon, type IconName } from './icon.tsx'
import styles from './layout.module.css'
import { Tooltip } from './tooltip.tsx'

export function Page({
  title,
  description,
  actions,
  children,
}: {
  title: string
  description?: string
  actions?: ReactNode
  children: ReactNode
}) {
  return (
    <div className={styles.page}>
      <header className={styles.pageHeader}>
        <div>
          <h1>{title}</h1>
          {description !== undefined && <p className={styles.soft}>{description}</p>}
        </div>
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  )
}

export function Card({
  title,
  actions,
  children,
  id,
  isFlush = false,
}: {
  title?: string
  actions?: ReactNode
  children: ReactNode
  /** The anchor id. */
  id?: string
  /** Removes the padding, for tables and lists. */
  isFlush?: boolean
}) {
  return (
    <section
      id={id}
      className={styles.card}
      {...(title === undefined ? {} : { 'aria-label': title })}
    >
      {(title !== undefined || actions !== undefined) && (
        <header className={styles.cardHeader}>
          {title !== undefined && <h2>{title}</h2>}
          {actions !== undefined && <div className={styles.actions}>{actions}</div>}
        </header>
      )}
      <div className={isFlush ? '' : styles.cardBody}>{children}</div>
    </section>
  )
}

/** A statistic with its name; `note` is shown as a tooltip. */
export function Stat({
  name,
  value,
  note,
  isText = false,
}: {
  name: string
  value: ReactNode
  note?: string
  isText?: boolean
}) {
  const stat = (
    <div className={styles.stat}>
      <dt>{name}</dt>
      <dd className={isText ? styles.words : ''}>{value}</dd>
    </div>
  )
  return note === undefined ? stat : <Tooltip text={note}>{stat}</Tooltip>
}

export function Stats({ children }: { children: ReactNode }) {
  return <dl className={styles.stats}>{children}</dl>
}

export type Tone = 'plain' | 'accent' | 'good' | 'warn' | 'bad'

export function Chip({ children, tone = 'plain' }: { children: ReactNode; tone?: Tone }) {
  return <span className={[styles.chip, styles[tone]].join(' ')}>{children}</span>
}

/** A status dot with a text. */
export function Dot({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <span className={styles.dotted}>
      <span className={[styles.dot, styles[tone]].join(' ')} aria-hidden="true" />
      {children}
    </span>
  )
}

export function Notice({
  tone = 'plain',
  children,
  action,
}: {
  tone?: Tone
  children: ReactNode
  action?: ReactNode
}) {
  const icon: IconName = tone === 'bad' || tone === 'warn' ? 'warning' : 'info'
  return (
    <div className={[styles.notice, styles[tone]].join(' ')} role="status">
      <Icon name={icon} />
      <div className={styles.noticeText}>{children}</div>
      {action}
    </div>
  )
}

export function EmptyState({
  title,
  children,
  action,
  icon = 'memories',
}: {
  title: string
  children?: ReactNode
  action?: ReactNode
  icon?: IconName
}) {
  return (
    <div className={styles.empty}>
      <Icon name={icon} size={28} />
      <p className={styles.emptyTitle}>{title}</p>
      {children !== undefined && <div className={styles.soft}>{children}</div>}
      {action}
    </div>
  )
}

/** Shows the error message of the server and a retry button. */
export function ErrorState({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const { t } = useI18n()
  const isUnreachable = error instanceof ApiError && error.status === 0
  const message = error instanceof Error ? error.message : String(error)
  return (
    <div className={styles.empty} role="alert">
      <Icon name="warning" size={28} />
      <p className={styles.emptyTitle}>
        {t(isUnreachable ? 'common.unreachable' : 'common.failed')}
      </p>
      {!isUnreachable && <p className={styles.soft}>{message}</p>}
      {onRetry !== undefined && <Button onClick={onRetry}>{t('common.retry')}</Button>}
    </div>
  )
}

/** Skeleton lines. */
export function LoadingState({ lines = 4 }: { lines?: number }) {
  const { t } = useI18n()
  return (
    <div className={styles.loading} role="status" aria-label={t('common.loading')}>
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are identical
        <span key={line} className={styles.bone} style={{ width: `${92 - ((line * 17) % 40)}%` }} />
      ))}
    </div>
  )
}

type Query<Data> = {
  readonly data: Data | undefined
  readonly error: unknown
  readonly refetch: () => unknown
}

/** Renders a query: loading, error or data. */
export function QueryResult<Data>({
  query,
  children,
  lines,
}: {
  query: Query<Data>
  children: (data: Data) => ReactNode
  lines?: number
}) {
  if (query.data !== undefined) return children(query.data)
  if (query.error !== null && query.error !== undefined) {
    return <ErrorState error={query.error} onRetry={() => void query.refetch()} />
  }
  return <LoadingState {...(lines === undefined ? {} : { lines })} />
}

/** The same within a line of text. */
export function InlineQueryResult<Data>({
  query,
  children,
}: {
  query: Query<Data>
  children: (data: Data) => ReactNode
}) {
  const { t } = useI18n()
  if (query.data !== undefined) return children(query.data)
  if (query.error === null || query.error === undefined) return '…'
  return (
    <Tooltip text={query.error instanceof Error ? query.error.message : t('common.failed')}>
      <Button isSmall icon="warning" onClick={() => void query.refetch()}>
        {t('common.retry')}
      </Button>
    </Tooltip>
  )
}

export function Meter({ value, max = 1, name }: { value: number; max?: number; name: string }) {
  return <meter className={styles.meter} aria-label={name} value={value} min={0} max={max} />
}
