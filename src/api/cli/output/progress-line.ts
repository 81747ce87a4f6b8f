/** A progress line on the terminal, removed at the end. */
import type { Host } from '../host.ts'

export type ProgressLine = {
  show(text: string): void
  clear(): void
}

const INTERVAL_MS = 100

/** Silent unless standard error is a terminal. */
export function createProgressLine({ stderr, now }: Host): ProgressLine {
  if (!stderr.isTerminal) return { show: () => {}, clear: () => {} }
  const write = (text: string) => {
    stderr.write(text).catch(() => {
      /* progress that can't be shown must not stop the work */
    })
  }
  let shownAt: number | null = null
  return {
    show: (text) => {
      const at = now()
      if (shownAt !== null && at - shownAt < INTERVAL_MS) return
      shownAt = at
      write(`\r\x1b[K${text.slice(0, stderr.columns - 1)}`)
    },
    clear: () => {
      if (shownAt !== null) write('\r\x1b[K')
      shownAt = null
    },
  }
}

export function formatPercent(done: number, total: number): string {
  return total === 0 ? '' : ` (${Math.min(100, Math.floor((done / total) * 100))}%)`
}

/** The estimated remaining time; empty while unknown. */
export function formatRemainingTime(done: number, total: number, elapsedMs: number): string {
  if (done === 0 || done >= total || elapsedMs < TELLABLE_MS) return ''
  const seconds = Math.ceil(((elapsedMs / done) * (total - done)) / 1_000)
  const text = seconds < 90 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`
  return `, about ${text} left`
}
const TELLABLE_MS = 500

/** The same for several stages, each of which may start partly done. */
export function createTimeEstimate(
  now: () => number,
): (stage: string, done: number, total: number) => string {
  let begun: { readonly stage: string; readonly done: number; readonly at: number } | null = null
  return (stage, done, total) => {
    if (begun?.stage !== stage || done < begun.done) begun = { stage, done, at: now() }
    return formatRemainingTime(done - begun.done, total - begun.done, now() - begun.at)
  }
}
