/** Assigns the chunks of a file their numbers, which define their order. */

/** Old and new chunks, identified by their text. */
export type ChunkNumbering = {
  /** For each new chunk: its number, and whether that number exists. */
  readonly numbers: readonly number[]
  /** Numbers that are no longer used. */
  readonly removed: readonly number[]
}

/** The gap between numbers, for later insertions. */
const STEP = 1_000

/**
 * Chunks before and after an edit keep their numbers and thereby their vectors. Numbers in between are reused, so that
 * replacing a file never takes more changes than it has chunks. All numbers are above `after`.
 */
export function numberChunks(
  known: readonly { readonly number: number; readonly text: string }[],
  texts: readonly string[],
  after = 0,
): ChunkNumbering {
  const shorter = Math.min(known.length, texts.length)
  let before = 0
  while (before < shorter && known[before]?.text === texts[before]) before++
  let behind = 0
  while (
    behind < shorter - before &&
    known.at(-1 - behind)?.text === texts[texts.length - 1 - behind]
  ) {
    behind++
  }
  const free = known.slice(before, known.length - behind).map(({ number }) => number)
  const between = allocateNumbers(
    free,
    texts.length - before - behind,
    free.at(-1) ?? known[before - 1]?.number ?? after,
    known[known.length - behind]?.number ?? null,
  )
  if (between === null) return renumberChunks(known, texts.length, after)
  return {
    numbers: [
      ...known.slice(0, before).map(({ number }) => number),
      ...between,
      ...known.slice(known.length - behind).map(({ number }) => number),
    ],
    removed: free.slice(between.length),
  }
}

/** The free numbers first, then new ones before the next used number; null when there is no room. */
function allocateNumbers(
  free: readonly number[],
  count: number,
  last: number,
  next: number | null,
): readonly number[] | null {
  const used = free.slice(0, count)
  const missing = count - used.length
  const step = next === null ? STEP : Math.min(STEP, Math.floor((next - last) / (missing + 1)))
  if (missing > 0 && step < 1) return null
  return [...used, ...Array.from({ length: missing }, (_, index) => last + step * (index + 1))]
}

/** All existing numbers in order, then new ones. */
function renumberChunks(
  known: readonly { readonly number: number }[],
  count: number,
  after: number,
): ChunkNumbering {
  const numbers = known.map(({ number }) => number)
  const last = numbers.at(-1) ?? after
  const more = Math.max(0, count - numbers.length)
  return {
    numbers: [
      ...numbers.slice(0, count),
      ...Array.from({ length: more }, (_, index) => last + STEP * (index + 1)),
    ],
    removed: numbers.slice(count),
  }
}
