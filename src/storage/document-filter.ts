/** Evaluates document filters in memory. */

import { hasEnded } from '../domain/memory.ts'
import { isMatchingType, type SearchDocument } from '../domain/search-document.ts'
import { computeFingerprint } from '../text/fingerprint.ts'
import { containsFolded, foldCase } from '../text/substring.ts'
import type { DocumentFilter } from './store.ts'

export function isMatchingDocument(memory: SearchDocument, where: DocumentFilter): boolean {
  return (
    isIncluded(where.ids, memory.id) &&
    (where.key === undefined || where.key === memory.key) &&
    (where.fingerprint === undefined || where.fingerprint === computeFingerprint(memory.content)) &&
    isIncluded(where.statuses, memory.status) &&
    isMatchingType(where.types, memory.type) &&
    isIncluded(where.categories, memory.category) &&
    isIncluded(where.trusts, memory.trust) &&
    isIncluded(where.sources, memory.provenance.source) &&
    (where.hasConflict === undefined || where.hasConflict === (memory.conflictsWith !== null)) &&
    (where.pinned === undefined || where.pinned === memory.pinned) &&
    (where.change === undefined || where.change === memory.change) &&
    (where.validAt === undefined || !hasEnded(memory, where.validAt)) &&
    (where.expiredBy === undefined ||
      (memory.expiresAt !== null && memory.expiresAt <= where.expiredBy)) &&
    (where.createdFrom === undefined || memory.createdAt >= where.createdFrom) &&
    (where.createdBefore === undefined || memory.createdAt < where.createdBefore) &&
    (where.importanceMin === undefined || memory.importance >= where.importanceMin) &&
    (where.contains === undefined || hasSubstring(memory, foldCase(where.contains)))
  )
}

function hasSubstring({ content, key }: SearchDocument, folded: string): boolean {
  return containsFolded(content, folded) || (key !== null && containsFolded(key, folded))
}

/** Whether a list filter includes a value. An omitted filter includes every value. */
export function isIncluded<Value>(values: readonly Value[] | undefined, value: Value): boolean {
  return values === undefined || values.includes(value)
}
