/** Whether every test goes as far as it can: with `TEST_THOROUGH=1`, as in CI. Otherwise in as many minutes as one waits for. */
export const isThorough = process.env.TEST_THOROUGH === '1'

/** How often something is repeated that finds the more the more often it is done. */
export function repetitions(counts: { readonly usual: number; readonly thorough: number }): number {
  return isThorough ? counts.thorough : counts.usual
}
