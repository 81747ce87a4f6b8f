/**
 * Who pinned a memory. What is learned about who a person is is pinned by what learned it, to be said always: that gives
 * way to what is said later. What a person pinned stays until they say otherwise.
 */
import type { Memory } from '../domain/memory.ts'
import type { Json, JsonObject } from '../lib/json.ts'

const MACHINE = 'distillation'

/** In the metadata of a memory: its pin is not a person's. */
export const AUTO_PIN: JsonObject = { pinnedBy: MACHINE }

type Pinned = Pick<Memory, 'pinned' | 'metadata'>

export function isAutoPinned({ pinned, metadata }: Pinned): boolean {
  return pinned && hasAutoPin(metadata)
}

export function isUserPinned({ pinned, metadata }: Pinned): boolean {
  return pinned && !hasAutoPin(metadata)
}

export function hasAutoPin(metadata: { readonly [key: string]: Json } | undefined): boolean {
  return metadata?.pinnedBy === MACHINE
}

export function removeAutoPin(metadata: JsonObject): JsonObject {
  if (!hasAutoPin(metadata)) return metadata
  const { pinnedBy: _, ...rest } = metadata
  return rest
}

/** As it is once a person has said that it holds: whatever pinned it, it is their pin now. */
export function confirmPin(memory: Memory): Memory {
  return { ...memory, metadata: removeAutoPin(memory.metadata) }
}

/** What takes the place of a statement about who the person is says who the person is. */
export function inheritIdentity(older: Memory, newer: Memory): Memory {
  if (!isAutoPinned(older)) return newer
  return {
    ...newer,
    category: older.category,
    pinned: true,
    importance: Math.max(older.importance, newer.importance),
    salience: Math.max(older.salience, newer.salience),
    metadata: isUserPinned(newer) ? newer.metadata : { ...newer.metadata, ...AUTO_PIN },
  }
}
