/** Which day a chart tells of while nobody points at one: the last on which there was something, or the very last. */
export function lastDayWithData(
  days: readonly string[],
  series: readonly { readonly values: readonly (number | null)[] }[],
): number {
  const isEmpty = (at: number) => series.every(({ values }) => (values[at] ?? 0) === 0)
  const last = days.findLastIndex((_, at) => !isEmpty(at))
  return last === -1 ? days.length - 1 : last
}
