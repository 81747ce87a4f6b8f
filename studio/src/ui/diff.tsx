import styles from './diff.module.css'

type Piece = { readonly kind: 'same' | 'gone' | 'new'; readonly text: string }

/** What has changed between two texts, word by word. Read out, what is gone and what is new are named as such. */
export function Diff({ before, after }: { before: string; after: string }) {
  return (
    <p className={styles.diff}>
      {pieces(before, after).map(({ kind, text }, index) => {
        const key = `${index}:${kind}`
        if (kind === 'gone') return <del key={key}>{text}</del>
        if (kind === 'new') return <ins key={key}>{text}</ins>
        return <span key={key}>{text}</span>
      })}
    </p>
  )
}

/** Beyond this, comparing word by word takes too long, and nobody could read it. */
const WORDS_MAX = 1_500

function pieces(before: string, after: string): readonly Piece[] {
  if (before === '') return [{ kind: 'same', text: after }]
  const old = words(before)
  const now = words(after)
  if (old.length > WORDS_MAX || now.length > WORDS_MAX) {
    return [
      { kind: 'gone', text: before },
      { kind: 'new', text: after },
    ]
  }
  return joined(compared(old, now))
}

/** Words with the blanks after them; in scripts without blanks, as the language has them. */
function words(text: string): readonly string[] {
  return [...new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text)].map(
    ({ segment }) => segment,
  )
}

/** By the longest common subsequence. */
function compared(old: readonly string[], now: readonly string[]): readonly Piece[] {
  const width = now.length + 1
  const lengths = new Uint16Array((old.length + 1) * width)
  const at = (row: number, column: number) => lengths[row * width + column] ?? 0
  for (let row = old.length - 1; row >= 0; row--) {
    for (let column = now.length - 1; column >= 0; column--) {
      lengths[row * width + column] =
        old[row] === now[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1))
    }
  }
  const found: Piece[] = []
  let row = 0
  let column = 0
  while (row < old.length || column < now.length) {
    const was = old[row]
    const is = now[column]
    if (was !== undefined && was === is) {
      found.push({ kind: 'same', text: was })
      row++
      column++
    } else if (
      was !== undefined &&
      (is === undefined || at(row + 1, column) >= at(row, column + 1))
    ) {
      found.push({ kind: 'gone', text: was })
      row++
    } else {
      found.push({ kind: 'new', text: is ?? '' })
      column++
    }
  }
  return found
}

function joined(found: readonly Piece[]): readonly Piece[] {
  const result: Piece[] = []
  for (const piece of found) {
    const last = result.at(-1)
    if (last?.kind === piece.kind) result.splice(-1, 1, { ...last, text: last.text + piece.text })
    else result.push(piece)
  }
  return result
}
