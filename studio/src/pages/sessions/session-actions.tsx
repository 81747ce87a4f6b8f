/** Actions of a session: distillation and deletion. */
import { Link } from '@tanstack/react-router'
import { type ReactNode, useId, useState } from 'react'
import { api, data } from '../../api/client.ts'
import type { paths } from '../../api/types.ts'
import { useMutations } from '../../app/mutations.ts'
import { useSession } from '../../app/session.tsx'
import type { MessageKey } from '../../i18n/catalog.ts'
import { type Translate, useI18n } from '../../i18n/i18n.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Checkbox } from '../../ui/field.tsx'
import { Notice, type Tone } from '../../ui/layout.tsx'
import { useToast } from '../../ui/toast.tsx'
import { Tooltip } from '../../ui/tooltip.tsx'
import { type SessionRef, userParam } from './queries.ts'
import styles from './session-view.module.css'

export const AFFECTED_QUERIES = [
  'sessions',
  'turns',
  'signals',
  'memories',
  'memory',
  'stats',
  'episodes',
]

type Distillation = {
  readonly run: () => void
  readonly isBusy: boolean
  /** The outcome, shown until it is dismissed. */
  readonly notice: ReactNode
}

export function useDistillation({ owner, id, user }: SessionRef): Distillation {
  const { t } = useI18n()
  const mutations = useMutations(owner, AFFECTED_QUERIES)
  const [isBusy, setBusy] = useState(false)
  const [result, setResult] = useState<DistillationResult | null>(null)
  const run = async () => {
    setBusy(true)
    setResult(null)
    const body = { owner, ...userParam(user) }
    setResult(
      await mutations.attempt(() =>
        data(api.POST('/api/sessions/{id}/flush', { params: { path: { id } }, body })),
      ),
    )
    setBusy(false)
  }
  const undo = async (change: string) => {
    if (await mutations.undo(change)) setResult(null)
  }
  const change = result?.change ?? null
  const notice = result !== null && (
    <Notice
      tone={outcomeTone(result)}
      action={
        <>
          {change !== null && (
            <Button isSmall onClick={() => void undo(change)}>
              {t('common.undo')}
            </Button>
          )}
          <IconButton
            isSmall
            icon="close"
            name={t('common.close')}
            onClick={() => setResult(null)}
          />
        </>
      }
    >
      {describeOutcome(result, t)}{' '}
      {result.outcome === 'skipped:no_model' && (
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
  distillation,
  onDeleted,
}: {
  session: SessionRef
  distillation: Distillation
  onDeleted: () => void
}) {
  const { t } = useI18n()
  const { can } = useSession()
  const [isConfirming, setConfirming] = useState(false)
  return (
    <div className={styles.actions}>
      {can('write') && (
        <Tooltip text={t('sessions.distillHelp')}>
          <Button icon="run" isBusy={distillation.isBusy} onClick={distillation.run}>
            {t('sessions.distill')}
          </Button>
        </Tooltip>
      )}
      {can('curate') && (
        <IconButton
          icon="forget"
          name={t('sessions.deleteSession')}
          onClick={() => setConfirming(true)}
        />
      )}
      <DeleteSessionDialog
        session={session}
        isOpen={isConfirming}
        onClose={() => setConfirming(false)}
        onDeleted={onDeleted}
      />
    </div>
  )
}

function DeleteSessionDialog({
  session: { owner, id, user },
  isOpen,
  onClose,
  onDeleted,
}: {
  session: SessionRef
  isOpen: boolean
  onClose: () => void
  onDeleted: () => void
}) {
  const { t } = useI18n()
  const showToast = useToast()
  const mutations = useMutations(owner, AFFECTED_QUERIES)
  const [trashMemories, setTrashMemories] = useState(false)
  const label = useId()
  const deleteSession = async () => {
    const done = await mutations.attempt(() =>
      data(
        api.DELETE('/api/sessions/{id}', {
          params: { path: { id }, query: { owner, ...userParam(user), memories: trashMemories } },
        }),
      ),
    )
    if (done === null) return
    const { turns: count, memories, change } = done
    const text = trashMemories
      ? t('sessions.sessionDeletedWithMemories', { count, memories })
      : t('sessions.sessionDeleted', { count })
    const action =
      change === null
        ? {}
        : { action: { name: t('sessions.restoreMemories'), run: () => mutations.undo(change) } }
    showToast({ text, ...action })
    onDeleted()
  }
  return (
    <Confirm
      isOpen={isOpen}
      onClose={onClose}
      title={t('sessions.deleteSessionTitle')}
      description={t('sessions.deleteSessionHelp')}
      action={t('sessions.delete')}
      onConfirm={deleteSession}
    >
      <div className={styles.option}>
        <Checkbox
          id={label}
          name={t('sessions.trashSessionMemories')}
          isOn={trashMemories}
          onCheckedChange={setTrashMemories}
        />
        <label htmlFor={label}>{t('sessions.trashSessionMemories')}</label>
      </div>
    </Confirm>
  )
}

type DistillationResult =
  paths['/api/sessions/{id}/flush']['post']['responses']['200']['content']['application/json']

const OUTCOME_MESSAGES: Readonly<Record<string, MessageKey>> = {
  no_signals: 'sessions.outcomeNoSignals',
  'skipped:no_model': 'sessions.outcomeNoModel',
  'skipped:low_novelty': 'sessions.outcomeLowNovelty',
  'skipped:changed': 'sessions.outcomeChanged',
  'skipped:extraction': 'sessions.outcomeLearningDisabled',
  'empty:nothing': 'sessions.outcomeNothing',
  'empty:no_turns': 'sessions.outcomeNoTurns',
}

function describeOutcome(result: DistillationResult, t: Translate): string {
  const { outcome, facts, identityStatements, pendingSignals } = result
  const [kind = '', reason = ''] = outcome.split(':')
  const known = OUTCOME_MESSAGES[outcome]
  const sentences = [
    known !== undefined
      ? t(known)
      : kind === 'distilled'
        ? t('sessions.outcomeDistilled', {
            made: facts.created + facts.updated + facts.superseded + facts.conflicts,
            known: facts.reinforced,
          })
        : kind === 'dead_letter'
          ? t('sessions.outcomeDead', { count: Number(reason) })
          : t(kind === 'error' ? 'sessions.outcomeError' : 'sessions.outcomeSkipped', { reason }),
    ...(identityStatements > 0
      ? [t('sessions.outcomeIdentity', { count: identityStatements })]
      : []),
    ...(facts.suspect > 0 ? [t('sessions.outcomeReview', { count: facts.suspect })] : []),
    ...(pendingSignals > 0 ? [t('sessions.outcomePending', { count: pendingSignals })] : []),
  ]
  return sentences.join(' ')
}

function outcomeTone({ outcome }: DistillationResult): Tone {
  if (outcome === 'distilled') return 'good'
  return /^(error|dead_letter|skipped:no_model)/.test(outcome) ? 'warn' : 'plain'
}
