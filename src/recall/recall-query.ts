/** What of the documents a question is asked about, and what was said before it. */

import { isTrusted, MEMORY_STATUSES, MEMORY_TYPES, TRUST_LEVELS } from '../domain/memory.ts'
import type { DocumentType } from '../domain/search-document.ts'
import type { Settings } from '../domain/settings/settings.ts'
import type { Instant } from '../lib/time.ts'
import { type ReadFilter, toMemoryFilter } from '../memory/memory-reader.ts'
import type { DocumentFilter, MemoryFilter } from '../storage/store.ts'
import { isFollowUp } from './question/follow-up.ts'

/** Of the messages before a follow-up question, so many and so much of each are searched with it. */
const CONTEXT_MESSAGES_MAX = 2
const CONTEXT_CHARACTERS_MAX = 400

/** Null where the question speaks for itself. */
export function buildContextText({ text, context = [] }: RecallQuery): string | null {
  const before = context.slice(0, CONTEXT_MESSAGES_MAX).map((each) => each.trim())
  const said = before
    .filter((each) => each !== '')
    .map((each) => each.slice(-CONTEXT_CHARACTERS_MAX))
  return said.length > 0 && isFollowUp(text) ? said.join('\n') : null
}

export function buildDocumentFilter(query: RecallQuery, now: Instant): DocumentFilter {
  const types = documentTypes(query)
  return { ...memoryFilterOf(query, now), ...(types === undefined ? {} : { types }) }
}

/** What only memories have. */
const MEMORY_FIELDS = ['categories', 'types', 'key', 'pinned', 'importanceMin', 'ids'] as const

/** Undefined for every memory and no turn. */
function documentTypes(query: RecallQuery): readonly DocumentType[] | undefined {
  const { include, types } = query
  if (include === 'conversations') return ['turn']
  const isOfMemories = MEMORY_FIELDS.some((field) => query[field] !== undefined)
  if (include === 'facts' || (include === undefined && isOfMemories)) return types
  return [...(types ?? MEMORY_TYPES), 'turn']
}

export function toMemoryFilterOnly({ types, ...where }: DocumentFilter): MemoryFilter {
  const memoryTypes = types?.filter((type) => type !== 'turn')
  return memoryTypes === undefined ? where : { ...where, types: memoryTypes }
}

function memoryFilterOf(query: RecallQuery, now: Instant): MemoryFilter {
  const { trusts = TRUST_LEVELS } = query
  const believed = query.includeSuspect === true ? {} : { trusts: trusts.filter(isTrusted) }
  if (query.asOf === undefined) return { ...toMemoryFilter(query, now), ...believed }
  // What has been replaced or disabled since may have been active then.
  const { validAt: _, ...where } = toMemoryFilter({ ...query, statuses: MEMORY_STATUSES }, now)
  const before = Math.min(now + 1, query.createdBefore ?? Number.POSITIVE_INFINITY)
  return { ...where, ...believed, createdBefore: before as Instant } // "at or before", in whole milliseconds
}

export type RecallQuery = ReadFilter & {
  readonly text: string
  readonly limit?: number
  /** Also what is kept for review because its source is not trusted. */
  readonly includeSuspect?: boolean
  /**
   * Whether to search memories (`facts`), turns of conversations, or both. The default is both, unless a filter asks for
   * what only memories have, as `categories` does. The strategies `recent` and `exact` list memories alone.
   */
  readonly include?: Settings['gateway.contextSources']
  /** What the person said just before, newest first: a follow-up question is searched together with it. */
  readonly context?: readonly string[]
  readonly strategy?: Settings['recall.strategy']
  readonly fusion?: Settings['recall.fusion']
  /** At most so many tokens of memories, but at least one memory. */
  readonly tokensMax?: number
  /**
   * `prompt`: what a model is given. It fits into the setting `contextTokensMax`, and counts as a use of the memories.
   * `search`, the default, changes nothing.
   */
  readonly purpose?: 'search' | 'prompt'
  /** How things stood at an earlier time. Memories are found by what they say now. */
  readonly asOf?: Date | number
  /** How long to wait for each leg; default: the setting `legDeadlineMs`. */
  readonly timeoutMs?: number
}
