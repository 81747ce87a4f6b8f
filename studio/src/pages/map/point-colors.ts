/** What the colors of the map mean: a value of each memory, and the color of the value. */
import type { MessageKey } from '../../i18n/catalog.ts'
import { CATEGORIES } from '../memories/memory-fields.ts'
import type { Palette } from './palette.ts'
import type { MappedMemory } from './queries.ts'

export const COLORINGS = ['category', 'type', 'trust', 'user', 'importance', 'age'] as const
export type Coloring = (typeof COLORINGS)[number]

export const COLORING_NAMES: Record<Coloring, MessageKey> = {
  category: 'memories.category',
  type: 'memories.type',
  trust: 'memories.trust',
  user: 'memories.user',
  importance: 'memories.importance',
  age: 'memories.created',
}

/** Colors without an own meaning are taken in this order. */
const ORDER = [
  'fact',
  'event',
  'decision',
  'preference',
  'episode',
  'entity',
  'relationship',
] as const
const AGE_STEPS_DAYS = [7, 30, 90, 365] as const
const DAY_MS = 86_400_000
const HIGH_IMPORTANCE = 7
const LOW_IMPORTANCE = 4

/** The value that decides the color. Ages and importance are put into steps. */
export function colorValueOf(memory: MappedMemory, coloring: Coloring, now: number): string {
  switch (coloring) {
    case 'category':
      return memory.category
    case 'type':
      return memory.type
    case 'trust':
      return memory.trust
    case 'user':
      return memory.user ?? '–'
    case 'importance':
      if (memory.importance >= HIGH_IMPORTANCE) return `${HIGH_IMPORTANCE}–10`
      return memory.importance >= LOW_IMPORTANCE
        ? `${LOW_IMPORTANCE}–${HIGH_IMPORTANCE - 1}`
        : `1–${LOW_IMPORTANCE - 1}`
    case 'age': {
      const days = (now - Date.parse(memory.createdAt)) / DAY_MS
      const step = AGE_STEPS_DAYS.find((each) => days <= each)
      return step === undefined ? `> ${AGE_STEPS_DAYS.at(-1)}` : `≤ ${step}`
    }
  }
}

/** The values on the map, most frequent first. */
export function colorValuesOf(
  memories: readonly MappedMemory[],
  coloring: Coloring,
  now: number,
): readonly string[] {
  const counts = new Map<string, number>()
  for (const memory of memories) {
    const value = colorValueOf(memory, coloring, now)
    counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  return [...counts].sort(([, a], [, b]) => b - a).map(([value]) => value)
}

/** The name of the color variable of a value. Further values share the last color. */
export function colorNameOf(
  value: string,
  coloring: Coloring,
  values: readonly string[],
): keyof Palette {
  const category = CATEGORIES.find((each) => each === value)
  if (coloring === 'category' && category !== undefined) return `--category-${category}`
  const index = Math.max(0, values.indexOf(value))
  return `--category-${ORDER[Math.min(index, ORDER.length - 1)] ?? 'general'}`
}
