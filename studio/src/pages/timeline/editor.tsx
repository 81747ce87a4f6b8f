/** Edits an episode. After a conflicting change, it shows the stored version next to the draft. */
import { type FormEvent, useState } from 'react'
import { ApiError, api, data } from '../../api/client.ts'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextArea } from '../../ui/field.tsx'
import { Notice } from '../../ui/layout.tsx'
import { isConflict } from '../memories/queries.ts'
import styles from './editor.module.css'
import { type Episode, useEpisodeActions } from './queries.ts'

const LISTS = ['topics', 'decisions', 'actionItems', 'entities'] as const
type Draft = Readonly<Record<'summary' | (typeof LISTS)[number], string>>

const LABELS: Record<keyof Draft, MessageKey> = {
  summary: 'timeline.summary',
  topics: 'timeline.topics',
  decisions: 'timeline.decisions',
  actionItems: 'timeline.actionItems',
  entities: 'timeline.entities',
}

function draftOf(episode: Episode): Draft {
  const { summary, topics, decisions, actionItems, entities } = episode
  return {
    summary,
    topics: topics.join('\n'),
    decisions: decisions.join('\n'),
    actionItems: actionItems.join('\n'),
    entities: entities.join('\n'),
  }
}

/** Only the changed fields, so that concurrent changes to other fields are kept. */
function changesOf(draft: Draft, episode: Episode) {
  const before = draftOf(episode)
  const lists = LISTS.filter((name) => draft[name] !== before[name]).map((name) => [
    name,
    draft[name]
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  ])
  return {
    ...(draft.summary === before.summary ? {} : { summary: draft.summary.trim() }),
    ...(Object.fromEntries(lists) as Partial<Record<(typeof LISTS)[number], string[]>>), // keys of `LISTS`
  }
}

export function EpisodeEditor({
  owner,
  episode,
  onClose,
}: {
  owner: string
  episode: Episode
  onClose: () => void
}) {
  const { t } = useI18n()
  const { saved } = useEpisodeActions(owner)
  const [base, setBase] = useState(episode)
  const [draft, setDraft] = useState(() => draftOf(episode))
  const [stored, setStored] = useState<Episode | null>(null)
  const [fault, setFault] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const changes = changesOf(draft, base)
  const save = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setFault(undefined)
    const path = { id: episode.id }
    try {
      const body = { owner, ...changes, version: base.version }
      const done = await data(api.PATCH('/api/episodes/{id}', { params: { path }, body }))
      await saved(done.episode)
      onClose()
    } catch (error) {
      if (isConflict(error)) {
        const now = await data(
          api.GET('/api/episodes/{id}', { params: { path, query: { owner } } }),
        )
        setStored(now.episode)
      } else setFault(error instanceof ApiError ? error.message : String(error))
    } finally {
      setBusy(false)
    }
  }
  /** Continues with the stored version as the base. */
  const resolveConflict = (next: Draft, nextBase: Episode) => {
    setDraft(next)
    setBase(nextBase)
    setStored(null)
  }
  const field = (name: keyof Draft, rows: number) => (
    <TextArea
      key={name}
      label={t(LABELS[name])}
      rows={rows}
      required={name === 'summary'}
      value={draft[name]}
      {...(name === 'summary' ? {} : { help: t('timeline.onePerLine') })}
      onChange={({ target }) => setDraft((before) => ({ ...before, [name]: target.value }))}
    />
  )
  return (
    <Dialog
      isOpen
      shape="wide"
      onClose={onClose}
      isDirty={Object.keys(changes).length > 0}
      title={t('timeline.editTitle')}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button
            type="submit"
            form="episode"
            look="primary"
            isBusy={isBusy}
            disabled={
              stored !== null || draft.summary.trim() === '' || Object.keys(changes).length === 0
            }
          >
            {t('common.save')}
          </Button>
        </>
      }
    >
      {stored !== null && (
        <Notice tone="warn">
          <strong>{t('timeline.conflict')}</strong>
          <p>{t('timeline.conflictHelp')}</p>
          <blockquote className={styles.theirs}>{stored.summary}</blockquote>
          <div className={styles.sides}>
            <Button isSmall onClick={() => resolveConflict(draftOf(stored), stored)}>
              {t('timeline.takeStored')}
            </Button>
            <Button isSmall onClick={() => resolveConflict(draft, stored)}>
              {t('timeline.keepMine')}
            </Button>
          </div>
        </Notice>
      )}
      {fault !== undefined && <Notice tone="bad">{fault}</Notice>}
      <form id="episode" className={styles.form} onSubmit={(event) => void save(event)}>
        {field('summary', 4)}
        <div className={styles.pair}>{[field('decisions', 3), field('actionItems', 3)]}</div>
        <div className={styles.pair}>{[field('topics', 3), field('entities', 3)]}</div>
      </form>
    </Dialog>
  )
}
