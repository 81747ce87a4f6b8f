/** The known word that a misspelled one most likely stands for; null when none is close. */
export function findClosestMatch(word: string, known: Iterable<string>): string | null {
  const wanted = word.toLowerCase()
  const candidates = [...known]
  const longer = candidates.filter((candidate) => candidate.toLowerCase().startsWith(wanted))
  if (wanted.length >= PREFIX_CHARACTERS_MIN && longer.length === 1) return longer[0] ?? null
  let best: string | null = null
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1
  for (const candidate of candidates) {
    const distance = editDistance(wanted, candidate.toLowerCase())
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

const PREFIX_CHARACTERS_MIN = 2

/** Damerau-Levenshtein distance: insertions, deletions, replacements, and swaps of adjacent letters. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1]
      const isSwap = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwap && row > 1 && column > 1 ? (beforeLast[column - 2] ?? 0) + 1 : Number.MAX_VALUE,
      )
    }
    beforeLast = last
    last = current
  }
  return last[b.length] ?? 0
}
