/** What became of distilling, in words. */
import type { paths } from '../../api/types.ts'
import type { MessageKey } from '../../i18n/catalog.ts'
import type { Translate } from '../../i18n/i18n.tsx'
import type { Tone } from '../../ui/layout.tsx'

export type DistillationResult =
  paths['/api/sessions/{id}/flush']['post']['responses']['200']['content']['application/json']

const KNOWN: Readonly<Record<string, MessageKey>> = {
  no_signals: 'sessions.outcomeNoSignals',
  'skipped:no_model': 'sessions.outcomeNoModel',
  'skipped:low_novelty': 'sessions.outcomeLowNovelty',
  'skipped:changed': 'sessions.outcomeChanged',
  'skipped:extraction': 'sessions.outcomeLearningDisabled',
  'empty:nothing': 'sessions.outcomeNothing',
  'empty:no_turns': 'sessions.outcomeNoTurns',
}

export function describeOutcome(flushed: DistillationResult, t: Translate): string {
  const { outcome, facts, identity, pending } = flushed
  const [kind = '', reason = ''] = outcome.split(':')
  const known = KNOWN[outcome]
  const said = [
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
    ...(identity > 0 ? [t('sessions.outcomeIdentity', { count: identity })] : []),
    ...(facts.suspect > 0 ? [t('sessions.outcomeReview', { count: facts.suspect })] : []),
    ...(pending > 0 ? [t('sessions.outcomePending', { count: pending })] : []),
  ]
  return said.join(' ')
}

export function outcomeTone({ outcome }: DistillationResult): Tone {
  if (outcome === 'distilled') return 'good'
  return /^(error|dead_letter|skipped:no_model)/.test(outcome) ? 'warn' : 'plain'
}
