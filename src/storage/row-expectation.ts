import type { Expectation } from './store.ts'

/** A row that a change names: its version, and whether the change's scope covers it. */
export type ExistingRow = { readonly version: number; readonly isCovered: boolean }

/** Why a change must not apply to what is there, or null. The one reading of `Expectation` for all stores. */
export function checkExpectation(
  expect: Expectation,
  existing: ExistingRow | null,
): 'exists' | 'version' | null {
  if (expect === 'absent') return existing === null ? null : 'exists'
  if (expect === 'any') return existing === null || existing.isCovered ? null : 'exists'
  return existing?.isCovered && existing.version === expect.version ? null : 'version'
}
