/** A memory under review: content, fields and source turns. */
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Memory } from '../../api/client.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Chip, QueryResult } from '../../ui/layout.tsx'
import styles from './page.module.css'
import { useSources } from './queries.ts'

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
  const { content, category, trust, provenance, sourceCount, createdAt, pinned, user } = memory
  return (
    <div className={styles.side}>
      {title !== undefined && <h3 className={styles.sideTitle}>{title}</h3>}
      <p className={styles.content}>{content}</p>
      <p className={styles.marks}>
        <Chip>{category}</Chip>
        <Chip tone={trust === 'suspect' ? 'warn' : 'plain'}>{trust}</Chip>
        <Chip>{provenance.source}</Chip>
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
      <Sources owner={owner} memory={memory} />
      {actions !== undefined && <div className={styles.sideActions}>{actions}</div>}
    </div>
  )
}

/** The source turns of a memory that are still stored. */
function Sources({ owner, memory }: { owner: string; memory: Memory }) {
  const { t, time } = useI18n()
  const query = useSources(owner, memory)
  const { provenance } = memory
  if (provenance.turns.length === 0) {
    return <p className={styles.faint}>{t('review.noSource', { source: provenance.source })}</p>
  }
  return (
    <QueryResult query={query} lines={2}>
      {({ turns, deletedTurns }) => (
        <div className={styles.sources}>
          <h4>{t('review.sources')}</h4>
          {turns.map(({ id, content, role, speaker, saidAt, sessionId }) => (
            <figure key={id} className={styles.quote}>
              <blockquote>{content}</blockquote>
              <figcaption>
                {t('review.attribution', { who: speaker ?? role, when: time(saidAt) })}
                {sessionId !== '' && (
                  <>
                    {' · '}
                    <Link
                      to="/studio/sessions"
                      search={{ owner, session: sessionId, turn: id } as never}
                    >
                      {t('review.openSession')}
                    </Link>
                  </>
                )}
              </figcaption>
            </figure>
          ))}
          {deletedTurns.length > 0 && (
            <p className={styles.faint}>
              {t('review.deletedSources', { count: deletedTurns.length })}
            </p>
          )}
        </div>
      )}
    </QueryResult>
  )
}
