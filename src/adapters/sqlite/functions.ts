/** What SQLite lacks, given to every connection under these names. The same in means the same out. */
import { containsLowered } from '../../core/containing.ts'
import { spokenTerms } from '../../core/searchable.ts'
import { fromStorable } from '../../core/storable-text.ts'
import type { SqlValue } from './driver.ts'

/** The drivers read from its parameters how many values it takes: none may have a default. */
export type SqlFunction = (first: SqlValue, second: SqlValue) => SqlValue

export const SQL_FUNCTIONS: Readonly<Record<string, SqlFunction>> = {
  /** Of two texts as they are stored, the second lowered. SQLite's own comparisons know only the capitals of ASCII. */
  holds_lowered: (text, wanted) =>
    typeof text === 'string' &&
    typeof wanted === 'string' &&
    containsLowered(fromStorable(text), fromStorable(wanted))
      ? 1
      : 0,
  /** The terms that a turn is found by, from its content and speaker as they are stored, space-joined. */
  spoken_terms: (content, speaker) =>
    spokenTerms({
      content: fromStorable(String(content)),
      speaker: typeof speaker === 'string' ? fromStorable(speaker) : null,
    }).join(' '),
}
