/** What happens again and again while time passes. Unlike a clock, it can't be set. */
export interface IntervalTimers {
  /** Until the returned function is called. */
  every(ms: number, work: () => void): () => void
}

/** They keep no process alive. */
export const systemIntervalTimers: IntervalTimers = {
  every: (ms, work) => {
    const timer = setInterval(work, ms)
    timer.unref()
    return () => clearInterval(timer)
  },
}
