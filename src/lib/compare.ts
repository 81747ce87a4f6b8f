/** By UTF-16 units, the same everywhere: ids, names and keys are ordered for machines, not for people. */

export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
