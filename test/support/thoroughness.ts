/** Whether tests that repeat random or interrupted work do so several times as often: `npm run test:thorough`. */
export const isThorough = process.env.TEST_THOROUGH === '1'

/** The number of repetitions of work that finds more the more often it is repeated. */
export function repetitions(counts: { readonly usual: number; readonly thorough: number }): number {
  return isThorough ? counts.thorough : counts.usual
}
