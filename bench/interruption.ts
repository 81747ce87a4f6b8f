/**
 * Lets an interrupted bench clean up: running work is aborted, everything ends the usual way, and
 * only then the process does. A second signal ends it at once.
 */

const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const

export async function interruptible<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const stopping = new AbortController()
  const stop = (name: keyof typeof SIGNALS) => {
    if (stopping.signal.aborted) process.exit(SIGNALS[name])
    process.stderr.write('\nStopping, and cleaning up …\n')
    stopping.abort(name)
  }
  const names = Object.keys(SIGNALS) as (keyof typeof SIGNALS)[] // its own keys
  for (const name of names) process.on(name, stop)
  try {
    return await work(stopping.signal)
  } catch (error) {
    const name = names.find((candidate) => candidate === stopping.signal.reason)
    if (name === undefined) throw error
    return process.exit(SIGNALS[name])
  } finally {
    for (const name of names) process.off(name, stop)
  }
}
