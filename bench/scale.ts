/**
 * `npm run bench -- scale`: a million memories and a million turns through the whole engine on SQLite, of one owner and
 * of 10,000 owners: import, embedding, start, recall, consolidation, memory and disk. `--scale 0.1` uses a tenth, and
 * `--minutes 30` stops each import after half an hour and measures with what is there.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { calibrate, calibrationRow, scaledLimit } from './calibration.ts'
import {
  type Bar,
  type BenchOptions,
  type BenchReport,
  type BenchRow,
  below,
  machine,
  round,
} from './harness.ts'
import { interruptible } from './interruption.ts'
import type { ScaleInput } from './scale/measuring.ts'
import { runPart } from './scale/worker.ts'

const MEMORIES = 1_000_000
const OWNERS = 10_000
const SECONDS_PER_MINUTE = 60

/** What `--only` can choose. */
export const SCALE_PARTS = ['one-owner', 'many-owners'] as const

export function benchScale(options: BenchOptions): Promise<BenchReport> {
  const { scale, only, minutes = Number.POSITIVE_INFINITY, progress } = options
  const memories = Math.round(MEMORIES * scale)
  const cases = [
    { part: 'one-owner', owners: 1, p95MsMax: 40 },
    { part: 'many-owners', owners: Math.max(1, Math.round(OWNERS * scale)), p95MsMax: 3 },
  ].filter(({ part }) => only === undefined || only === part)
  return interruptible(async (signal) => {
    progress('measuring the machine')
    const calibration = await calibrate()
    const rows: BenchRow[] = []
    const bars: Bar[] = []
    const notes: string[] = []
    for (const { part, owners, p95MsMax } of cases) {
      const folder = mkdtempSync(join(tmpdir(), 'recollect-bench-'))
      const planned: ScaleInput = {
        ...{ folder, shape: { memories, owners } },
        importSecondsMax: Math.min(minutes * SECONDS_PER_MINUTE, Number.MAX_SAFE_INTEGER),
      }
      const run = (what: string) => ({
        signal,
        progress: (share: number) => progress(`${part}: ${what}, ${Math.round(share * 100)} %`),
      })
      try {
        const imported = await runPart('importAll', planned, run('importing'))
        const input = { ...planned, shape: { memories: imported.memories, owners } }
        const asked = await runPart('ask', input, run('asking'))
        const consolidated = await runPart('consolidateOwner', input, run('consolidating'))
        if (imported.memories < memories) {
          notes.push(`${part}: the time limit ended the import at ${imported.memories} memories.`)
        }
        rows.push({
          what: part,
          owners,
          memories: imported.memories,
          turns: imported.memories,
          importPerSecond: round((2 * imported.memories) / imported.importSeconds),
          importS: round(imported.importSeconds),
          embedS: round(imported.embedSeconds),
          importPeakMb: round(imported.peakMb),
          diskMb: round(imported.diskMb),
          openMs: round(asked.openMs),
          firstMs: round(asked.firstMs),
          recallP50: asked.recall.p50,
          recallP95: asked.recall.p95,
          incomplete: asked.incomplete,
          askPeakMb: round(asked.peakMb),
          consolidateS: round(consolidated.seconds),
          consolidateHeldMs: round(consolidated.heldMs),
          consolidatePeakMb: round(consolidated.peakMb),
        })
        const limit = scaledLimit(p95MsMax, calibration)
        bars.push(below(`${part}: recall p95, ms`, asked.recall.p95, limit))
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    }
    rows.push(calibrationRow(calibration))
    return { bench: 'scale', machine: machine(), rows, bars, notes }
  })
}
