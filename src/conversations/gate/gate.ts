/**
 * The gate rules: whether memories would help with a message, and which kind, decided from the message alone.
 *
 * The rules detect references, not single words: a time ("before", "in May") or a possessive ("my code") alone means
 * nothing. Of several references in a message, the most specific one decides.
 */

import { asksPersonalQuestion } from '../../recall/question/message-subject.ts'
import { clipMessage, splitOwnSentences } from '../../text/speech/message-text.ts'
import { hasKnownEntity } from './known-entities.ts'
import { selectCueTables } from './languages/index.ts'
import type { CueKind, CueTable, GateContext, GateDecision, GateSection } from './types.ts'

/** From the most to the least specific reference. A question about an agreement asks for an episode, not for a fact. */
const CUE_KINDS: readonly CueKind[] = [
  'ownWords',
  'whoAmI',
  'earlierTalk',
  'ownPast',
  'knownName',
  'ownFact',
  'advice',
]

const DECISIONS: Readonly<Record<CueKind, GateDecision>> = {
  ownWords: createDecision('transcript', 'It asks for words that the person used earlier.'),
  whoAmI: createDecision('identity', 'It asks who the person is.'),
  earlierTalk: createDecision('episode', 'It refers to an earlier conversation.'),
  ownPast: createDecision('episode', 'It asks about something that the person did.'),
  knownName: createDecision('pinned', 'It names something that is known.'),
  ownFact: createDecision('pinned', 'It asks about something that is the person’s own.'),
  advice: createDecision('pinned', 'It asks for something that depends on the person.'),
}

const PERSONAL_QUESTION = createDecision('pinned', 'It asks about the person’s own affairs.')
const NO_REFERENCE = createDecision('none', 'It refers to nothing that could be remembered.')

export function classifyMessage(message: string, context: GateContext): GateDecision {
  const clipped = clipMessage(message)
  const sentences = splitOwnSentences(clipped)
  const tables = selectCueTables(sentences)
  const kind = CUE_KINDS.find((each) =>
    each === 'knownName'
      ? hasKnownEntity(clipped, context.entities)
      : tables.some((table) => sentences.some((sentence) => matchesCue(sentence, table, each))),
  )
  if (kind !== undefined) return DECISIONS[kind]
  const isVoid = tables.some((table) => sentences.some((sentence) => table.void.test(sentence)))
  return !isVoid && asksPersonalQuestion(clipped) ? PERSONAL_QUESTION : NO_REFERENCE
}

function matchesCue(
  sentence: string,
  table: CueTable,
  kind: Exclude<CueKind, 'knownName'>,
): boolean {
  return (
    table[kind].some(
      ({ pattern, unless }) => pattern.test(sentence) && unless?.test(sentence) !== true,
    ) && !table.void.test(sentence)
  )
}

function createDecision(section: GateSection, reason: string): GateDecision {
  return { section, reason }
}

export type { GateContext, GateDecision } from './types.ts'
