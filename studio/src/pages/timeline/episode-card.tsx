/** The episodes of one day with summary, decisions and action items. */
import { useI18n } from '../../i18n/i18n.tsx'
import { Icon, type IconName } from '../../ui/icon.tsx'
import { Chip } from '../../ui/layout.tsx'
import { startOf } from './dates.ts'
import styles from './episode-card.module.css'
import type { Episode } from './queries.ts'

export function DayEpisodes({
  day,
  episodes,
  onOpen,
  onTopic,
}: {
  day: string
  episodes: readonly Episode[]
  onOpen: (id: string) => void
  onTopic: (topic: string) => void
}) {
  const { t, region } = useI18n()
  const dayFormat = new Intl.DateTimeFormat(region, {
    ...{ weekday: 'long', day: 'numeric', month: 'long' },
  })
  return (
    <section className={styles.day} aria-labelledby={`day-${day}`}>
      <header className={styles.dayHeader}>
        <h2 id={`day-${day}`}>{dayFormat.format(startOf(day))}</h2>
        <span>{t('timeline.count', { count: episodes.length })}</span>
      </header>
      <ol className={styles.episodes}>
        {episodes.map((episode) => (
          <EpisodeCard
            key={episode.id}
            episode={episode}
            onOpen={() => onOpen(episode.id)}
            onTopic={onTopic}
          />
        ))}
      </ol>
    </section>
  )
}

function EpisodeCard({
  episode,
  onOpen,
  onTopic,
}: {
  episode: Episode
  onOpen: () => void
  onTopic: (topic: string) => void
}) {
  const { t, region } = useI18n()
  const time = new Intl.DateTimeFormat(region, { timeStyle: 'short' })
  const { summary, topics, decisions, actionItems, status, trust, user, happenedAt } = episode
  return (
    <li className={styles.episode}>
      <div className={styles.when}>
        <time dateTime={happenedAt}>{time.format(new Date(happenedAt))}</time>
        {user !== null && <span className={styles.user}>{user}</span>}
      </div>
      <div className={styles.body}>
        <button type="button" className={styles.summary} data-episode={episode.id} onClick={onOpen}>
          {summary}
        </button>
        <ItemList name={t('timeline.decisions')} icon="check" lines={decisions} />
        <ItemList name={t('timeline.actionItems')} icon="next" lines={actionItems} />
        <div className={styles.chips}>
          {status !== 'active' && <Chip tone="warn">{status}</Chip>}
          {trust === 'suspect' && <Chip tone="warn">{trust}</Chip>}
          {topics.map((topic) => (
            <button
              key={topic}
              type="button"
              className={styles.topic}
              title={`${t('timeline.topic')}: ${topic}`}
              onClick={() => onTopic(topic)}
            >
              {topic}
            </button>
          ))}
        </div>
      </div>
    </li>
  )
}

/** A list of decisions or action items. */
export function ItemList({
  name,
  icon,
  lines,
}: {
  name: string
  icon: IconName
  lines: readonly string[]
}) {
  if (lines.length === 0) return null
  return (
    <div className={styles.lines}>
      <h3>{name}</h3>
      <ul>
        {lines.map((line) => (
          <li key={line}>
            <Icon name={icon} size={14} />
            <span>{line}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}
