/** The day that a chart shows without a hovered one: the last day with data, or the last day. */
export function lastDayWithData(
  days: readonly string[],
  series: readonly { readonly values: readonly (number | null)[] }[],
): number {
  const isEmpty = (at: number) => series.every(({ values }) => (values[at] ?? 0) === 0)
  const last = days.findLastIndex((_, at) => !isEmpty(at))
  return last === -1 ? days.length - 1 : last
}
