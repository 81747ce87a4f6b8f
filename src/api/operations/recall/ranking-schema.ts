import { z } from 'zod'
import type { LegReport, Recollection } from '../../../recall/recall-result.ts'
import { leg } from '../memories/memory-list-operations.ts'

export const legs = z.object({ keyword: leg, meaning: leg, rerank: leg })

export const step = z.object({ stage: z.string(), score: z.number(), note: z.string().optional() })

export function toLegs({ legs: all }: Recollection) {
  const toLeg = (report: LegReport) => ({ ...report })
  return { keyword: toLeg(all.keyword), meaning: toLeg(all.meaning), rerank: toLeg(all.rerank) }
}
