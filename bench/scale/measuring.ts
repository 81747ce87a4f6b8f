/** The parts of the bench: importing, starting and asking, consolidating. Each runs in a process of its own. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createEngine } from '../../src/app/composition.ts'
import type { Engine } from '../../src/engine/engine.ts'
import type { ConsolidationReport } from '../../src/learning/consolidation/consolidator.ts'
import { type Timing, timed } from '../harness.ts'
import { type DataShape, exportLines, ownerOf, questionsOf } from './owner-data.ts'

const QUESTIONS = 500
const WARM_UP = 50
const ASK_SECONDS_MAX = 120
const WATCH_MS = 50
const MEBIBYTE = 2 ** 20

export type ScaleInput = {
  readonly folder: string
  readonly shape: DataShape
  /** Ends the import when it has taken so long. */
  readonly importSecondsMax: number
}

export type Imported = {
  readonly memories: number
  readonly importSeconds: number
  readonly embedSeconds: number
  readonly diskMb: number
  readonly peakMb: number
}

/** With the small static model: its vectors are real, and cost next to nothing beside the store. */
function openEngine(folder: string): Promise<Engine> {
  return createEngine({ path: join(folder, 'memory.db'), embedding: { source: 'static' } })
}

export async function importAll(
  { folder, shape, importSecondsMax }: ScaleInput,
  progress: (share: number) => void,
): Promise<Imported> {
  const memory = watchMemory()
  const engine = await openEngine(folder)
  const began = performance.now()
  const secondsSince = (since: number) => (performance.now() - since) / 1_000
  let lines = 0
  async function* limited() {
    for (const line of exportLines(shape, Date.now())) {
      // Even, so that every memory has its turn.
      if (lines % 2 === 1 && secondsSince(began) > importSecondsMax) return
      yield line
      lines++
    }
  }
  const { imported, failed } = await engine.admin.import(limited(), {
    onProgress: (done) => progress(done / (2 * shape.memories)),
  })
  if (failed > 0) throw new Error(`${failed} lines were not imported.`)
  const importSeconds = secondsSince(began)
  const embedding = performance.now()
  await engine.admin.reindex({ onProgress: ({ done, total }) => progress(done / total) })
  const embedSeconds = secondsSince(embedding)
  await engine.close()
  return {
    ...{ memories: imported / 2, importSeconds, embedSeconds },
    diskMb: folderMb(folder),
    peakMb: memory.end(),
  }
}

export type Asked = {
  /** Until the engine is open, and until the first question is answered. */
  readonly openMs: number
  readonly firstMs: number
  readonly recall: Timing
  /** Questions that a retriever missed its time limit for, after warming up. */
  readonly incomplete: number
  readonly peakMb: number
}

export async function ask({ folder, shape }: ScaleInput): Promise<Asked> {
  const memory = watchMemory()
  const questions = questionsOf(shape, QUESTIONS)
  const began = performance.now()
  const engine = await openEngine(folder)
  await engine.warmUp()
  const openMs = performance.now() - began
  let incomplete = 0
  const recall = async (run: number) => {
    const question = questions[run % questions.length]
    if (question === undefined) throw new Error('There are no questions.')
    const { owner, text } = question
    const { memories, retrievers } = await engine.recall({ owner }, { text })
    const states = [retrievers.keyword.state, retrievers.vector.state]
    if (states.some((state) => state !== 'searched') || memories.length === 0) incomplete++
  }
  const first = performance.now()
  await recall(0)
  const firstMs = performance.now() - first
  for (let run = 1; run <= WARM_UP; run++) await recall(run)
  incomplete = 0
  const timing = await timed(QUESTIONS, recall, ASK_SECONDS_MAX)
  await engine.close()
  return { openMs, firstMs, recall: timing, incomplete, peakMb: memory.end() }
}

export type ConsolidatedOwner = {
  readonly seconds: number
  readonly heldMs: number
  readonly peakMb: number
  readonly report: ConsolidationReport
}

export async function consolidateOwner({ folder, shape }: ScaleInput): Promise<ConsolidatedOwner> {
  const memory = watchMemory()
  const engine = await openEngine(folder)
  let heldMs = 0
  let last = performance.now()
  const watching = setInterval(() => {
    heldMs = Math.max(heldMs, performance.now() - last)
    last = performance.now()
  }, 1)
  const began = performance.now()
  last = began
  const report = await engine.learning.consolidate({ owner: ownerOf(0, shape) })
  const seconds = (performance.now() - began) / 1_000
  clearInterval(watching)
  await engine.close()
  return { seconds, heldMs, peakMb: memory.end(), report }
}

function watchMemory(): { end(): number } {
  let peak = process.memoryUsage.rss()
  const watching = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }, WATCH_MS)
  return {
    end: () => {
      clearInterval(watching)
      return Math.max(peak, process.memoryUsage.rss()) / MEBIBYTE
    },
  }
}

function folderMb(folder: string): number {
  const sizes = readdirSync(folder).map((name) => statSync(join(folder, name)).size)
  return sizes.reduce((sum, size) => sum + size, 0) / MEBIBYTE
}
