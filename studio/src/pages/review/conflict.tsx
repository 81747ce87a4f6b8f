/** Two memories that say otherwise, side by side with their sources, and what can be made of them. */
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
import styles from './page.module.css'
import { type Conflict, useSettling } from './queries.ts'
import { Side } from './memory-panel.tsx'

type Asked =
  | { readonly kind: 'keep'; readonly keep: Memory; readonly drop: Memory }
  | { readonly kind: 'edit'; readonly memory: Memory }
  | { readonly kind: 'merge' }

export function ConflictCard({ owner, conflict }: { owner: string; conflict: Conflict }) {
  const { t } = useI18n()
  const { may } = useSession()
  const settling = useSettling(owner)
  const [asked, setAsked] = useState<Asked | null>(null)
  const { memory, other } = conflict
  const close = () => setAsked(null)
  const actions = (keep: Memory, drop: Memory) =>
    may('write')
      ? {
          actions: (
            <>
              {may('curate') && (
                <Button icon="check" onClick={() => setAsked({ kind: 'keep', keep, drop })}>
                  {t('review.keepThis')}
                </Button>
              )}
              <Button
                look="quiet"
                icon="edit"
                onClick={() => setAsked({ kind: 'edit', memory: keep })}
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
        <Side owner={owner} memory={other} title={t('review.older')} {...actions(other, memory)} />
        <Side owner={owner} memory={memory} title={t('review.newer')} {...actions(memory, other)} />
      </div>
      <footer className={styles.footer}>
        <div className={styles.diff}>
          <Diff before={other.content} after={memory.content} />
        </div>
        {may('curate') && (
          <div className={styles.actions}>
            <Button onClick={() => setAsked({ kind: 'merge' })}>{t('review.merge')}</Button>
            <Tooltip text={t('review.compatibleHelp')}>
              <Button onClick={() => void settling.reconcile(conflict)}>{t('review.compatible')}</Button>
            </Tooltip>
          </div>
        )}
      </footer>
      {asked?.kind === 'keep' && (
        <Confirm
          isOpen
          onClose={close}
          title={t('review.keepTitle')}
          description={t('review.keepHelp')}
          action={t('review.keepThis')}
          isDangerous={false}
          onConfirm={() => settling.settle(asked.keep, asked.drop)}
        >
          <Diff before={asked.drop.content} after={asked.keep.content} />
        </Confirm>
      )}
      {asked?.kind === 'merge' && (
        <Merge conflict={conflict} onClose={close} onMerge={settling.settle} />
      )}
      {asked?.kind === 'edit' && (
        <Editor
          owner={owner}
          memory={asked.memory}
          onClose={() => {
            close()
            void settling.refresh()
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
  const [words, setWords] = useState(`${other.content}\n${memory.content}`)
  const [stays, setStays] = useState(memory.id)
  const [isBusy, setBusy] = useState(false)
  const merge = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    const [keep, drop] = stays === memory.id ? [memory, other] : [other, memory]
    const isDone = await onMerge(keep, drop, words.trim())
    setBusy(false)
    if (isDone) onClose()
  }
  return (
    <Dialog
      isOpen
      onClose={onClose}
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
            disabled={words.trim() === ''}
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
          value={words}
          onChange={({ target }) => setWords(target.value)}
        />
        <Select
          label={t('review.mergeTarget')}
          value={stays}
          onChoose={setStays}
          options={[
            { value: memory.id, text: `${t('review.newer')}: ${memory.content}` },
            { value: other.id, text: `${t('review.older')}: ${other.content}` },
          ]}
        />
      </form>
    </Dialog>
  )
}
