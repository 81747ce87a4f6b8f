/** The supersede rule: whether a new statement replaces a stored memory that it contradicts, or both stay as a conflict. */
import { getEventTime, isLessTrusted, type Memory } from '../../domain/memory.ts'
import type { Verdict } from '../../domain/verdict.ts'
import type { Draft } from '../draft.ts'
import { isUserPinned } from '../pins.ts'
import type { Contradiction, ParsedStatement } from './statements.ts'

export type ContradictedMemory = {
  readonly memory: Memory
  readonly contradiction: Contradiction
  /** The memory's content and the draft's content. */
  readonly older: ParsedStatement
  readonly newer: ParsedStatement
  /** The verdict of the adjudicator, for a contradiction of kind `verdict`. */
  readonly verdict?: Verdict | undefined
}

/** A memory that is newer, pinned by the user or more trusted is never replaced. */
export function canSupersede(
  draft: Draft,
  { memory, contradiction, older, newer, verdict }: ContradictedMemory,
): boolean {
  const isReplacement =
    contradiction === 'verdict'
      ? verdict === 'update'
      : isReplacementByRules(contradiction, newer, older)
  return (
    isReplacement &&
    draft.observedAt >= getEventTime(memory) &&
    !isUserPinned(memory) &&
    !isLessTrusted(draft.trust, memory.trust)
  )
}

/**
 * A second value of a single-valued attribute replaces the first, and people may take back statements about themselves.
 * Statements about others, numbers and dates are replaced only when the new one announces a change.
 */
function isReplacementByRules(
  contradiction: Exclude<Contradiction, 'verdict'>,
  newer: ParsedStatement,
  older: ParsedStatement,
): boolean {
  const announcesChange = newer.isChange && !older.isChange
  switch (contradiction) {
    case 'value':
    case 'change':
      return true
    case 'negation':
      return announcesChange || (newer.isOwn && older.isOwn)
    case 'number':
    case 'date':
      return announcesChange
  }
}
