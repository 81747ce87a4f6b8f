import type { Expectation } from './store.ts'

/** The stored row that a change names, and whether the scope of the change covers it. */
export type ExistingRow = { readonly version: number; readonly isCovered: boolean }

/** Why a change must not apply to a stored row; null when it may. Interprets `Expectation` for all stores. */
export function checkExpectation(
  expect: Expectation,
  existing: ExistingRow | null,
): 'exists' | 'version' | null {
  if (expect === 'absent') return existing === null ? null : 'exists'
  if (expect === 'any') return existing === null || existing.isCovered ? null : 'exists'
  return existing?.isCovered && existing.version === expect.version ? null : 'version'
}
