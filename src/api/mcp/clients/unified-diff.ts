/** A unified diff. Our edits touch one place, so a single hunk is enough. */
const CONTEXT_LINES = 3

export function unifiedDiff(path: string, before: string | null, after: string): string {
  if (before === after) return ''
  const former = linesOf(before ?? '')
  const next = linesOf(after)
  let start = 0
  while (start < former.length && start < next.length && former[start] === next[start]) start++
  let end = 0
  while (
    end < former.length - start &&
    end < next.length - start &&
    former[former.length - 1 - end] === next[next.length - 1 - end]
  ) {
    end++
  }
  const from = Math.max(0, start - CONTEXT_LINES)
  const trailing = Math.min(end, CONTEXT_LINES)
  const removed = former.slice(start, former.length - end)
  const added = next.slice(start, next.length - end)
  const above = former.slice(from, start)
  const below = former.slice(former.length - end, former.length - end + trailing)
  const shared = above.length + below.length
  return [
    before === null ? '--- /dev/null' : `--- ${path}`,
    `+++ ${path}`,
    `@@ -${range(from, removed.length + shared)} +${range(from, added.length + shared)} @@`,
    ...above.map((line) => ` ${line}`),
    ...removed.map((line) => `-${line}`),
    ...added.map((line) => `+${line}`),
    ...below.map((line) => ` ${line}`),
    '',
  ].join('\n')
}

/** Lines, with the diff marker for a missing newline at the end of the file. */
function linesOf(text: string): readonly string[] {
  if (text === '') return []
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''))
  if (lines.at(-1) === '') return lines.slice(0, -1)
  return [...lines.slice(0, -1), `${lines.at(-1)}\n\\ No newline at end of file`]
}

function range(from: number, length: number): string {
  return `${length === 0 ? from : from + 1},${length}`
}
