/** What patterns find in the person's own words, for what no model reads: there is none, or too little was said. */

import { stripLineMarkers } from '../../domain/context-block.ts'
import { DISTILLATION_EXTRACTOR } from '../../domain/memory.ts'
import type { Signal } from '../../domain/signal.ts'
import type { Turn } from '../../domain/turn.ts'
import type { DraftInput } from '../../memory/draft.ts'
import { buildPatternDrafts } from '../patterns/pattern-drafts.ts'

/** Of one turn, and about as many of one commit. */
export const PATTERN_FACTS_MAX = 100

export function isUserTurn({ role }: Turn): boolean {
  return role === 'user'
}

/** Of all that the signals stand for, only where patterns have not read it. */
export function extractPatternFacts(
  signals: readonly Signal[],
  turns: readonly Turn[],
): readonly DraftInput[] {
  const unread = new Set(
    signals.filter(({ isPatternScanned: isRead }) => !isRead).flatMap((each) => each.turns),
  )
  return turns.filter((turn) => isUserTurn(turn) && unread.has(turn.id)).flatMap(extractTurnFacts)
}

export function extractTurnFacts({ id, content, saidAt, speaker }: Turn): readonly DraftInput[] {
  return buildPatternDrafts(stripLineMarkers(content), {
    source: DISTILLATION_EXTRACTOR,
    speaker: speaker ?? 'user',
    turns: [id],
    observedAt: saidAt,
  }).slice(0, PATTERN_FACTS_MAX)
}
