/**
 * A case-insensitive substring condition that matches `text/substring.ts` exactly. PostgreSQL's own
 * `lower` depends on the locale of the database; under "C" it knows only ASCII. Only the letters of
 * the search text matter, so only these are lowercased, explicitly.
 */

import { toStorable } from '../../../text/storable-text.ts'
import { foldCase } from '../../../text/substring.ts'
import type { ParameterBinder } from './sql-filters.ts'

/** The only letter that lowercases to two. */
const DOTTED_CAPITAL = 'İ'
/** No letter above it has an uppercase form, as of Unicode 17. */
const CASED_CODE_POINT_MAX = 0x1ffff
/** The prefix of a storable-text escape, followed by four digits. */
const ESCAPE_CODE_POINT = 0xe000

export function toSubstringCondition(
  columns: readonly string[],
  text: string,
  { bind }: ParameterBinder,
): string {
  const wanted = foldCase(text)
  const letters = [...new Set(wanted)].flatMap((letter) =>
    (variants().get(letter) ?? []).map((variant) => [variant, letter] as const),
  )
  const from = bind(letters.map(([variant]) => variant).join(''))
  const to = bind(letters.map(([, letter]) => letter).join(''))
  const dotted = bind(DOTTED_CAPITAL)
  const undotted = bind(foldCase(DOTTED_CAPITAL))
  const sought = bind(wanted)
  const pattern = bind(toCharacterPattern(toStorable(wanted)))
  const conditions = columns.map((column) => {
    const lower = `translate(replace(${column}, ${dotted}, ${undotted}), ${from}, ${to}) COLLATE "C"`
    // The digits of an escape are not text: where escapes occur, a match must not begin inside one.
    return `CASE WHEN strpos(${column}, chr(${ESCAPE_CODE_POINT})) = 0 THEN strpos(${lower}, ${sought}) > 0
      ELSE ${lower} ~ ${pattern} END`
  })
  return `(${conditions.join(' OR ')})`
}

/** A pattern for the text after any number of characters, each of which may be an escape. */
function toCharacterPattern(text: string): string {
  const literal = [...text].map((character) => {
    const hex = (character.codePointAt(0) ?? 0).toString(16).padStart(8, '0')
    return `\\U${hex}`
  })
  return `^(?:[^\\ue000]|\\ue000[0-9a-f]{4})*${literal.join('')}`
}

let known: ReadonlyMap<string, readonly string[]> | null = null

/** For each lowercase letter, the other letters that lowercase to it. */
function variants(): ReadonlyMap<string, readonly string[]> {
  if (known !== null) return known
  const found = new Map<string, string[]>()
  for (let codePoint = 0; codePoint <= CASED_CODE_POINT_MAX; codePoint++) {
    const letter = String.fromCodePoint(codePoint)
    const lower = foldCase(letter)
    if (lower === letter || letter === DOTTED_CAPITAL) continue
    found.set(lower, [...(found.get(lower) ?? []), letter])
  }
  known = found
  return found
}
