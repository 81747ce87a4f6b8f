import type { Instant } from '../lib/time.ts'
import type { Memory } from './memory.ts'

export function getEpisodeTime({
  validFrom,
  createdAt,
}: Pick<Memory, 'validFrom' | 'createdAt'>): Instant {
  return validFrom ?? createdAt
}
