/** How many candidates of each section are worth fetching for a budget of tokens. */
export type SectionSizes = {
  readonly pinned: number
  readonly episodes: number
  readonly transcript: number
}

type Share = { readonly tokensEach: number; readonly min: number; readonly max: number }

/** About what an item takes, and how few or many are of use whatever the budget is. */
const SHARES: Readonly<Record<keyof SectionSizes, Share>> = {
  pinned: { tokensEach: 60, min: 3, max: 15 },
  episodes: { tokensEach: 120, min: 2, max: 8 },
  transcript: { tokensEach: 200, min: 2, max: 6 },
}

/** Whole items only. A budget that is no number is the smallest one. */
export function computeSectionSizes(budgetTokens: number): SectionSizes {
  return {
    pinned: sizeOf(SHARES.pinned, budgetTokens),
    episodes: sizeOf(SHARES.episodes, budgetTokens),
    transcript: sizeOf(SHARES.transcript, budgetTokens),
  }
}

function sizeOf({ tokensEach, min, max }: Share, budgetTokens: number): number {
  const affordable = Math.floor(budgetTokens / tokensEach)
  return Number.isNaN(affordable) ? min : Math.min(max, Math.max(min, affordable))
}
