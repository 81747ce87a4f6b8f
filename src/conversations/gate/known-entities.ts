/** Whether a message contains a name that the owner has memories of. */

import { UNSPACED_SCRIPT } from '../../text/search/cjk-terms.ts'
import { STOP_WORDS } from '../../text/search/stopwords.ts'
import { normalizeKeepingCase } from '../../text/speech/message-text.ts'

/** Shorter names are too ambiguous. In scripts with a character per syllable, two characters are enough. */
const SPACED_CHARACTERS_MIN = 3
const UNSPACED_CHARACTERS_MIN = 2
const ENTITY_CHARACTERS_MAX = 200
const ENTITIES_MAX = 1_000

/** Names that are also common words. In lower case they count as the word: "mark it as done" names nobody. */
const COMMON_WORDS = new Set(
  `mark will may april june august rose grace hope joy faith bill art rob drew sue pat frank dean jack penny
   iris lily ivy amber ruby pearl daisy violet summer autumn dawn chase chance hunter miles max ray gene guy
   chip christian rich sandy crystal heather holly hazel olive sage rusty rust swift go dash bash ruby spark
   flash brave notion slack teams word excel outlook edge chrome windows pages numbers keynote apple target
   shell meta monday klein stein wolf rosa clara blanca paz luz sol mercedes dolores pilar esperanza marina
   mar rio cruz flor vera pierre marguerite fleur aurore olivier reine`.split(/\s+/u),
)

export function hasKnownEntity(clipped: string, entities: readonly string[]): boolean {
  const original = normalizeKeepingCase(clipped).replace(/\s+/gu, ' ')
  const folded = original.toLowerCase()
  return entities.slice(0, ENTITIES_MAX).some((entity) => hasEntityName(entity, original, folded))
}

function hasEntityName(entity: string, original: string, folded: string): boolean {
  const name = normalizeKeepingCase(entity.slice(0, ENTITY_CHARACTERS_MAX))
    .replace(/\s+/gu, ' ')
    .trim()
  const lowerCase = name.toLowerCase()
  if (STOP_WORDS.has(lowerCase)) return false
  if (UNSPACED_SCRIPT.test(name)) {
    return [...name].length >= UNSPACED_CHARACTERS_MIN && containsRun(folded, lowerCase)
  }
  if ([...name].length < SPACED_CHARACTERS_MIN) return false
  // The capital of a word at the beginning of a sentence proves nothing.
  return COMMON_WORDS.has(lowerCase)
    ? containsWord(original, name, isInsideSentence)
    : containsWord(folded, lowerCase)
}

type AcceptMatch = (text: string, start: number) => boolean

const WORD_CHARACTER = /[\p{L}\p{M}\p{N}_]/u

/** Matches whole words; an ending such as "'s" may follow. */
function containsWord(text: string, name: string, accept: AcceptMatch = () => true): boolean {
  return hasAcceptedMatch(text, name, (start, end) => {
    const before = getPreviousCharacter(text, start)
    const after = getCharacter(text, end)
    return isWordBoundary(before) && isWordBoundary(after) && accept(text, start)
  })
}

/** Unspaced scripts have no word boundaries, except that a run of katakana is mostly one word. */
function containsRun(text: string, name: string): boolean {
  return hasAcceptedMatch(text, name, (start, end) => {
    const splitsBefore = isKatakana(getPreviousCharacter(text, start)) && isKatakana(name.charAt(0))
    const splitsAfter = isKatakana(getCharacter(text, end)) && isKatakana(name.slice(-1))
    return !splitsBefore && !splitsAfter
  })
}

function hasAcceptedMatch(
  text: string,
  name: string,
  accept: (start: number, end: number) => boolean,
) {
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + name.length)) {
    if (accept(at, at + name.length)) return true
  }
  return false
}

function isInsideSentence(text: string, start: number): boolean {
  return /[\p{L}\p{N},]['"]?\s$/u.test(text.slice(Math.max(0, start - 3), start))
}

/** A letter of an unspaced script ends a Latin name like a space does: "Luna吃葡萄". */
function isWordBoundary(character: string): boolean {
  return !WORD_CHARACTER.test(character) || UNSPACED_SCRIPT.test(character)
}

function isKatakana(character: string): boolean {
  return /[\p{Script=Katakana}ー]/u.test(character)
}

function getCharacter(text: string, at: number): string {
  const code = text.codePointAt(at)
  return code === undefined ? '' : String.fromCodePoint(code)
}

function getPreviousCharacter(text: string, at: number): string {
  return [...text.slice(Math.max(0, at - 2), at)].at(-1) ?? ''
}
