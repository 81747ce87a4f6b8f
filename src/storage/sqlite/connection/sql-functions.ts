/** What SQLite lacks, given to every connection under these names. The same in means the same out. */

import { listSearchTerms } from '../../../domain/searchable-text.ts'
import { fromStorable } from '../../../text/storable-text.ts'
import { containsFolded } from '../../../text/substring.ts'
import type { SqlValue } from './sqlite-driver.ts'

const NO_PROVENANCE = { source: '', turns: [], extractor: null, extractorVersion: null } as const

/** The drivers read from its parameters how many values it takes: none may have a default. */
export type SqlFunction = (first: SqlValue, second: SqlValue) => SqlValue

export const SQL_FUNCTIONS: Readonly<Record<string, SqlFunction>> = {
  /** Of two texts as they are stored, the second lowered. SQLite's own comparisons know only the capitals of ASCII. */
  holds_lowered: (text, wanted) =>
    typeof text === 'string' &&
    typeof wanted === 'string' &&
    containsFolded(fromStorable(text), fromStorable(wanted))
      ? 1
      : 0,
  /** For a schema step of an earlier version: terms of a turn's content and speaker as they are stored, space-joined. */
  spoken_terms: (content, speaker) => {
    const name = typeof speaker === 'string' ? fromStorable(speaker) : null
    const provenance = { ...NO_PROVENANCE, speaker: name }
    return listSearchTerms({ content: fromStorable(String(content)), key: null, provenance }).join(
      ' ',
    )
  },
}
