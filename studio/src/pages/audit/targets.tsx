import { Link } from '@tanstack/react-router'
import { useI18n } from '../../i18n/i18n.tsx'
import styles from './audit.module.css'
import type { AuditEvent } from './queries.ts'

/** As many as a row holds. */
const SHOWN_MAX = 5

/** The ids of what was changed, each leading there where there is a page for it. */
export function Targets({ entry }: { entry: AuditEvent }) {
  const { t } = useI18n()
  const shown = entry.targets.slice(0, SHOWN_MAX)
  const left = entry.targetCount - shown.length
  return (
    <div className={styles.targets}>
      {shown.map((target) => (
        <Target key={target} target={target} entry={entry} />
      ))}
      {left > 0 && <span className={styles.soft}>{t('audit.andMore', { count: left })}</span>}
    </div>
  )
}

function Target({ target, entry: { operation, owner } }: { target: string; entry: AuditEvent }) {
  const id = <code>{target}</code>
  if (target.startsWith('mem_')) {
    return (
      <Link to="/studio/memories" search={{ owner, memory: target }}>
        {id}
      </Link>
    )
  }
  if (target.startsWith('key_')) return <Link to="/studio/access">{id}</Link>
  if (target.startsWith('job_')) return <Link to="/studio/jobs">{id}</Link>
  if (operation === 'settings.change') {
    return (
      <Link to="/studio/settings" search={{ owner, q: target }}>
        {id}
      </Link>
    )
  }
  return id
}
