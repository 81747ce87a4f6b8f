/** What it means for a document to pass a filter, for stores that look at rows themselves. */

import { hasEnded } from '../domain/memory.ts'
import { matchesType, type SearchDocument } from '../domain/search-document.ts'
import { fingerprint } from '../text/fingerprint.ts'
import { containsLowered, lowered } from '../text/substring.ts'
import type { DocumentFilter } from './store.ts'

export function matchesDocument(memory: SearchDocument, where: DocumentFilter): boolean {
  return (
    includes(where.ids, memory.id) &&
    (where.key === undefined || where.key === memory.key) &&
    (where.fingerprint === undefined || where.fingerprint === fingerprint(memory.content)) &&
    includes(where.statuses, memory.status) &&
    matchesType(where.types, memory.type) &&
    includes(where.categories, memory.category) &&
    includes(where.trusts, memory.trust) &&
    includes(where.sources, memory.provenance.source) &&
    (where.conflicting === undefined || where.conflicting === (memory.conflictsWith !== null)) &&
    (where.pinned === undefined || where.pinned === memory.pinned) &&
    (where.change === undefined || where.change === memory.change) &&
    (where.unendedAt === undefined || !hasEnded(memory, where.unendedAt)) &&
    (where.expiredBy === undefined ||
      (memory.expiresAt !== null && memory.expiresAt <= where.expiredBy)) &&
    (where.createdFrom === undefined || memory.createdAt >= where.createdFrom) &&
    (where.createdBefore === undefined || memory.createdAt < where.createdBefore) &&
    (where.importanceMin === undefined || memory.importance >= where.importanceMin) &&
    (where.contains === undefined || contains(memory, lowered(where.contains)))
  )
}

function contains({ content, key }: SearchDocument, wanted: string): boolean {
  return containsLowered(content, wanted) || (key !== null && containsLowered(key, wanted))
}

/** Whether a value is among those that are wanted; without a list, any is. */
export function includes<Value>(wanted: readonly Value[] | undefined, value: Value): boolean {
  return wanted === undefined || wanted.includes(value)
}
