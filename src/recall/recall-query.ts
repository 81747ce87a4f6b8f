/** The query of a recall: its document filter, and the context of follow-up questions. */

import { QUERY_CHARACTERS_MAX } from '../domain/limits.ts'
import { isTrusted, MEMORY_STATUSES, MEMORY_TYPES, TRUST_LEVELS } from '../domain/memory.ts'
import type { DocumentType, SearchDocument } from '../domain/search-document.ts'
import type { Settings } from '../domain/settings/settings.ts'
import { addMs, DAY_MS, type Instant } from '../lib/time.ts'
import { type ReadFilter, toMemoryFilter } from '../memory/memory-reader.ts'
import type { DocumentFilter, MemoryFilter } from '../storage/store.ts'
import { isFollowUp } from './question/follow-up.ts'
import { parseTimeSpan, type TimeSpan } from './question/time-expressions.ts'

/** How many messages before a follow-up question are searched with it, and how much of each. */
const CONTEXT_MESSAGES_MAX = 2
const CONTEXT_CHARACTERS_MAX = 400

/** The messages before a follow-up question; null for other questions. */
export function buildContextText({ text, context = [] }: RecallQuery): string | null {
  const messages = context
    .slice(0, CONTEXT_MESSAGES_MAX)
    .map((message) => message.trim())
    .filter((message) => message !== '')
    .map((message) => message.slice(-CONTEXT_CHARACTERS_MAX))
  return messages.length > 0 && isFollowUp(text) ? messages.join('\n') : null
}

/** With a time span in the past, memories that were superseded since are searched as well: they held then. */
export function buildDocumentFilter(
  query: RecallQuery,
  now: Instant,
  pastSpan: TimeSpan | null,
  maxAgeDays = 0,
): DocumentFilter {
  const types = selectTypes(query)
  const oldest =
    maxAgeDays > 0 && query.asOf === undefined ? addMs(now, -maxAgeDays * DAY_MS) : null
  const where =
    pastSpan === null
      ? buildMemoryFilter(query, now)
      : buildMemoryFilter({ ...query, statuses: ['active', 'superseded'] }, now)
  return {
    ...where,
    ...(types === undefined ? {} : { types }),
    ...(oldest === null
      ? {}
      : { createdFrom: Math.max(oldest, where.createdFrom ?? oldest) as Instant }), // of two instants
  }
}

/** The span of a question about the past that searches what is stored now. */
export function findPastSpan(query: RecallQuery, now: Instant): TimeSpan | null {
  if (query.asOf !== undefined || query.statuses !== undefined) return null
  const span = parseTimeSpan(query.text.slice(0, QUERY_CHARACTERS_MAX), now)
  return span !== null && span.until <= now ? span : null
}

/** Whether a document found for a past span may answer: it had not ended before. */
export function heldDuring(
  { status, validUntil, expiresAt }: SearchDocument,
  { from }: TimeSpan,
): boolean {
  // Statements absorbed by a duplicate are superseded without an end.
  if (status === 'superseded' && validUntil === null) return false
  return (validUntil === null || validUntil > from) && (expiresAt === null || expiresAt > from)
}

/** Filters that apply to memories only. */
const MEMORY_FILTERS = ['categories', 'types', 'key', 'pinned', 'importanceMin', 'ids'] as const

/** Undefined means all memories and no turns. */
function selectTypes(query: RecallQuery): readonly DocumentType[] | undefined {
  const { include, types } = query
  if (include === 'conversations') return ['turn']
  const filtersMemories = MEMORY_FILTERS.some((field) => query[field] !== undefined)
  if (include === 'facts' || (include === undefined && filtersMemories)) return types
  return [...(types ?? MEMORY_TYPES), 'turn']
}

export function toMemoryFilterOnly({ types, ...where }: DocumentFilter): MemoryFilter {
  const memoryTypes = types?.filter((type) => type !== 'turn')
  return memoryTypes === undefined ? where : { ...where, types: memoryTypes }
}

function buildMemoryFilter(query: RecallQuery, now: Instant): MemoryFilter {
  const { trusts = TRUST_LEVELS } = query
  const trustFilter = query.includeSuspect === true ? {} : { trusts: trusts.filter(isTrusted) }
  if (query.asOf === undefined) return { ...toMemoryFilter(query, now), ...trustFilter }
  // Memories that were replaced or disabled since may have been active then.
  const { validAt: _, ...where } = toMemoryFilter({ ...query, statuses: MEMORY_STATUSES }, now)
  const before = Math.min(now + 1, query.createdBefore ?? Number.POSITIVE_INFINITY)
  return { ...where, ...trustFilter, createdBefore: before as Instant } // "at or before", in whole milliseconds
}

export type RecallQuery = ReadFilter & {
  readonly text: string
  readonly limit?: number
  /** Includes suspect memories, which await review. */
  readonly includeSuspect?: boolean
  /** Ranks what is below the similarity threshold behind the results above it, instead of leaving it out. */
  readonly includeBelowThreshold?: boolean
  /**
   * Whether to search memories (`facts`), conversation turns, or both. Default: both, unless a filter applies to memories
   * only, such as `categories`. The strategies `recent` and `exact` list memories only.
   */
  readonly include?: Settings['gateway.contextSources']
  /** The previous messages of the user, newest first. A follow-up question is searched together with them. */
  readonly context?: readonly string[]
  readonly strategy?: Settings['recall.strategy']
  readonly fusion?: Settings['recall.fusion']
  /** The token budget of the results. At least one memory is returned, unless it is 0. */
  readonly tokensMax?: number
  /**
   * `prompt`: the results go into a prompt. They observe `gateway.contextTokensMax` and count as uses of the memories.
   * `search`, the default, counts nothing.
   */
  readonly purpose?: 'search' | 'prompt'
  /**
   * Whether the text is a message about the user. In a small store, other messages need a more similar memory. Default:
   * not known, which changes nothing.
   */
  readonly isPersonal?: boolean
  /** Returns the memories in their versions of an earlier time. The search still matches their current content. */
  readonly asOf?: Date | number
  /** The timeout of each retriever. Default: `recall.retrieverTimeoutMs`. */
  readonly timeoutMs?: number
}
