/** The pending and failed exchanges of a session. */
import { useState } from 'react'
import { api, data, type Signal } from '../../api/client.ts'
import { useMutations } from '../../app/mutations.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/layout.tsx'
import { useToast } from '../../ui/toast.tsx'
import { type SessionRef, userParam } from './queries.ts'
import { AFFECTED_QUERIES } from './session-actions.tsx'
import styles from './session-view.module.css'

export function PendingSignals({
  session,
  signals,
  onSelectTurn,
}: {
  session: SessionRef
  signals: readonly Signal[]
  onSelectTurn: (turn: string) => void
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
      {dead.length > 0 && (
        <FailedExchanges session={session} signals={dead} onSelectTurn={onSelectTurn} />
      )}
    </>
  )
}

function FailedExchanges({
  session,
  signals,
  onSelectTurn,
}: {
  session: SessionRef
  signals: readonly Signal[]
  onSelectTurn: (turn: string) => void
}) {
  const { t, time } = useI18n()
  const { can } = useSession()
  const { retry, isBusy } = useRetry(session)
  return (
    <Notice
      tone="bad"
      action={
        can('curate') &&
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
            <Button isSmall onClick={() => onSelectTurn(signal.turns[0] ?? '')}>
              {t('sessions.goToTurn')}
            </Button>
            {can('curate') && (
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

function useRetry({ owner, id, user }: SessionRef) {
  const { t } = useI18n()
  const showToast = useToast()
  const mutations = useMutations(owner, AFFECTED_QUERIES)
  const [isBusy, setBusy] = useState(false)
  const retry = async (signals: readonly Signal[]) => {
    setBusy(true)
    const body = {
      owner,
      ...userParam(user),
      sessionId: id,
      ids: signals.map((signal) => signal.id),
    }
    const done = await mutations.attempt(() => data(api.POST('/api/signals/retry', { body })))
    if (done !== null) showToast({ text: t('sessions.retried', { count: done.signals.length }) })
    setBusy(false)
  }
  return { retry, isBusy }
}
