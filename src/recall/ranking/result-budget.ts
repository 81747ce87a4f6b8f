/** How many of the best memories fit into a prompt. */
import type { CountTokens } from '../../text/tokens.ts'
import type { LoadedCandidate } from './candidate.ts'

export type BudgetedMemory = LoadedCandidate & { readonly tokens: number }

/** Takes from the top while they fit, whole ones only, and always the first, unless there is no room at all. */
export function fitBudget(
  candidates: readonly LoadedCandidate[],
  limit: number,
  tokensMax: number | null,
  countTokens: CountTokens,
): readonly BudgetedMemory[] {
  if (tokensMax === 0) return []
  const fitted: BudgetedMemory[] = []
  let total = 0
  for (const candidate of candidates.slice(0, limit)) {
    const tokens = countTokens(candidate.memory.content)
    total += tokens
    if (tokensMax !== null && total > tokensMax && fitted.length > 0) break
    fitted.push({ ...candidate, tokens })
  }
  return fitted
}
