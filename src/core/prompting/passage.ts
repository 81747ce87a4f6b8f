/** The passage of a long text that a question is about, cut at the ends of sentences. */
import { splitSentences } from '../patterns/sentences.ts'
import { STOP_WORDS } from '../stopwords.ts'
import { UNSPACED } from '../terms.ts'

/** A piece of a word of the question, and how much finding it tells. */
export type Needle = { readonly text: string; readonly weight: number }

const WORDS = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu
/** Longer words are looked for without their endings. */
const STEM_CHARACTERS_MIN = 4
const ENDING_CHARACTERS = 2
const NEEDLES_MAX = 24
/** Occurrences of a needle that are looked at: a word that stands everywhere tells nothing about where to look. */
const OCCURRENCES_MAX = 60
/** How much a needle counts that stands in the passage already. */
const REPEATED_WEIGHT = 0.1
/** Marks where something was left out, with the space beside it. */
const OMITTED = '… '
/** How far a sentence is followed beyond the passage to find where it begins. */
const REACH_CHARACTERS = 300

/** What to look for; words that hold in fewer of the texts tell more. */
export function needlesOf(question: string, texts: readonly string[]): readonly Needle[] {
  const lowered = texts.map((text) => text.toLowerCase())
  const words = new Set(
    (question.toLowerCase().match(WORDS) ?? []).flatMap((word) =>
      UNSPACED.test(word) ? bigramsOf(word) : STOP_WORDS.has(word) ? [] : [stemOf(word)],
    ),
  )
  return [...words].slice(0, NEEDLES_MAX).map((text) => {
    const holding = lowered.filter((each) => each.includes(text)).length
    return { text, weight: Math.log(1 + (lowered.length + 1) / (holding + 0.5)) }
  })
}

function stemOf(word: string): string {
  return word.slice(0, Math.max(STEM_CHARACTERS_MIN, word.length - ENDING_CHARACTERS))
}

function bigramsOf(word: string): readonly string[] {
  const characters = [...word]
  return characters.length < 2
    ? characters
    : characters.slice(1).map((character, at) => `${characters[at]}${character}`)
}

/** At most so many characters, in one line, with marks where something was left out. */
export function passageOf(
  content: string,
  needles: readonly Needle[],
  charactersMax: number,
): string {
  if (content.length <= charactersMax) return oneLine(content)
  const room = charactersMax - 2 * OMITTED.length
  return cut(content, bestStart(content, needles, room), room)
}

/** Where the stretch begins that holds the most of what is looked for. */
function bestStart(content: string, needles: readonly Needle[], length: number): number {
  const lowered = content.toLowerCase()
  // A few letters are longer in lower case; then places in the two are not the same.
  if (lowered.length !== content.length) return 0
  const found = needles
    .flatMap(({ text, weight }, needle) =>
      placesOf(lowered, text).map((place) => ({ place, needle, weight })),
    )
    .sort((a, b) => a.place - b.place)
  let best = { score: 0, start: 0 }
  for (const [first, { place: start }] of found.entries()) {
    const seen = new Set<number>()
    let score = 0
    for (let at = first; at < found.length; at++) {
      const { place, needle, weight } = found[at] ?? { place: Infinity, needle: 0, weight: 0 }
      if (place >= start + length) break
      score += seen.has(needle) ? weight * REPEATED_WEIGHT : weight
      seen.add(needle)
    }
    if (score > best.score) best = { score, start }
  }
  return best.start
}

function placesOf(text: string, needle: string): readonly number[] {
  const places: number[] = []
  for (
    let at = text.indexOf(needle);
    at >= 0 && places.length < OCCURRENCES_MAX;
    at = text.indexOf(needle, at + needle.length)
  ) {
    if (at === 0 || !/[\p{L}\p{N}]/u.test(text.charAt(at - 1)) || UNSPACED.test(needle)) {
      places.push(at)
    }
  }
  return places
}

function cut(content: string, at: number, charactersMax: number): string {
  const from = Math.max(0, at - REACH_CHARACTERS)
  const nearby = content.slice(from, at + charactersMax + REACH_CHARACTERS)
  const starts = splitSentences(nearby).map(({ start }) => from + start)
  // From the sentence that holds it, unless that begins so early that what was found would not fit.
  const sentence = starts.findLast((start) => start <= at) ?? at
  const isNear = at - sentence <= charactersMax / 2
  const start = isNear ? sentence : wordStart(content, at - Math.floor(charactersMax / 4))
  const ends = [
    ...starts.filter((each) => each > at),
    ...(endsIn(nearby, from, content) ? [content.length] : []),
  ]
  const end = ends.findLast((each) => each - start <= charactersMax)
  const isWhole = end !== undefined && end - start >= charactersMax / 3
  const stop = isWhole ? end : wordEnd(content, start + charactersMax)
  const passage = oneLine(content.slice(start, stop))
  const before = content.slice(0, start).trim() === '' ? '' : OMITTED
  const after = content.slice(stop).trim() === '' ? '' : ' …'
  return `${before}${passage}${after}`
}

function endsIn(nearby: string, from: number, content: string): boolean {
  return from + nearby.length >= content.length
}

const WORD_REACH = 30

function wordStart(content: string, at: number): number {
  const start = Math.max(0, at)
  const blank = content.slice(start, start + WORD_REACH).search(/\s/u)
  return start === 0 || blank < 0 ? whole(content, start) : start + blank + 1
}

function wordEnd(content: string, at: number): number {
  const end = Math.min(content.length, at)
  const blank = content.slice(Math.max(0, end - WORD_REACH), end).search(/\s\S*$/u)
  return end === content.length || blank < 0
    ? whole(content, end)
    : Math.max(0, end - WORD_REACH) + blank
}

/** Not between the halves of a character. */
function whole(content: string, at: number): number {
  return /[\udc00-\udfff]/.test(content.charAt(at)) ? at + 1 : at
}

function oneLine(text: string): string {
  return text.replace(/\s+/gu, ' ').trim()
}
