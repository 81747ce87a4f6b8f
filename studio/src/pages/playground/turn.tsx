/** A session turn among the results: speaker, time and a link to its session. */
import { Link } from '@tanstack/react-router'
import { useI18n } from '../../i18n/i18n.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Chip } from '../../ui/layout.tsx'
import { Tooltip } from '../../ui/tooltip.tsx'
import { ROLE_NAMES } from '../sessions/queries.ts'
import type { ContextPreviewData } from './queries.ts'
import styles from './turn.module.css'

export type TurnInfo = Pick<
  ContextPreviewData['excerpts'][number],
  'id' | 'role' | 'speaker' | 'sessionId' | 'createdAt'
>

export function TurnHeader({
  role,
  speaker,
  createdAt,
  isLabeled = true,
}: TurnInfo & {
  /** Set if memories are listed next to it. */
  isLabeled?: boolean
}) {
  const { t, time } = useI18n()
  return (
    <p className={styles.header}>
      {isLabeled && (
        <Chip tone="good">
          <Icon name="sessions" size={12} />
          {t('playground.turn')}
        </Chip>
      )}
      <strong>{speaker === role ? t(ROLE_NAMES[role]) : speaker}</strong>
      <time dateTime={createdAt}>{time(createdAt)}</time>
    </p>
  )
}

export function SessionLink({
  owner,
  user,
  turn: { id, sessionId },
}: {
  owner: string
  user: string | null
  turn: TurnInfo
}) {
  const { t } = useI18n()
  if (sessionId === '') return null
  return (
    <Tooltip text={t('playground.openSession')}>
      <Link
        to="/studio/sessions"
        search={{ owner, session: sessionId, turn: id, user: user ?? undefined } as never} // read by the target page
        className={styles.open}
        aria-label={t('playground.openSession')}
      >
        <Icon name="link" size={16} />
      </Link>
    </Tooltip>
  )
}
