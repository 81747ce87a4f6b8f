import { TimeSlice } from '../../lib/event-loop.ts'
import { warmUpPatterns } from '../../text/regex-warmup.ts'
import { listAttributePatterns } from './attributes.ts'
import { listPersonPatterns } from './persons.ts'
import { listWordingPatterns } from './plain-wording.ts'

/** Those that two statements are compared with. */
export function listContradictionPatterns(): readonly RegExp[] {
  return [...listWordingPatterns(), ...listPersonPatterns(), ...listAttributePatterns()]
}

/** Compiles rules before they are needed, in pieces. Costs next to nothing where they are. */
export async function warmUpPatternsInSlices(
  rules: readonly RegExp[],
  signal?: AbortSignal,
): Promise<void> {
  const pace = new TimeSlice()
  for (const _ of warmUpPatterns(rules)) {
    if (pace.isExpired) await pace.yieldThread()
    if (signal?.aborted) return
  }
}
