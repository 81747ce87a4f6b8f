import { Pace } from '../../lib/event-loop.ts'
import { warming } from '../../text/regex-warmup.ts'
import { attributeRules } from './attributes.ts'
import { personRules } from './persons.ts'
import { wordingRules } from './plain-wording.ts'

/** Those that two statements are compared with. */
export function truthRules(): readonly RegExp[] {
  return [...wordingRules(), ...personRules(), ...attributeRules()]
}

/** Compiles rules before they are needed, in pieces. Costs next to nothing where they are. */
export async function warmRules(rules: readonly RegExp[], signal?: AbortSignal): Promise<void> {
  const pace = new Pace()
  for (const _ of warming(rules)) {
    if (pace.isDue) await pace.rest()
    if (signal?.aborted) return
  }
}
