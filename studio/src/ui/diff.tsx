import styles from './diff.module.css'

type Segment = { readonly kind: 'same' | 'gone' | 'new'; readonly text: string }

/** A word diff of two texts, with `del` and `ins` elements for screen readers. */
export function Diff({ before, after }: { before: string; after: string }) {
  return (
    <p className={styles.diff}>
      {diffSegments(before, after).map(({ kind, text }, index) => {
        const key = `${index}:${kind}`
        if (kind === 'gone') return <del key={key}>{text}</del>
        if (kind === 'new') return <ins key={key}>{text}</ins>
        return <span key={key}>{text}</span>
      })}
    </p>
  )
}

/** Longer texts are not compared by words: it would be slow and unreadable. */
const WORDS_MAX = 1_500

function diffSegments(before: string, after: string): readonly Segment[] {
  if (before === '') return [{ kind: 'same', text: after }]
  const previous = splitWords(before)
  const next = splitWords(after)
  if (previous.length > WORDS_MAX || next.length > WORDS_MAX) {
    return [
      { kind: 'gone', text: before },
      { kind: 'new', text: after },
    ]
  }
  return mergeAdjacent(diffWords(previous, next))
}

/** Splits a text into words and separators, also in scripts without spaces. */
function splitWords(text: string): readonly string[] {
  return [...new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text)].map(
    ({ segment }) => segment,
  )
}

/** Longest common subsequence. */
function diffWords(previous: readonly string[], next: readonly string[]): readonly Segment[] {
  const width = next.length + 1
  const lengths = new Uint16Array((previous.length + 1) * width)
  const at = (row: number, column: number) => lengths[row * width + column] ?? 0
  for (let row = previous.length - 1; row >= 0; row--) {
    for (let column = next.length - 1; column >= 0; column--) {
      lengths[row * width + column] =
        previous[row] === next[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1))
    }
  }
  const segments: Segment[] = []
  let row = 0
  let column = 0
  while (row < previous.length || column < next.length) {
    const oldWord = previous[row]
    const newWord = next[column]
    if (oldWord !== undefined && oldWord === newWord) {
      segments.push({ kind: 'same', text: oldWord })
      row++
      column++
    } else if (
      oldWord !== undefined &&
      (newWord === undefined || at(row + 1, column) >= at(row, column + 1))
    ) {
      segments.push({ kind: 'gone', text: oldWord })
      row++
    } else {
      segments.push({ kind: 'new', text: newWord ?? '' })
      column++
    }
  }
  return segments
}

function mergeAdjacent(segments: readonly Segment[]): readonly Segment[] {
  const result: Segment[] = []
  for (const segment of segments) {
    const last = result.at(-1)
    if (last?.kind === segment.kind)
      result.splice(-1, 1, { ...last, text: last.text + segment.text })
    else result.push(segment)
  }
  return result
}
