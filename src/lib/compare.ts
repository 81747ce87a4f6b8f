/** Orders by UTF-16 code units, the same on every machine: ids, names and keys are not sorted for people. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
