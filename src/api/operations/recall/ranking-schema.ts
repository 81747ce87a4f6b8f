import { z } from 'zod'
import type { RecallResult, RetrieverReport } from '../../../recall/recall-result.ts'

const retrieverReport = z
  .object({
    state: z.enum(['searched', 'skipped', 'failed']),
    hits: z.int(),
    reason: z.string().nullable().describe('Why it was skipped or failed.'),
    withoutVector: z
      .int()
      .optional()
      .describe('Of `vector`: memories and turns that have no vector yet.'),
  })
  .describe('The report of one retriever.')

export const retrieverReports = z.object({
  keyword: retrieverReport,
  vector: retrieverReport,
  rerank: retrieverReport,
})

export const trailStep = z.object({
  stage: z.string(),
  score: z.number(),
  note: z.string().optional(),
})

export function toRetrieverReports({ retrievers: { keyword, vector, rerank } }: RecallResult) {
  const copy = (report: RetrieverReport) => ({ ...report })
  return { keyword: copy(keyword), vector: copy(vector), rerank: copy(rerank) }
}
