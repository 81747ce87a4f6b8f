/** How search results show a turn of a conversation: who said it, in which session, and the passage that matches. */

import {
  isTurnDocument,
  roleOfDocument,
  type SearchDocument,
} from '../../../domain/search-document.ts'
import type { TurnRole } from '../../../domain/turn.ts'
import { needlesOf, passageOf } from '../../../text/query-passage.ts'
import { snippetOf } from '../memory-schema.ts'

const EXCERPT_CHARACTERS = 300

/** Of a turn the passage that the query is about, of a memory its beginning. */
export function snippetFor(document: SearchDocument, query: string): string {
  const { content } = document
  return isTurnDocument(document)
    ? passageOf(content, needlesOf(query, [content]), EXCERPT_CHARACTERS)
    : snippetOf(content)
}

export type Utterance = {
  readonly role: TurnRole
  /** The name of the speaker, or the role where the conversation has no names. */
  readonly speaker: string
  /** Empty when it belongs to none. */
  readonly sessionId: string
}

export function utteranceOf(document: SearchDocument): Utterance {
  const role = roleOfDocument(document) ?? 'user'
  return {
    role,
    speaker: document.provenance.speaker ?? role,
    sessionId: document.place.session ?? '',
  }
}
