/** What it means for a document to pass a filter, for stores that look at rows themselves. */

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
    (where.contains === undefined || isContained(memory, foldCase(where.contains)))
  )
}

function isContained({ content, key }: SearchDocument, wanted: string): boolean {
  return containsFolded(content, wanted) || (key !== null && containsFolded(key, wanted))
}

/** Whether a value is among those that are wanted; without a list, any is. */
export function isIncluded<Value>(wanted: readonly Value[] | undefined, value: Value): boolean {
  return wanted === undefined || wanted.includes(value)
}
