/** Whether one statement already holds everything that another one states, whatever its wording and asides. */

import { listQuantities } from '../../../text/meaning/quantities.ts'
import { type Clause, parseClauses, type Word } from '../../../text/meaning/statement-clauses.ts'
import { isFrameWord } from '../../../text/meaning/word-classes.ts'
import { isSameWord } from './clause-support.ts'

/** Whether `whole` states all of `part`: its content words, numbers, and polarity. Both are about the same subject. */
export function restatesClaim(part: string, whole: string): boolean {
  return restatesByAll(part, [whole])
}

/** Whether several statements together state all of `part`. */
export function restatesByAll(part: string, statements: readonly string[]): boolean {
  const known = statements.flatMap((statement) => parseClauses(statement, 'claim'))
  const quantities = new Set(
    statements.flatMap((text) => listQuantities(text).map(({ key }) => key)),
  )
  if (!listQuantities(part).every(({ key }) => quantities.has(key))) return false
  const clauses = parseClauses(part, 'claim')
  const words = clauses.flatMap(listContentWords)
  return words.length > 0 && clauses.every((clause) => isStated(clause, known))
}

function isStated(clause: Clause, known: readonly Clause[]): boolean {
  const words = listContentWords(clause)
  return words.every((word) =>
    known.some(
      (each) =>
        each.isNegative === clause.isNegative &&
        each.words.some((candidate) => isSameWord(candidate, word)),
    ),
  )
}

function listContentWords({ words }: Clause): readonly Word[] {
  return words.filter(({ folded, text }) => !isFrameWord(folded, text))
}
