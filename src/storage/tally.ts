import {
  MEMORY_CATEGORIES,
  MEMORY_TYPES,
  type MemoryCategory,
  type MemoryType,
} from '../domain/memory.ts'
import type { MemoryCounts } from './store.ts'

/** Memories of one type and category, counted. */
export type CountGroup = {
  readonly type: MemoryType
  readonly category: MemoryCategory
  readonly count: number
  readonly characters: number
}

export function sumCounts(groups: Iterable<CountGroup>): MemoryCounts {
  const byType = createZeroCounts(MEMORY_TYPES)
  const byCategory = createZeroCounts(MEMORY_CATEGORIES)
  let [total, characters] = [0, 0]
  for (const group of groups) {
    total += group.count
    characters += group.characters
    byType[group.type] += group.count
    byCategory[group.category] += group.count
  }
  return { total, byType, byCategory, characters }
}

function createZeroCounts<Name extends string>(names: readonly Name[]): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number> // one entry per name
}
