/** A memory that looks like an instruction to a model. It is rendered as text only. */
import { useState } from 'react'
import type { Memory } from '../../api/client.ts'
import { useSession } from '../../app/session.tsx'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Checkbox } from '../../ui/field.tsx'
import { Card } from '../../ui/layout.tsx'
import { Editor } from '../memories/editor.tsx'
import { useValueName } from '../memories/value-names.ts'
import { MemoryPanel } from './memory-panel.tsx'
import styles from './page.module.css'
import { type ReviewReason, useReviewActions } from './queries.ts'

const REASONS: Record<ReviewReason, MessageKey> = {
  instruction: 'review.whyInstruction',
  ungrounded: 'review.whyUngrounded',
  marked: 'review.whyMarked',
}

export function SuspectCard({
  owner,
  memory,
  reason,
  isSelected,
  onSelect,
}: {
  owner: string
  memory: Memory
  reason: ReviewReason
  isSelected: boolean
  onSelect: () => void
}) {
  const { t } = useI18n()
  const nameOf = useValueName()
  const { can } = useSession()
  const reviewActions = useReviewActions(owner)
  const [dialog, setDialog] = useState<'approve' | 'edit' | null>(null)
  const [isBusy, setBusy] = useState(false)
  const approve = async () => {
    setBusy(true)
    await reviewActions.approve(memory)
    setBusy(false)
  }
  const actions = (
    <>
      {can('curate') && (
        <Button
          look="primary"
          icon="check"
          isBusy={isBusy}
          onClick={() => (reason === 'instruction' ? setDialog('approve') : void approve())}
        >
          {t('review.approve')}
        </Button>
      )}
      {can('curate') && (
        <Button icon="close" onClick={() => void reviewActions.reject(memory)}>
          {t('review.reject')}
        </Button>
      )}
      {can('write') && (
        <Button look="quiet" icon="edit" onClick={() => setDialog('edit')}>
          {t('review.edit')}
        </Button>
      )}
    </>
  )
  return (
    <Card>
      <div className={styles.why}>
        {can('curate') && (
          <Checkbox
            name={t('memories.select', { content: memory.content.slice(0, 60) })}
            isOn={isSelected}
            onCheckedChange={onSelect}
          />
        )}
        <strong>{t(REASONS[reason])}</strong>
        <span>
          {t('review.writtenBy', {
            who: t(memory.author === 'person' ? 'memories.person' : 'memories.model'),
            source: nameOf(memory.provenance.source),
          })}
        </span>
      </div>
      <MemoryPanel owner={owner} memory={memory} {...(can('write') ? { actions } : {})} />
      <Confirm
        isOpen={dialog === 'approve'}
        onClose={() => setDialog(null)}
        title={t('review.approveTitle')}
        description={t('review.approveHelp')}
        action={t('review.approve')}
        onConfirm={approve}
      >
        <blockquote>{memory.content}</blockquote>
      </Confirm>
      {dialog === 'edit' && (
        <Editor
          owner={owner}
          memory={memory}
          onClose={() => {
            setDialog(null)
            void reviewActions.refresh()
          }}
        />
      )}
    </Card>
  )
}
