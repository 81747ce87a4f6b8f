/** Memories as programs get them: every field, with times as ISO text. */
import type { Memory } from '../../core/memory.ts'

export function memoryJson(memory: Memory) {
  return {
    ...memory,
    validFrom: isoTime(memory.validFrom),
    validUntil: isoTime(memory.validUntil),
    expiresAt: isoTime(memory.expiresAt),
    lastUsedAt: isoTime(memory.lastUsedAt),
    createdAt: isoTime(memory.createdAt),
    updatedAt: isoTime(memory.updatedAt),
  }
}

export function isoTime(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString()
}
