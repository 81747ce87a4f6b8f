/** How long searches hold the event loop: the longest that anything else in the process would have to wait. */

const REPETITIONS = 3

export type Held = {
  /** The longest block of the event loop by any query, the shortest of its three runs: what the search causes. */
  readonly heldMs: number
  /** The longest of all: what is due to the machine and to the collection of garbage included. */
  readonly heldMsMax: number
}

export async function measureLoopBlock(
  runs: number,
  search: (run: number) => Promise<unknown>,
): Promise<Held> {
  let heldMs = 0
  let heldMsMax = 0
  for (let run = 0; run < runs; run++) {
    let least = Number.POSITIVE_INFINITY
    for (let repetition = 0; repetition < REPETITIONS; repetition++) {
      const held = await longestTurn(() => search(run))
      least = Math.min(least, held)
      heldMsMax = Math.max(heldMsMax, held)
    }
    heldMs = Math.max(heldMs, least)
  }
  return { heldMs, heldMsMax }
}

/** The longest turn of the event loop while something is done. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let longest = 0
  let isDone = false
  await new Promise((resolve) => setImmediate(resolve))
  let began = performance.now()
  const watching = new Promise<void>((resolve) => {
    const turn = () => {
      const now = performance.now()
      longest = Math.max(longest, now - began)
      began = now
      if (isDone) resolve()
      else setImmediate(turn)
    }
    setImmediate(turn)
  })
  await work()
  isDone = true
  await watching
  return longest
}
