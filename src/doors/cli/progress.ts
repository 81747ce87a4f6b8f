/** One line on the terminal that says how far long work has come, and is gone when it ends. */
import type { Host } from './host.ts'

export type Progress = {
  show(text: string): void
  clear(): void
}

const INTERVAL_MS = 100

/** Shows nothing unless people see standard error. */
export function createProgress({ stderr, now }: Host): Progress {
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

export function percent(done: number, total: number): string {
  return total === 0 ? '' : ` (${Math.min(100, Math.floor((done / total) * 100))}%)`
}
