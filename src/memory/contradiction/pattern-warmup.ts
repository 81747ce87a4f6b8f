/**
 * Compiles regular expressions ahead of their first use. V8 compiles a pattern at its first use and again at the second,
 * separately for Latin and other text, for a millisecond or two each; the first statement would use hundreds of them.
 */
import { TimeSlice } from '../../lib/event-loop.ts'
import { listAttributePatterns } from './attributes.ts'
import { listPersonPatterns } from './persons.ts'
import { listWordingPatterns } from './plain-wording.ts'
import { listStatePatterns } from './state-changes.ts'

const SAMPLES = ['a', 'a', 'あ', 'あ'] as const

/** The patterns that statements are compared with. */
export function listContradictionPatterns(): readonly RegExp[] {
  return [
    ...listWordingPatterns(),
    ...listPersonPatterns(),
    ...listAttributePatterns(),
    ...listStatePatterns(),
  ]
}

/** Compiles patterns one match at a time, so that callers can yield in between. */
export function* warmUpPatterns(patterns: readonly RegExp[]): Generator<void> {
  for (const pattern of patterns) {
    for (const sample of SAMPLES) {
      pattern.lastIndex = 0
      pattern.test(sample)
      yield
    }
    pattern.lastIndex = 0
  }
}

/** Compiles patterns in time slices. Costs next to nothing for compiled ones. */
export async function warmUpPatternsInSlices(
  patterns: readonly RegExp[],
  signal?: AbortSignal,
): Promise<void> {
  const slice = new TimeSlice()
  for (const _ of warmUpPatterns(patterns)) {
    if (slice.isExpired) await slice.yieldThread()
    if (signal?.aborted) return
  }
}
