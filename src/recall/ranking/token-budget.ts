/** The token budget of a recall. */
import type { CountTokens } from '../../text/tokens.ts'
import type { LoadedCandidate } from './candidate.ts'

export type BudgetedMemory = LoadedCandidate & { readonly tokens: number }

/** Selects whole memories from the top while they fit, and always the first one, unless the budget is 0. */
export function fitBudget(
  candidates: readonly LoadedCandidate[],
  limit: number,
  tokensMax: number | null,
  countTokens: CountTokens,
): readonly BudgetedMemory[] {
  if (tokensMax === 0) return []
  const selected: BudgetedMemory[] = []
  let total = 0
  for (const candidate of candidates.slice(0, limit)) {
    const tokens = countTokens(candidate.memory.content)
    total += tokens
    if (tokensMax !== null && total > tokensMax && selected.length > 0) break
    selected.push({ ...candidate, tokens })
  }
  return selected
}
