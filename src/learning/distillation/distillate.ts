/**
 * Parses and validates the answer of a distillation model. Unknown fields are ignored; every item is accepted as it is or
 * dropped, and nothing is inferred that the answer does not state.
 */

import { MEMORY_TYPES, type MemoryType } from '../../domain/memory.ts'
import type { Fields } from '../../lib/json.ts'
import type { Instant } from '../../lib/time.ts'
import { normalizeStatement } from '../../text/fingerprint.ts'
import * as read from '../completions/answer-fields.ts'
import {
  assertExpectedAnswer,
  createUnreadableAnswerError,
  parseAnswerObject,
} from '../completions/answer-json.ts'

export const FACT_CATEGORIES = [
  'general',
  'preference',
  'fact',
  'event',
  'relationship',
  'decision',
  'entity',
  'pattern',
] as const

export type FactCategory = (typeof FACT_CATEGORIES)[number]

export type DistilledEpisode = {
  readonly summary: string
  readonly topics: readonly string[]
  readonly entities: readonly string[]
  readonly decisions: readonly string[]
  readonly actionItems: readonly string[]
  readonly salience: number | null
}

export type DistilledFact = {
  readonly content: string
  readonly type: MemoryType
  readonly category: FactCategory
  readonly importance: number | null
  readonly salience: number | null
  readonly entities: readonly string[]
  /** Whom the fact is about, when the model names somebody else than the user. */
  readonly about: string | null
  readonly validFrom: Instant | null
  readonly validUntil: Instant | null
  /** Indexes of the source turns; empty when the model named none. */
  readonly turns: readonly number[]
}

export type Distillate = {
  readonly episode: DistilledEpisode | null
  readonly facts: readonly DistilledFact[]
  readonly identity: readonly string[]
  /** Whether the answer holds neither an episode nor a fact nor an identity statement. */
  readonly isEmpty: boolean
  /** Why items were dropped. */
  readonly problems: readonly string[]
}

const SUMMARY_CHARACTERS_MAX = 2_000
const SUMMARY_SENTENCES_MAX = 3
const TOPICS_MAX = 20
const LINES_MAX = 20
const LINE_CHARACTERS_MAX = 300
const ENTITIES_MAX = 20
const NAME_CHARACTERS_MAX = 100
const FACTS_MAX = 50

/** Longer statements are dropped: truncation could remove a negation. */
const FACT_CHARACTERS_MAX = 1_000
const FACT_CHARACTERS_MIN = 3
const IDENTITY_MAX = 10
const IDENTITY_CHARACTERS_MAX = 300
const FAULTS_MAX = 20

const EXPECTED_FIELDS = ['episode', 'facts', 'identity', 'pinned_candidates'] as const

/** `shown`: the indexes of the turns in the prompt. Throws when nothing in the answer is usable. */
export function parseDistillate(text: string, shown: readonly number[]): Distillate {
  const fields = parseAnswerObject(text, EXPECTED_FIELDS)
  const faults: string[] = []
  const parsed = {
    episode: parseEpisode(fields, faults),
    facts: parseFacts(fields, new Set(shown), faults),
    identity: parseIdentity(fields, faults),
  }
  const isEmpty = isEmptyDistillate(parsed)
  if (isEmpty && faults.length > 0) {
    throw createUnreadableAnswerError(
      `Nothing in the answer could be used: ${faults.join(' ')}`,
      'no_item',
    )
  }
  if (isEmpty) assertExpectedAnswer(fields, EXPECTED_FIELDS)
  return { ...parsed, isEmpty, problems: faults.slice(0, FAULTS_MAX) }
}

function isEmptyDistillate({
  episode,
  facts,
  identity,
}: Pick<Distillate, 'episode' | 'facts' | 'identity'>) {
  return episode === null && facts.length === 0 && identity.length === 0
}

function parseEpisode(fields: Fields, faults: string[]): DistilledEpisode | null {
  const given = read.getFirstField(fields, 'episode')
  if (given === undefined || given === '') return null
  const episode = read.toObject(given)
  if (episode === null) {
    faults.push('"episode" must be an object or null.')
    return null
  }
  const said = read.getFirstField(episode, 'summary')
  if (said === undefined || (typeof said === 'string' && said.trim() === '')) return null
  const summary = read.toSingleLineText(said, SUMMARY_CHARACTERS_MAX)
  if (summary === null) {
    faults.push('"summary" must be 1 to 3 sentences.')
    return null
  }
  const lines = (...names: readonly string[]) =>
    read.toTextList(read.getFirstField(episode, ...names), LINES_MAX, LINE_CHARACTERS_MAX)
  const entities = read.getFirstField(episode, 'entities') ?? read.getFirstField(fields, 'entities')
  return {
    summary: read.takeFirstSentences(stripPreamble(summary), SUMMARY_SENTENCES_MAX),
    topics: read.toTextList(read.getFirstField(episode, 'topics'), TOPICS_MAX, NAME_CHARACTERS_MAX),
    entities: read.toTextList(entities, ENTITIES_MAX, NAME_CHARACTERS_MAX),
    decisions: lines('decisions'),
    actionItems: lines('actionItems', 'action_items'),
    salience: read.toUnitInterval(read.getFirstField(episode, 'salience')),
  }
}

/** Removes a preamble such as "Sure! Here is a summary:". */
function stripPreamble(summary: string): string {
  const rest = summary.replace(
    /^(?:(?:sure|certainly|of course|okay|ok)[,!.]+ *)?(?:here(?: i|['’])s (?:a|the|your) [^:.]{0,40}summary[^:.]{0,40}:|summary:) */i,
    '',
  )
  return rest === '' ? summary : rest
}

function parseFacts(fields: Fields, shown: ReadonlySet<number>, faults: string[]) {
  const facts: DistilledFact[] = []
  const known = new Set<string>()
  for (const item of parseItems(fields, 'facts', ['facts', 'pinned_candidates'], faults)) {
    if (facts.length === FACTS_MAX) {
      faults.push(`More than ${FACTS_MAX} facts.`)
      break
    }
    const fact = parseFact(item, shown, faults)
    if (fact === null || known.has(normalizeStatement(fact.content))) continue
    known.add(normalizeStatement(fact.content))
    facts.push(fact)
  }
  return facts
}

/** Accepts an object or a plain sentence. */
export function parseFact(
  item: unknown,
  shown: ReadonlySet<number>,
  faults: string[],
): DistilledFact | null {
  const fields = typeof item === 'string' ? { content: item } : read.toObject(item)
  const content =
    fields &&
    read.toSingleLineText(read.getFirstField(fields, 'content', 'fact'), FACT_CHARACTERS_MAX)
  if (fields === null || content === null || content.length < FACT_CHARACTERS_MIN) {
    faults.push(
      `"content" of a fact must be one sentence of up to ${FACT_CHARACTERS_MAX} characters.`,
    )
    return null
  }
  const category = parseChoice(FACT_CATEGORIES, read.getFirstField(fields, 'category')) ?? 'general'
  return {
    content: stripAside(content),
    category,
    type:
      parseChoice(MEMORY_TYPES, read.getFirstField(fields, 'type')) ?? inferMemoryType(category),
    importance: read.toImportance(read.getFirstField(fields, 'importance')),
    salience: read.toUnitInterval(read.getFirstField(fields, 'salience')),
    entities: read.toTextList(
      read.getFirstField(fields, 'entities'),
      ENTITIES_MAX,
      NAME_CHARACTERS_MAX,
    ),
    about: read.toSingleLineText(read.getFirstField(fields, 'about'), NAME_CHARACTERS_MAX),
    ...parseValidity(fields),
    turns: read.toTurnIndexes(
      read.getFirstField(fields, 'turns', 'sourceTurns', 'source_turns'),
      shown,
    ),
  }
}

/** "… (as of May 2026)" repeats when it was said, and would make every restatement another fact. */
function stripAside(content: string): string {
  const plain = content.replace(AS_OF, '$1')
  return plain.length < FACT_CHARACTERS_MIN ? content : plain
}

const AS_OF =
  /\s*\((?:as of|since this conversation|stand:?|a fecha de|en date du?|em|a partir de|截至|時点)[^)]{0,40}\)([.。]?)\s*$/iu

function parseValidity(fields: Fields): Pick<DistilledFact, 'validFrom' | 'validUntil'> {
  const validFrom =
    read.toPeriod(read.getFirstField(fields, 'validFrom', 'valid_from'))?.from ?? null
  const validUntil =
    read.toPeriod(read.getFirstField(fields, 'validUntil', 'valid_until'))?.until ?? null
  const isBackwards = validFrom !== null && validUntil !== null && validUntil < validFrom
  return isBackwards ? { validFrom: null, validUntil: null } : { validFrom, validUntil }
}

/** Events and decisions are episodic; other facts hold until they are corrected. */
function inferMemoryType(category: FactCategory): MemoryType {
  return category === 'event' || category === 'decision' ? 'episodic' : 'factual'
}

function parseIdentity(fields: Fields, faults: string[]): readonly string[] {
  const texts: string[] = []
  const known = new Set<string>()
  for (const item of parseItems(fields, 'identity', ['identity', 'identity_facts'], faults)) {
    const content = read.toObject(item)
    const text = read.toSingleLineText(
      content === null ? item : read.getFirstField(content, 'content'),
      IDENTITY_CHARACTERS_MAX,
    )
    if (text === null) faults.push('"identity" must be a list of sentences.')
    else if (!known.has(normalizeStatement(text)) && texts.length < IDENTITY_MAX) {
      known.add(normalizeStatement(text))
      texts.push(text)
    }
  }
  return texts
}

/** Accepts a single item in place of a list. */
export function parseItems(
  fields: Fields,
  name: string,
  names: readonly string[],
  faults: string[],
): readonly unknown[] {
  const given = read.getFirstField(fields, ...names)
  if (given === undefined || given === '') return []
  if (Array.isArray(given)) return given
  if (typeof given === 'string' || read.toObject(given) !== null) return [given]
  faults.push(`"${name}" must be a list.`)
  return []
}

function parseChoice<Value extends string>(values: readonly Value[], value: unknown): Value | null {
  const word = typeof value === 'string' ? value.trim().toLowerCase() : value
  return values.find((candidate) => candidate === word) ?? null
}
