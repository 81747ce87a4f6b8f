/** Dialogs to edit and to delete a turn. */
import { type FormEvent, useId, useState } from 'react'
import { ApiError, api, data, type Memory } from '../../api/client.ts'
import { useMutations } from '../../app/mutations.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm, Dialog } from '../../ui/dialog.tsx'
import { Checkbox, TextArea } from '../../ui/field.tsx'
import { Notice } from '../../ui/layout.tsx'
import { useToast } from '../../ui/toast.tsx'
import type { Turn } from './queries.ts'
import { AFFECTED_QUERIES } from './session-actions.tsx'
import styles from './session-view.module.css'

export function EditTurnDialog({
  owner,
  turn,
  onClose,
}: {
  owner: string
  turn: Turn
  onClose: () => void
}) {
  const { t } = useI18n()
  const showToast = useToast()
  const mutations = useMutations(owner, AFFECTED_QUERIES)
  const [content, setContent] = useState(turn.content)
  const [replaced, setReplaced] = useState(turn.content)
  const [version, setVersion] = useState(turn.version)
  const [stored, setStored] = useState<Turn | null>(null)
  const [fault, setFault] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const params = { path: { id: turn.id } }
  const save = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setFault(undefined)
    try {
      const change = async (text: string, from: number) =>
        data(
          api.PATCH('/api/turns/{id}', {
            params,
            body: { owner, content: text, version: from },
          }),
        )
      const { turn: edited } = await change(content, version)
      await mutations.attempt(async () => undefined)
      const undo = async () => {
        const undone = await mutations.attempt(() => change(replaced, edited.version))
        if (undone !== null) showToast({ text: t('common.undone') })
      }
      showToast({ text: t('sessions.edited'), action: { name: t('common.undo'), run: undo } })
      onClose()
    } catch (error) {
      const isConflict = error instanceof ApiError && error.code === 'conflict'
      const now = isConflict
        ? await data(api.GET('/api/turns/{id}', { params: { ...params, query: { owner } } }))
        : null
      if (now !== null) setStored(now.turn)
      else setFault(error instanceof Error ? error.message : t('common.failed'))
    } finally {
      setBusy(false)
    }
  }
  const resolveConflict = (base: Turn, text: string) => {
    setContent(text)
    setReplaced(base.content)
    setVersion(base.version)
    setStored(null)
  }
  return (
    <Dialog
      isOpen
      onClose={onClose}
      isDirty={content !== replaced}
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
            disabled={content.trim() === '' || content === replaced || stored !== null}
          >
            {t('common.save')}
          </Button>
        </>
      }
    >
      {stored !== null && (
        <Notice tone="warn">
          {t('sessions.conflict')}
          <blockquote className={styles.theirs}>{stored.content}</blockquote>
          <div className={styles.actions}>
            <Button isSmall onClick={() => resolveConflict(stored, stored.content)}>
              {t('sessions.takeStored')}
            </Button>
            <Button isSmall onClick={() => resolveConflict(stored, content)}>
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

/** Optionally moves the extracted memories to the trash; only that part can be undone. */
export function DeleteTurnDialog({
  owner,
  turn,
  memories,
  isOpen,
  onClose,
}: {
  owner: string
  turn: Turn
  memories: readonly Memory[]
  isOpen: boolean
  onClose: () => void
}) {
  const { t } = useI18n()
  const showToast = useToast()
  const mutations = useMutations(owner, AFFECTED_QUERIES)
  const [trashMemories, setTrashMemories] = useState(false)
  const label = useId()
  const deleteTurn = async () => {
    const done = await mutations.attempt(async () => {
      const { id } = turn
      const { learned } = await data(
        api.DELETE('/api/turns/{id}', { params: { path: { id }, query: { owner } } }),
      )
      if (!trashMemories || learned.length === 0) return { change: null, count: 0 }
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
        : { action: { name: t('sessions.restoreMemories'), run: () => mutations.undo(change) } }
    showToast({
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
      onConfirm={deleteTurn}
    >
      {memories.length > 0 && (
        <>
          <p>{t('sessions.deleteMemories', { count: memories.length })}</p>
          <ul className={styles.produced}>
            {memories.map(({ id, content }) => (
              <li key={id}>{content}</li>
            ))}
          </ul>
          <div className={styles.option}>
            <Checkbox
              id={label}
              name={t('sessions.trashTurnMemories')}
              isOn={trashMemories}
              onCheckedChange={setTrashMemories}
            />
            <label htmlFor={label}>{t('sessions.trashTurnMemories')}</label>
          </div>
        </>
      )}
    </Confirm>
  )
}
