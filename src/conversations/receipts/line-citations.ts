/**
 * The lines of one memory or turn that receipts cite, each stored once however many receipts cite it.
 *
 * They form one row per memory or turn. Erasing the memory or turn removes the row in the same commit, which redacts every
 * receipt at the cost of one row. Receipts refer to a line by a key and not by a hash of its text: a hash that stays
 * behind would confirm a guess of what was erased.
 */
import { addMs, DAY_MS, type Instant } from '../../lib/time.ts'

export type CitedLine = {
  readonly key: string
  readonly text: string
  /** When the last receipt that cites it has expired; up to a day later. */
  readonly expiresAt: Instant
}

/** Excerpts of a long turn differ from question to question. Beyond this, the lines that expire first are dropped. */
export const CITED_LINES_PER_DOCUMENT_MAX = 256

/** Lines expire so much later than needed, so that citing them again within that time writes nothing. */
const REFRESH_MS = DAY_MS

type CitedLineUpdate = {
  readonly texts: readonly CitedLine[]
  /** The key to cite it by. */
  readonly key: string
}

/** Adds a line that is cited until `until`, or extends it. Returns the same list when there is nothing to write. */
export function citeLine(
  texts: readonly CitedLine[],
  { key, text, expiresAt }: CitedLine,
  now: Instant,
): CitedLineUpdate {
  const known = texts.find((each) => each.text === text)
  if (known !== undefined && known.expiresAt >= expiresAt) return { texts, key: known.key }
  const cited = { key: known?.key ?? key, text, expiresAt: addMs(expiresAt, REFRESH_MS) }
  const others = texts.filter((each) => each !== known && each.expiresAt > now)
  const kept = others
    .toSorted((a, b) => b.expiresAt - a.expiresAt)
    .slice(0, CITED_LINES_PER_DOCUMENT_MAX - 1)
  return { texts: [...kept, cited], key: cited.key }
}

export function getLatestExpiry(texts: readonly CitedLine[]): Instant | null {
  return texts.reduce<Instant | null>(
    (last, { expiresAt }) => (last === null || expiresAt > last ? expiresAt : last),
    null,
  )
}
