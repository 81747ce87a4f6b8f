/** Two conflicting memories side by side, and the actions that resolve the conflict. */
import { type FormEvent, useState } from 'react'
import type { Memory } from '../../api/client.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm, Dialog } from '../../ui/dialog.tsx'
import { Diff } from '../../ui/diff.tsx'
import { Select, TextArea } from '../../ui/field.tsx'
import { Card } from '../../ui/layout.tsx'
import { Tooltip } from '../../ui/tooltip.tsx'
import { Editor } from '../memories/editor.tsx'
import { MemoryPanel } from './memory-panel.tsx'
import styles from './page.module.css'
import { type Conflict, useReviewActions } from './queries.ts'

type OpenDialog =
  | { readonly kind: 'keep'; readonly keep: Memory; readonly drop: Memory }
  | { readonly kind: 'edit'; readonly memory: Memory }
  | { readonly kind: 'merge' }

export function ConflictCard({ owner, conflict }: { owner: string; conflict: Conflict }) {
  const { t } = useI18n()
  const { can } = useSession()
  const reviewActions = useReviewActions(owner)
  const [dialog, setDialog] = useState<OpenDialog | null>(null)
  const { memory, other } = conflict
  const close = () => setDialog(null)
  const actions = (keep: Memory, drop: Memory) =>
    can('write')
      ? {
          actions: (
            <>
              {can('curate') && (
                <Button icon="check" onClick={() => setDialog({ kind: 'keep', keep, drop })}>
                  {t('review.keepThis')}
                </Button>
              )}
              <Button
                look="quiet"
                icon="edit"
                onClick={() => setDialog({ kind: 'edit', memory: keep })}
              >
                {t('review.edit')}
              </Button>
            </>
          ),
        }
      : {}
  return (
    <Card>
      <div className={styles.sides}>
        <MemoryPanel
          owner={owner}
          memory={other}
          title={t('review.older')}
          {...actions(other, memory)}
        />
        <MemoryPanel
          owner={owner}
          memory={memory}
          title={t('review.newer')}
          {...actions(memory, other)}
        />
      </div>
      <footer className={styles.footer}>
        <div className={styles.diff}>
          <Diff before={other.content} after={memory.content} />
        </div>
        {can('curate') && (
          <div className={styles.actions}>
            <Button onClick={() => setDialog({ kind: 'merge' })}>{t('review.merge')}</Button>
            <Tooltip text={t('review.compatibleHelp')}>
              <Button onClick={() => void reviewActions.reconcile(conflict)}>
                {t('review.compatible')}
              </Button>
            </Tooltip>
          </div>
        )}
      </footer>
      {dialog?.kind === 'keep' && (
        <Confirm
          isOpen
          onClose={close}
          title={t('review.keepTitle')}
          description={t('review.keepHelp')}
          action={t('review.keepThis')}
          isDangerous={false}
          onConfirm={() => reviewActions.settle(dialog.keep, dialog.drop)}
        >
          <Diff before={dialog.drop.content} after={dialog.keep.content} />
        </Confirm>
      )}
      {dialog?.kind === 'merge' && (
        <Merge conflict={conflict} onClose={close} onMerge={reviewActions.settle} />
      )}
      {dialog?.kind === 'edit' && (
        <Editor
          owner={owner}
          memory={dialog.memory}
          onClose={() => {
            close()
            void reviewActions.refresh()
          }}
        />
      )}
    </Card>
  )
}

function Merge({
  conflict: { memory, other },
  onClose,
  onMerge,
}: {
  conflict: Conflict
  onClose: () => void
  onMerge: (keep: Memory, drop: Memory, content: string) => Promise<boolean>
}) {
  const { t } = useI18n()
  const proposed = `${other.content}\n${memory.content}`
  const [content, setContent] = useState(proposed)
  const [targetId, setTargetId] = useState(memory.id)
  const [isBusy, setBusy] = useState(false)
  const merge = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    const [keep, drop] = targetId === memory.id ? [memory, other] : [other, memory]
    const isDone = await onMerge(keep, drop, content.trim())
    setBusy(false)
    if (isDone) onClose()
  }
  return (
    <Dialog
      isOpen
      onClose={onClose}
      isDirty={content !== proposed}
      title={t('review.mergeTitle')}
      description={t('review.mergeHelp')}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button
            type="submit"
            form="merge"
            look="primary"
            isBusy={isBusy}
            disabled={content.trim() === ''}
          >
            {t('review.merge')}
          </Button>
        </>
      }
    >
      <form id="merge" className={styles.form} onSubmit={(event) => void merge(event)}>
        <TextArea
          label={t('review.mergedContent')}
          rows={5}
          required
          autoFocus
          value={content}
          onChange={({ target }) => setContent(target.value)}
        />
        <Select
          label={t('review.mergeTarget')}
          value={targetId}
          onValueChange={setTargetId}
          options={[
            { value: memory.id, text: `${t('review.newer')}: ${memory.content}` },
            { value: other.id, text: `${t('review.older')}: ${other.content}` },
          ]}
        />
      </form>
    </Dialog>
  )
}
