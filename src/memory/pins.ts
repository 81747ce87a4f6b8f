/**
 * Who pinned a memory. What is learned about who a person is is pinned by what learned it, to be said always: that gives
 * way to what is said later. What a person pinned stays until they say otherwise.
 */
import type { Memory } from '../domain/memory.ts'
import type { Json, JsonObject } from '../lib/json.ts'

const MACHINE = 'distillation'

/** In the metadata of a memory: its pin is not a person's. */
export const PINNED_BY_MACHINE: JsonObject = { pinnedBy: MACHINE }

type Pinned = Pick<Memory, 'pinned' | 'metadata'>

export function isPinnedByMachine({ pinned, metadata }: Pinned): boolean {
  return pinned && isMarked(metadata)
}

export function isPinnedByPerson({ pinned, metadata }: Pinned): boolean {
  return pinned && !isMarked(metadata)
}

export function isMarked(metadata: { readonly [key: string]: Json } | undefined): boolean {
  return metadata?.pinnedBy === MACHINE
}

export function withoutMark(metadata: JsonObject): JsonObject {
  if (!isMarked(metadata)) return metadata
  const { pinnedBy: _, ...rest } = metadata
  return rest
}

/** As it is once a person has said that it holds: whatever pinned it, it is their pin now. */
export function heldByPerson(memory: Memory): Memory {
  return { ...memory, metadata: withoutMark(memory.metadata) }
}

/** What takes the place of a statement about who the person is says who the person is. */
export function inPlaceOf(older: Memory, newer: Memory): Memory {
  if (!isPinnedByMachine(older)) return newer
  return {
    ...newer,
    category: older.category,
    pinned: true,
    importance: Math.max(older.importance, newer.importance),
    salience: Math.max(older.salience, newer.salience),
    metadata: isPinnedByPerson(newer)
      ? newer.metadata
      : { ...newer.metadata, ...PINNED_BY_MACHINE },
  }
}
