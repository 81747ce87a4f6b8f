/** The side panel of an episode: its summary, session, and other memories of the session. */
import { Link } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import type { Memory } from '../../api/client.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Detail, DetailList, TagsDetail, VerbatimText } from '../../ui/detail-list.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Chip, Notice, QueryResult } from '../../ui/layout.tsx'
import { SidePanel } from '../../ui/side-panel.tsx'
import { ItemList } from './episode-card.tsx'
import styles from './episode-panel.module.css'
import { type Episode, useEpisode, useEpisodeActions } from './queries.ts'

export function EpisodePanel({
  owner,
  id,
  onClose,
  onEdit,
}: {
  owner: string
  id: string | null
  onClose: () => void
  onEdit: (episode: Episode) => void
}) {
  const { t, time } = useI18n()
  const { can } = useSession()
  const query = useEpisode(owner, id)
  const episode = query.data?.episode
  const lastId = useRef(id)
  if (id !== null) lastId.current = id
  return (
    <SidePanel
      isOpen={id !== null}
      onClose={onClose}
      title={episode === undefined ? t('timeline.title') : time(episode.happenedAt)}
      onFocusReturn={() =>
        document.querySelector<HTMLElement>(`[data-episode="${lastId.current}"]`)?.focus()
      }
      {...(episode === undefined || !can('write')
        ? {}
        : { footer: <Actions owner={owner} episode={episode} onEdit={onEdit} /> })}
    >
      <QueryResult query={query}>
        {({ episode: loaded, deletedTurns, facts }) => (
          <>
            <VerbatimText>{loaded.summary}</VerbatimText>
            <ItemList name={t('timeline.decisions')} icon="check" lines={loaded.decisions} />
            <ItemList name={t('timeline.actionItems')} icon="next" lines={loaded.actionItems} />
            <EpisodeDetails episode={loaded} deletedTurns={deletedTurns} />
            <ExtractedMemories owner={owner} facts={facts} />
          </>
        )}
      </QueryResult>
    </SidePanel>
  )
}

function Actions({
  owner,
  episode,
  onEdit,
}: {
  owner: string
  episode: Episode
  onEdit: (episode: Episode) => void
}) {
  const { t } = useI18n()
  const { forget, disable, restore } = useEpisodeActions(owner)
  const [isConfirming, setConfirming] = useState(false)
  if (episode.status !== 'active') {
    return (
      <Button look="primary" icon="restore" onClick={() => void restore(episode.id)}>
        {t('timeline.restore')}
      </Button>
    )
  }
  return (
    <>
      <Button icon="disable" onClick={() => void disable(episode.id)}>
        {t('timeline.disable')}
      </Button>
      <Button icon="forget" onClick={() => setConfirming(true)}>
        {t('timeline.forget')}
      </Button>
      <Button look="primary" icon="edit" onClick={() => onEdit(episode)}>
        {t('timeline.edit')}
      </Button>
      <Confirm
        isOpen={isConfirming}
        onClose={() => setConfirming(false)}
        title={t('timeline.forgetTitle')}
        description={t('timeline.forgetHelp')}
        action={t('timeline.forget')}
        onConfirm={() => forget(episode.id)}
      />
    </>
  )
}

function EpisodeDetails({
  episode,
  deletedTurns,
}: {
  episode: Episode
  deletedTurns: readonly string[]
}) {
  const { t, number } = useI18n()
  const { owner, sessionId, turns, topics, entities, user, salience, status } = episode
  const [firstTurn] = turns.filter((turn) => !deletedTurns.includes(turn))
  return (
    <>
      <DetailList>
        <Detail name={t('timeline.session')}>
          {sessionId === '' ? (
            t('timeline.noSession')
          ) : (
            <Link
              to="/studio/sessions"
              search={{
                owner,
                session: sessionId,
                ...(firstTurn === undefined ? {} : { turn: firstTurn }),
              }}
            >
              {sessionId}
              {turns.length > 0 && ` · ${t('timeline.turns', { count: turns.length })}`}
            </Link>
          )}
        </Detail>
        {user !== null && <Detail name={t('timeline.user')}>{user}</Detail>}
        <Detail name={t('timeline.status')}>{status}</Detail>
        <Detail name={t('timeline.salience')} info={t('memories.salienceHelp')}>
          {number(salience, { maximumFractionDigits: 2 })}
        </Detail>
        <TagsDetail name={t('timeline.topics')} tags={topics} />
        <TagsDetail name={t('timeline.entities')} tags={entities} />
      </DetailList>
      <Link to="/studio/memories" search={{ owner, memory: episode.id }}>
        {t('timeline.asMemory')}
      </Link>
      {deletedTurns.length > 0 && (
        <Notice tone="warn">{t('timeline.deletedTurns', { count: deletedTurns.length })}</Notice>
      )}
    </>
  )
}

function ExtractedMemories({ owner, facts }: { owner: string; facts: readonly Memory[] }) {
  const { t } = useI18n()
  return (
    <section className={styles.learned} aria-labelledby="learned">
      <h3 id="learned">{t('timeline.memories')}</h3>
      {facts.length === 0 ? (
        <p className={styles.soft}>{t('timeline.noMemories')}</p>
      ) : (
        <ul>
          {facts.map(({ id, content, category, status }) => (
            <li key={id}>
              <Link to="/studio/memories" search={{ owner, memory: id }}>
                {content}
              </Link>{' '}
              <Chip>{category}</Chip> {status !== 'active' && <Chip tone="warn">{status}</Chip>}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
