/** A memory that looks like an instruction to a model. It is only ever shown as text. */
import { useState } from 'react'
import type { Memory } from '../../api/client.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Card } from '../../ui/layout.tsx'
import { Editor } from '../memories/editor.tsx'
import { useSettling } from './queries.ts'
import { Side } from './memory-panel.tsx'

export function SuspectCard({ owner, memory }: { owner: string; memory: Memory }) {
  const { t } = useI18n()
  const { may } = useSession()
  const settling = useSettling(owner)
  const [asked, setAsked] = useState<'reject' | 'edit' | null>(null)
  const [isBusy, setBusy] = useState(false)
  const approve = async () => {
    setBusy(true)
    await settling.approve(memory)
    setBusy(false)
  }
  const actions = (
    <>
      {may('curate') && (
        <Button look="primary" icon="check" isBusy={isBusy} onClick={() => void approve()}>
          {t('review.approve')}
        </Button>
      )}
      {may('curate') && (
        <Button icon="close" onClick={() => setAsked('reject')}>
          {t('review.reject')}
        </Button>
      )}
      {may('write') && (
        <Button look="quiet" icon="edit" onClick={() => setAsked('edit')}>
          {t('review.edit')}
        </Button>
      )}
    </>
  )
  return (
    <Card>
      <Side owner={owner} memory={memory} {...(may('write') ? { actions } : {})} />
      <Confirm
        isOpen={asked === 'reject'}
        onClose={() => setAsked(null)}
        title={t('review.rejectTitle')}
        description={t('review.rejectHelp')}
        action={t('review.reject')}
        onConfirm={() => settling.reject(memory)}
      />
      {asked === 'edit' && (
        <Editor
          owner={owner}
          memory={memory}
          onClose={() => {
            setAsked(null)
            void settling.refresh()
          }}
        />
      )}
    </Card>
  )
}
