import { Link } from '@tanstack/react-router'
import type { Memory } from '../../api/client.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { QueryResult } from '../../ui/layout.tsx'
import { useSources } from './queries.ts'
import styles from './source-turns.module.css'
import { useValueName } from './value-names.ts'

/** The source turns of a memory that are still stored. */
export function SourceTurns({ owner, memory }: { owner: string; memory: Memory }) {
  const { t, time } = useI18n()
  const nameOf = useValueName()
  const query = useSources(owner, memory)
  const { provenance } = memory
  if (provenance.turns.length === 0) {
    return (
      <p className={styles.faint}>{t('review.noSource', { source: nameOf(provenance.source) })}</p>
    )
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
