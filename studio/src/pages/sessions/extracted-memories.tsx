/** A list of extracted memories with links. */
import { Link } from '@tanstack/react-router'
import type { Memory } from '../../api/client.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Chip } from '../../ui/layout.tsx'
import styles from './session-view.module.css'

export function ExtractedMemories({
  owner,
  title,
  memories,
}: {
  owner: string
  title: string
  memories: readonly Memory[]
}) {
  const { t } = useI18n()
  return (
    <div className={styles.learned}>
      <p className={styles.learnedTitle}>{title}</p>
      <ul>
        {memories.map(({ id, content, category, status, trust }) => (
          <li key={id}>
            <Link
              to="/studio/memories"
              search={{ owner, memory: id } as never} // pages have different search parameters
              aria-label={t('sessions.openMemory', { content })}
              className={status === 'active' ? '' : styles.inactive}
            >
              {content}
            </Link>
            <Chip>{category}</Chip>
            {status !== 'active' && <Chip>{status}</Chip>}
            {trust === 'suspect' && <Chip tone="warn">{trust}</Chip>}
          </li>
        ))}
      </ul>
    </div>
  )
}
