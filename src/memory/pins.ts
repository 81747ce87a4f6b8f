/**
 * Automatic pins. Learned identity memories are pinned automatically, so that they are part of every context; later
 * statements may replace them. A memory pinned by the user stays until the user changes it.
 */
import type { Memory } from '../domain/memory.ts'
import type { Json, JsonObject } from '../lib/json.ts'

const AUTOMATIC = 'distillation'

/** Metadata that marks a pin as automatic. */
export const AUTO_PIN: JsonObject = { pinnedBy: AUTOMATIC }

type Pinned = Pick<Memory, 'pinned' | 'metadata'>

export function isAutoPinned({ pinned, metadata }: Pinned): boolean {
  return pinned && hasAutoPin(metadata)
}

export function isUserPinned({ pinned, metadata }: Pinned): boolean {
  return pinned && !hasAutoPin(metadata)
}

export function hasAutoPin(metadata: { readonly [key: string]: Json } | undefined): boolean {
  return metadata?.pinnedBy === AUTOMATIC
}

export function removeAutoPin(metadata: JsonObject): JsonObject {
  if (!hasAutoPin(metadata)) return metadata
  const { pinnedBy: _, ...rest } = metadata
  return rest
}

/** Turns an automatic pin into one of the user, who has confirmed the memory. */
export function confirmPin(memory: Memory): Memory {
  return { ...memory, metadata: removeAutoPin(memory.metadata) }
}

/** The edited memory, whose pin stays automatic unless a person had set it. */
export function keepPinAutomatic(before: Memory, edited: Memory): Memory {
  if (!edited.pinned || isUserPinned(before)) return edited
  return { ...edited, metadata: { ...edited.metadata, ...AUTO_PIN } }
}

/** A memory that replaces an automatically pinned identity memory takes over its role. */
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
