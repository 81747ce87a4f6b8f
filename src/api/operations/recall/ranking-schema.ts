import { z } from 'zod'
import type { RetrieverReport, RecallResult } from '../../../recall/recall-result.ts'
import { leg } from '../memories/memory-list-operations.ts'

export const retrieverReports = z.object({ keyword: leg, meaning: leg, rerank: leg })

export const step = z.object({ stage: z.string(), score: z.number(), note: z.string().optional() })

export function toRetrieverReports({ retrievers: all }: RecallResult) {
  const toLeg = (report: RetrieverReport) => ({ ...report })
  return { keyword: toLeg(all.keyword), meaning: toLeg(all.vector), rerank: toLeg(all.rerank) }
}
