/** A memory that looks like an instruction to a model. It is rendered as text only. */
import { useState } from 'react'
import type { Memory } from '../../api/client.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Card } from '../../ui/layout.tsx'
import { Editor } from '../memories/editor.tsx'
import { MemoryPanel } from './memory-panel.tsx'
import { useReviewActions } from './queries.ts'

export function SuspectCard({ owner, memory }: { owner: string; memory: Memory }) {
  const { t } = useI18n()
  const { can } = useSession()
  const reviewActions = useReviewActions(owner)
  const [dialog, setDialog] = useState<'reject' | 'edit' | null>(null)
  const [isBusy, setBusy] = useState(false)
  const approve = async () => {
    setBusy(true)
    await reviewActions.approve(memory)
    setBusy(false)
  }
  const actions = (
    <>
      {can('curate') && (
        <Button look="primary" icon="check" isBusy={isBusy} onClick={() => void approve()}>
          {t('review.approve')}
        </Button>
      )}
      {can('curate') && (
        <Button icon="close" onClick={() => setDialog('reject')}>
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
      <MemoryPanel owner={owner} memory={memory} {...(can('write') ? { actions } : {})} />
      <Confirm
        isOpen={dialog === 'reject'}
        onClose={() => setDialog(null)}
        title={t('review.rejectTitle')}
        description={t('review.rejectHelp')}
        action={t('review.reject')}
        onConfirm={() => reviewActions.reject(memory)}
      />
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
