/** What can be done with a whole conversation: distilling it now, and forgetting it. */
import { Link } from '@tanstack/react-router'
import { type ReactNode, useId, useState } from 'react'
import { api, data } from '../../api/client.ts'
import { useActing } from '../../app/mutations.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Checkbox } from '../../ui/field.tsx'
import { Notice } from '../../ui/layout.tsx'
import { useTell } from '../../ui/toast.tsx'
import { type Flushed, toneOf, wordsFor } from './outcome.ts'
import { type Named, of } from './queries.ts'
import styles from './session-view.module.css'

export const SHOWN = ['sessions', 'turns', 'signals', 'memories', 'memory', 'stats', 'episodes']

export type Distilling = {
  readonly run: () => void
  readonly isBusy: boolean
  /** What became of it; stays until it is closed. */
  readonly notice: ReactNode
}

export function useDistilling({ owner, id, user }: Named): Distilling {
  const { t } = useI18n()
  const acting = useActing(owner, SHOWN)
  const [isBusy, setBusy] = useState(false)
  const [told, setTold] = useState<Flushed | null>(null)
  const run = async () => {
    setBusy(true)
    setTold(null)
    const body = { owner, ...of(user) }
    setTold(
      await acting.attempt(() =>
        data(api.POST('/api/sessions/{id}/flush', { params: { path: { id } }, body })),
      ),
    )
    setBusy(false)
  }
  const undo = async (change: string) => {
    if (await acting.undo(change)) setTold(null)
  }
  const change = told?.change ?? null
  const notice = told !== null && (
    <Notice
      tone={toneOf(told)}
      action={
        <>
          {change !== null && (
            <Button isSmall onClick={() => void undo(change)}>
              {t('common.undo')}
            </Button>
          )}
          <IconButton isSmall icon="close" name={t('common.close')} onClick={() => setTold(null)} />
        </>
      }
    >
      {wordsFor(told, t)}{' '}
      {told.outcome === 'skipped:no_model' && (
        <Link to="/studio/settings" search={{ owner } as never}>
          {t('sessions.openSettings')}
        </Link>
      )}
    </Notice>
  )
  return { run: () => void run(), isBusy, notice }
}

export function SessionActions({
  session,
  distilling,
  onGone,
}: {
  session: Named
  distilling: Distilling
  onGone: () => void
}) {
  const { t } = useI18n()
  const { may } = useSession()
  const [isAsking, setAsking] = useState(false)
  return (
    <div className={styles.actions}>
      {may('write') && (
        <Button icon="run" isBusy={distilling.isBusy} onClick={distilling.run}>
          {t('sessions.distill')}
        </Button>
      )}
      {may('curate') && (
        <IconButton
          icon="forget"
          name={t('sessions.deleteSession')}
          onClick={() => setAsking(true)}
        />
      )}
      <ForgetSession
        session={session}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onGone={onGone}
      />
    </div>
  )
}

function ForgetSession({
  session: { owner, id, user },
  isOpen,
  onClose,
  onGone,
}: {
  session: Named
  isOpen: boolean
  onClose: () => void
  onGone: () => void
}) {
  const { t } = useI18n()
  const tell = useTell()
  const acting = useActing(owner, SHOWN)
  const [isWithMemories, setWithMemories] = useState(false)
  const label = useId()
  const forget = async () => {
    const done = await acting.attempt(() =>
      data(
        api.DELETE('/api/sessions/{id}', {
          params: { path: { id }, query: { owner, ...of(user), memories: isWithMemories } },
        }),
      ),
    )
    if (done === null) return
    const { turns: count, memories, change } = done
    const text = isWithMemories
      ? t('sessions.sessionDeletedWithMemories', { count, memories })
      : t('sessions.sessionDeleted', { count })
    const action =
      change === null
        ? {}
        : { action: { name: t('sessions.restoreMemories'), run: () => acting.undo(change) } }
    tell({ text, ...action })
    onGone()
  }
  return (
    <Confirm
      isOpen={isOpen}
      onClose={onClose}
      title={t('sessions.deleteSessionTitle')}
      description={t('sessions.deleteSessionHelp')}
      action={t('sessions.delete')}
      onConfirm={forget}
    >
      <div className={styles.option}>
        <Checkbox
          id={label}
          name={t('sessions.trashSessionMemories')}
          isOn={isWithMemories}
          onTurn={setWithMemories}
        />
        <label htmlFor={label}>{t('sessions.trashSessionMemories')}</label>
      </div>
    </Confirm>
  )
}
