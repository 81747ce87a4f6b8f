import {
  MEMORY_CATEGORIES,
  MEMORY_TYPES,
  type MemoryCategory,
  type MemoryType,
} from '../domain/memory.ts'
import type { Tally } from './store.ts'

/** Memories that are alike, counted together. */
export type TallyGroup = {
  readonly type: MemoryType
  readonly category: MemoryCategory
  readonly count: number
  readonly characters: number
}

export function tallyOf(groups: Iterable<TallyGroup>): Tally {
  const byType = zeros(MEMORY_TYPES)
  const byCategory = zeros(MEMORY_CATEGORIES)
  let [total, characters] = [0, 0]
  for (const group of groups) {
    total += group.count
    characters += group.characters
    byType[group.type] += group.count
    byCategory[group.category] += group.count
  }
  return { total, byType, byCategory, characters }
}

function zeros<Name extends string>(names: readonly Name[]): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number> // one for each name
}
