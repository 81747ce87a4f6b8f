/** Correcting a turn, and forgetting it. */
import { type FormEvent, useId, useState } from 'react'
import { ApiError, api, data, type Memory } from '../../api/client.ts'
import { useActing } from '../../app/mutations.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm, Dialog } from '../../ui/dialog.tsx'
import { Checkbox, TextArea } from '../../ui/field.tsx'
import { Notice } from '../../ui/layout.tsx'
import { useTell } from '../../ui/toast.tsx'
import type { Turn } from './queries.ts'
import styles from './session-view.module.css'
import { SHOWN } from './session-actions.tsx'

export function EditTurn({
  owner,
  turn,
  onClose,
}: {
  owner: string
  turn: Turn
  onClose: () => void
}) {
  const { t } = useI18n()
  const tell = useTell()
  const acting = useActing(owner, SHOWN)
  const [content, setContent] = useState(turn.content)
  const [replaced, setReplaced] = useState(turn.content)
  const [version, setVersion] = useState(turn.version)
  const [theirs, setTheirs] = useState<Turn | null>(null)
  const [fault, setFault] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const where = { path: { id: turn.id } }
  const save = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setFault(undefined)
    try {
      const change = async (text: string, from: number) =>
        data(
          api.PATCH('/api/turns/{id}', {
            params: where,
            body: { owner, content: text, version: from },
          }),
        )
      const { turn: edited } = await change(content, version)
      await acting.attempt(async () => undefined)
      const undo = async () => {
        const undone = await acting.attempt(() => change(replaced, edited.version))
        if (undone !== null) tell({ text: t('common.undone') })
      }
      tell({ text: t('sessions.edited'), action: { name: t('common.undo'), run: undo } })
      onClose()
    } catch (error) {
      const isTaken = error instanceof ApiError && error.code === 'conflict'
      const now = isTaken
        ? await data(api.GET('/api/turns/{id}', { params: { ...where, query: { owner } } }))
        : null
      if (now !== null) setTheirs(now.turn)
      else setFault(error instanceof Error ? error.message : t('common.failed'))
    } finally {
      setBusy(false)
    }
  }
  const settle = (chosen: Turn, text: string) => {
    setContent(text)
    setReplaced(chosen.content)
    setVersion(chosen.version)
    setTheirs(null)
  }
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={t('sessions.editTitle')}
      description={t('sessions.editHelp')}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button
            type="submit"
            form="turn"
            look="primary"
            isBusy={isBusy}
            disabled={content.trim() === '' || content === replaced || theirs !== null}
          >
            {t('common.save')}
          </Button>
        </>
      }
    >
      {theirs !== null && (
        <Notice tone="warn">
          {t('sessions.conflict')}
          <blockquote className={styles.theirs}>{theirs.content}</blockquote>
          <div className={styles.actions}>
            <Button isSmall onClick={() => settle(theirs, theirs.content)}>
              {t('sessions.takeStored')}
            </Button>
            <Button isSmall onClick={() => settle(theirs, content)}>
              {t('sessions.keepMine')}
            </Button>
          </div>
        </Notice>
      )}
      <form id="turn" onSubmit={(event) => void save(event)}>
        <TextArea
          label={t('sessions.content')}
          rows={8}
          required
          autoFocus
          value={content}
          fault={fault}
          onChange={({ target }) => setContent(target.value)}
        />
      </form>
    </Dialog>
  )
}

/** What was learned from it can go as well; that part can be taken back. */
export function ForgetTurn({
  owner,
  turn,
  produced,
  isOpen,
  onClose,
}: {
  owner: string
  turn: Turn
  produced: readonly Memory[]
  isOpen: boolean
  onClose: () => void
}) {
  const { t } = useI18n()
  const tell = useTell()
  const acting = useActing(owner, SHOWN)
  const [isWithMemories, setWithMemories] = useState(false)
  const label = useId()
  const forget = async () => {
    const done = await acting.attempt(async () => {
      const { id } = turn
      const { learned } = await data(
        api.DELETE('/api/turns/{id}', { params: { path: { id }, query: { owner } } }),
      )
      if (!isWithMemories || learned.length === 0) return { change: null, count: 0 }
      const { change, deletedCount } = await data(
        api.DELETE('/api/memory', {
          params: { query: { owner, ids: learned, status: ['active', 'disabled', 'superseded'] } },
        }),
      )
      return { change, count: deletedCount }
    })
    if (done === null) return
    const { change, count } = done
    const action =
      change === null
        ? {}
        : { action: { name: t('sessions.restoreMemories'), run: () => acting.undo(change) } }
    tell({
      text: count === 0 ? t('sessions.deleted') : t('sessions.deletedWithMemories', { count }),
      ...action,
    })
  }
  return (
    <Confirm
      isOpen={isOpen}
      onClose={onClose}
      title={t('sessions.deleteTitle')}
      description={t('sessions.deleteHelp')}
      action={t('sessions.delete')}
      onConfirm={forget}
    >
      {produced.length > 0 && (
        <>
          <p>{t('sessions.deleteMemories', { count: produced.length })}</p>
          <ul className={styles.produced}>
            {produced.map(({ id, content }) => (
              <li key={id}>{content}</li>
            ))}
          </ul>
          <div className={styles.option}>
            <Checkbox
              id={label}
              name={t('sessions.trashTurnMemories')}
              isOn={isWithMemories}
              onTurn={setWithMemories}
            />
            <label htmlFor={label}>{t('sessions.trashTurnMemories')}</label>
          </div>
        </>
      )}
    </Confirm>
  )
}
