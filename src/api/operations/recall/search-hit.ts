/** Fields that search results share: retriever reports, ranking trails, and excerpts of turns. */
import { z } from 'zod'
import {
  getTurnRole,
  isTurnDocument,
  type SearchDocument,
} from '../../../domain/search-document.ts'
import type { TurnRole } from '../../../domain/turn.ts'
import type { RecallResult, RetrieverReport } from '../../../recall/recall-result.ts'
import { buildQueryTerms, extractPassage } from '../../../text/query-passage.ts'
import { toSnippet } from '../memory-schema.ts'

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

const EXCERPT_CHARACTERS = 300

/** The matching passage of a turn, or the beginning of a memory. */
export function matchSnippet(document: SearchDocument, query: string): string {
  const { content } = document
  return isTurnDocument(document)
    ? extractPassage(content, buildQueryTerms(query, [content]), EXCERPT_CHARACTERS)
    : toSnippet(content)
}

export type TurnExcerpt = {
  readonly role: TurnRole
  /** The speaker's name, or the role where there are no names. */
  readonly speaker: string
  /** Empty without a session. */
  readonly sessionId: string
}

export function toTurnExcerpt(document: SearchDocument): TurnExcerpt {
  const role = getTurnRole(document) ?? 'user'
  return {
    role,
    speaker: document.provenance.speaker ?? role,
    sessionId: document.place.session ?? '',
  }
}
