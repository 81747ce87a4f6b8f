/** How many of the best memories fit into a prompt. */
import type { CountTokens } from '../../text/tokens.ts'
import type { Loaded } from './candidate.ts'

export type Fitted = Loaded & { readonly tokens: number }

/** Takes from the top while they fit, whole ones only, and always the first, unless there is no room at all. */
export function withinBudget(
  candidates: readonly Loaded[],
  limit: number,
  tokensMax: number | null,
  countTokens: CountTokens,
): readonly Fitted[] {
  if (tokensMax === 0) return []
  const fitted: Fitted[] = []
  let total = 0
  for (const candidate of candidates.slice(0, limit)) {
    const tokens = countTokens(candidate.memory.content)
    total += tokens
    if (tokensMax !== null && total > tokensMax && fitted.length > 0) break
    fitted.push({ ...candidate, tokens })
  }
  return fitted
}
