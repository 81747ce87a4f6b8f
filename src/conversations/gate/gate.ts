/**
 * The gate: whether memories would help with a message, and which kind of them, decided from the message alone.
 *
 * It looks for references, not for words: a time ("before", "in May") or a possessive ("my code") says nothing by
 * itself. Where a message makes several references, the most specific one decides.
 */

import { clipMessage, readSentences } from '../../text/speech/message-text.ts'
import { namesKnownEntity } from './known-entities.ts'
import { findTables } from './languages/index.ts'
import type { Appeal, CueTable, GateContext, GateDecision, GateSection } from './types.ts'

/** From the most specific reference to the least. What was agreed about a person is an episode, not a fact. */
const APPEALS: readonly Appeal[] = [
  'ownWords',
  'whoAmI',
  'earlierTalk',
  'ownPast',
  'knownName',
  'ownFact',
  'advice',
]

const DECISIONS: Readonly<Record<Appeal, GateDecision>> = {
  ownWords: decision('transcript', 'It asks for words that the person used earlier.'),
  whoAmI: decision('identity', 'It asks who the person is.'),
  earlierTalk: decision('episode', 'It refers to an earlier conversation.'),
  ownPast: decision('episode', 'It asks about something that the person did.'),
  knownName: decision('pinned', 'It names something that is known.'),
  ownFact: decision('pinned', 'It asks about something that is the person’s own.'),
  advice: decision('pinned', 'It asks for something that depends on the person.'),
}

const NOTHING = decision('none', 'It refers to nothing that could be remembered.')

export function gate(message: string, context: GateContext): GateDecision {
  const clipped = clipMessage(message)
  const sentences = readSentences(clipped)
  const tables = findTables(sentences)
  const appeal = APPEALS.find((each) =>
    each === 'knownName'
      ? namesKnownEntity(clipped, context.entities)
      : tables.some((table) => sentences.some((sentence) => makesAppeal(sentence, table, each))),
  )
  return appeal === undefined ? NOTHING : DECISIONS[appeal]
}

function makesAppeal(
  sentence: string,
  table: CueTable,
  appeal: Exclude<Appeal, 'knownName'>,
): boolean {
  return (
    table[appeal].some(
      ({ pattern, unless }) => pattern.test(sentence) && unless?.test(sentence) !== true,
    ) && !table.void.test(sentence)
  )
}

function decision(section: GateSection, because: string): GateDecision {
  return { section, because }
}

export type { GateContext, GateDecision, GateSection } from './types.ts'
