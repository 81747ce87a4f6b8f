/** What of a conversation waits to be learned from, and what failed too often and waits for a person. */
import { useState } from 'react'
import { api, data, type Signal } from '../../api/client.ts'
import { useActing } from '../../app/mutations.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/layout.tsx'
import { useTell } from '../../ui/toast.tsx'
import { type Named, of } from './queries.ts'
import styles from './session-view.module.css'
import { SHOWN } from './session-actions.tsx'

export function Waiting({
  session,
  signals,
  onTurn,
}: {
  session: Named
  signals: readonly Signal[]
  onTurn: (turn: string) => void
}) {
  const { t } = useI18n()
  const pending = signals.filter(({ status }) => status === 'pending')
  const dead = signals.filter(({ status }) => status === 'dead')
  return (
    <>
      {pending.length > 0 && (
        <Notice>
          <strong>{t('sessions.pendingTitle')}.</strong>{' '}
          {t('sessions.pendingHelp', { count: pending.length })}
        </Notice>
      )}
      {dead.length > 0 && <Dead session={session} signals={dead} onTurn={onTurn} />}
    </>
  )
}

function Dead({
  session,
  signals,
  onTurn,
}: {
  session: Named
  signals: readonly Signal[]
  onTurn: (turn: string) => void
}) {
  const { t, time } = useI18n()
  const { may } = useSession()
  const { retry, isBusy } = useRetry(session)
  return (
    <Notice
      tone="bad"
      action={
        may('curate') &&
        signals.length > 1 && (
          <Button isSmall isBusy={isBusy} onClick={() => void retry(signals)}>
            {t('sessions.retryAll')}
          </Button>
        )
      }
    >
      <strong>{t('sessions.deadTitle')}.</strong>{' '}
      {t('sessions.deadHelp', { count: signals.length })}
      <ul className={styles.dead}>
        {signals.map((signal) => (
          <li key={signal.id}>
            <span>
              {time(signal.createdAt)} ·{' '}
              {t('sessions.deadReason', {
                attempts: signal.attempts,
                error: signal.error ?? t('sessions.unknownError'),
              })}
            </span>
            <Button isSmall onClick={() => onTurn(signal.turns[0] ?? '')}>
              {t('sessions.goToTurn')}
            </Button>
            {may('curate') && (
              <Button isSmall disabled={isBusy} onClick={() => void retry([signal])}>
                {t('sessions.retry')}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </Notice>
  )
}

function useRetry({ owner, id, user }: Named) {
  const { t } = useI18n()
  const tell = useTell()
  const acting = useActing(owner, SHOWN)
  const [isBusy, setBusy] = useState(false)
  const retry = async (signals: readonly Signal[]) => {
    setBusy(true)
    const body = { owner, ...of(user), sessionId: id, ids: signals.map((signal) => signal.id) }
    const done = await acting.attempt(() => data(api.POST('/api/signals/retry', { body })))
    if (done !== null) tell({ text: t('sessions.retried', { count: done.signals.length }) })
    setBusy(false)
  }
  return { retry, isBusy }
}
