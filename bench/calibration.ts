/**
 * Calibrates time bars to the machine: bars are stated for one on which sqlite-vec scans 100,000 float vectors of 384
 * dimensions in 45 ms, and scaled by what the same scan takes here in the same run.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BenchRow, round, seededRandom, timed } from './harness.ts'
import { createVecTable } from './vec-table.ts'

const VECTORS = 100_000
const DIMENSIONS = 384
const NEAREST = 20
const SCANS = 40
const REFERENCE_SCAN_MS = 45

export type Calibration = {
  readonly scanMs: number
  /** What bars in milliseconds are multiplied by. */
  readonly factor: number
}

/** Takes about ten seconds, during which nothing else should run. */
export async function calibrate(): Promise<Calibration> {
  const folder = mkdtempSync(join(tmpdir(), 'recollect-bench-scan-'))
  try {
    const table = createVecTable(join(folder, 'scan.db'), DIMENSIONS, randomVectors(VECTORS, 1))
    const questions = [...randomVectors(SCANS, 2)]
    const { p50 } = await timed(SCANS, async (run) =>
      table.nearest(questions[run % SCANS] as Float32Array, NEAREST),
    )
    table.close()
    return { scanMs: p50, factor: p50 / REFERENCE_SCAN_MS }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A limit that is stated for the reference machine, as it applies here. */
export function scaledLimit(limitMs: number, { factor }: Calibration): number {
  return round(limitMs * factor)
}

export function calibrationRow({ scanMs, factor }: Calibration): BenchRow {
  return {
    what: `sqlite-vec float scan of 100,000 × 384; time bars × ${round(factor)}`,
    vectorP50: round(scanMs),
  }
}

function* randomVectors(count: number, seed: number): Generator<Float32Array> {
  const random = seededRandom(seed)
  for (let number = 0; number < count; number++) {
    yield Float32Array.from({ length: DIMENSIONS }, () => random() - 0.5)
  }
}
