/** Search results for turns: speaker, session and the matching passage. */

import {
  getTurnRole,
  isTurnDocument,
  type SearchDocument,
} from '../../../domain/search-document.ts'
import type { TurnRole } from '../../../domain/turn.ts'
import { buildQueryTerms, extractPassage } from '../../../text/query-passage.ts'
import { toSnippet } from '../memory-schema.ts'

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
