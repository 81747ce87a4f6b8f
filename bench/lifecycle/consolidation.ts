/**
 * A consolidation in a process of its own, as a job, which it is in a server: how long it takes, what it needs, and how long
 * it holds others up.
 */
import type { ConsolidationReport } from '../../src/learning/consolidation/consolidator.ts'
import { OWNER, openEngine, questionsOf, type Shape } from './owner.ts'

const QUESTIONS = 200
const WARM_UP = 100
const WARM_UP_STATEMENTS = [
  'I meet my team in the blue room on the third floor',
  'I meet my whole team in the blue room on the third floor',
  "I don't meet my team in the blue room on the third floor",
]
const BETWEEN_QUESTIONS_MS = 20
const MEMORY_EVERY_MS = 20

export type Consolidated = {
  readonly seconds: number
  /** The most that the process took, and how much of it came with the consolidation. */
  readonly rssMb: number
  readonly rssAddedMb: number
  /** The longest turn of the event loop: what the machine, the disk and others on it add is in it. */
  readonly heldMs: number
  readonly heldP99Ms: number
  /** The most CPU time in one turn of the event loop, of all threads: what other processes cannot cause. */
  readonly computedMs: number
  /** Recall before it, and while it ran; empty without queries. */
  readonly before: readonly number[]
  readonly during: readonly number[]
  readonly report: ConsolidationReport
}

export type ConsolidationInput = Shape & {
  /** Whether queries run at the same time. */
  readonly hasQueries: boolean
}

export async function measureConsolidation(input: ConsolidationInput): Promise<Consolidated> {
  const engine = await openEngine(input.path)
  const questions = questionsOf(input.memories, input.seed, QUESTIONS)
  let queries = 0
  const recallOnce = async () => {
    const began = performance.now()
    await engine.recall({ owner: OWNER }, { text: questions[queries++ % QUESTIONS] ?? '' })
    return performance.now() - began
  }
  // What compiling takes, a service meets only once, and long before.
  for (let n = 0; n < WARM_UP; n++) {
    await recallOnce()
    await engine.remember({ owner: 'bob' }, { content: WARM_UP_STATEMENTS[n % 3] ?? '' })
  }
  const before: number[] = []
  for (let n = 0; n < QUESTIONS; n++) before.push(await recallOnce())

  const during: number[] = []
  let isDone = false
  const asking = async () => {
    while (input.hasQueries && !isDone) {
      during.push(await recallOnce())
      await new Promise((resolve) => setTimeout(resolve, BETWEEN_QUESTIONS_MS))
    }
  }
  globalThis.gc?.()
  const rss = process.memoryUsage.rss()
  let peak = rss
  const watching = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }, MEMORY_EVERY_MS)
  const turns = watchTurns()
  const askedMeanwhile = asking()
  const began = performance.now()
  const report = await engine.learning.consolidate({ owner: OWNER })
  const seconds = (performance.now() - began) / 1_000
  isDone = true
  await askedMeanwhile
  const held = turns.end()
  clearInterval(watching)
  await engine.close()
  return {
    seconds,
    rssMb: peak / 2 ** 20,
    rssAddedMb: (peak - rss) / 2 ** 20,
    ...held,
    before,
    during,
    report,
  }
}

type Turns = Pick<Consolidated, 'heldMs' | 'heldP99Ms' | 'computedMs'>

function watchTurns(): { end(): Turns } {
  const lengths: number[] = []
  let computedMs = 0
  let began = performance.now()
  let cpu = process.cpuUsage()
  let isDone = false
  const turn = () => {
    const used = process.cpuUsage(cpu)
    computedMs = Math.max(computedMs, (used.user + used.system) / 1_000)
    cpu = process.cpuUsage()
    const now = performance.now()
    lengths.push(now - began)
    began = now
    if (!isDone) setImmediate(turn)
  }
  setImmediate(turn)
  return {
    end: () => {
      isDone = true
      lengths.sort((a, b) => a - b)
      const heldP99Ms = lengths[Math.floor(lengths.length * 0.99)] ?? 0
      return { heldMs: lengths.at(-1) ?? 0, heldP99Ms, computedMs }
    },
  }
}
