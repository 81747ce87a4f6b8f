/** How search results show a turn of a conversation: who said it, in which session, and the passage that matches. */

import {
  getTurnRole,
  isTurnDocument,
  type SearchDocument,
} from '../../../domain/search-document.ts'
import type { TurnRole } from '../../../domain/turn.ts'
import { buildQueryTerms, extractPassage } from '../../../text/query-passage.ts'
import { toSnippet } from '../memory-schema.ts'

const EXCERPT_CHARACTERS = 300

/** Of a turn the passage that the query is about, of a memory its beginning. */
export function matchSnippet(document: SearchDocument, query: string): string {
  const { content } = document
  return isTurnDocument(document)
    ? extractPassage(content, buildQueryTerms(query, [content]), EXCERPT_CHARACTERS)
    : toSnippet(content)
}

export type TurnExcerpt = {
  readonly role: TurnRole
  /** The name of the speaker, or the role where the conversation has no names. */
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
