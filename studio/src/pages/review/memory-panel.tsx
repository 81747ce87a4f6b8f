/** A memory under review: content, fields and source turns. */
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Memory } from '../../api/client.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Chip } from '../../ui/layout.tsx'
import { SourceTurns } from '../memories/source-turns.tsx'
import { useValueName } from '../memories/value-names.ts'
import styles from './page.module.css'

export function MemoryPanel({
  owner,
  memory,
  title,
  actions,
}: {
  owner: string
  memory: Memory
  title?: string
  actions?: ReactNode
}) {
  const { t, time } = useI18n()
  const nameOf = useValueName()
  const { content, category, trust, provenance, sourceCount, createdAt, pinned, user } = memory
  return (
    <div className={styles.side}>
      {title !== undefined && <h3 className={styles.sideTitle}>{title}</h3>}
      <p className={styles.content}>{content}</p>
      <p className={styles.marks}>
        <Chip>{nameOf(category)}</Chip>
        <Chip tone={trust === 'suspect' ? 'warn' : 'plain'}>{nameOf(trust)}</Chip>
        <Chip>{nameOf(provenance.source)}</Chip>
        {pinned && <Chip tone="accent">{t('memories.pinned')}</Chip>}
        {user !== null && <Chip>{user}</Chip>}
        <Chip>{t('review.observed', { count: sourceCount })}</Chip>
      </p>
      <p className={styles.faint}>
        {t('review.created', { when: time(createdAt) })} ·{' '}
        <Link to="/studio/memories" search={{ owner, memory: memory.id } as never}>
          {t('review.open')}
        </Link>
      </p>
      <SourceTurns owner={owner} memory={memory} />
      {actions !== undefined && <div className={styles.sideActions}>{actions}</div>}
    </div>
  )
}
