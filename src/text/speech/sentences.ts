/** Splits text into sentences in one pass; the dot of "node.js" ends none. */
export type Sentence = {
  readonly start: number
  /** After the last word, before the closing punctuation. */
  readonly end: number
  readonly isQuestion: boolean
}

const ENDING = /[.!?…。！？｡．;；\n]/u
const CLOSING = /[.!?…。！？｡".'”’)\]»」』]/u
const BLANK = /\s/u

/** Bounds how far the scanner looks back from a dot. */
const ABBREVIATION_CHARACTERS_MAX = 12

const ABBREVIATIONS = new Set(
  `e.g i.e a.k.a mr mrs ms dr prof st vs approx inc ltd dept jr
   z.b d.h u.a o.ä bzw ca bspw evtl ggf inkl exkl nr str tel dipl-ing hr fr
   p.ej sr sra srta dra ud uds p.ex mme mlle av`.split(/\s+/u),
)

/** Words that follow an ordinal number in German: "am 3. Mai", "im 2. Semester". */
const AFTER_ORDINAL =
  /^\s+(?:\p{Ll}|Jan|Feb|März|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez|Stock|Klasse|Semester|Geburtstag|Etage|Platz|Lehrjahr|Kind)/u

export function splitSentences(speech: string): readonly Sentence[] {
  const sentences: Sentence[] = []
  let start = 0
  const close = (end: number, isQuestion: boolean, next: number) => {
    if (end > start) sentences.push({ start, end, isQuestion })
    start = next
  }
  for (let at = 0; at < speech.length; at++) {
    const mark = speech.charAt(at)
    if (mark === '¿' || mark === '¡') close(at, false, at + 1)
    if (!ENDING.test(mark) || !endsSentence(speech, start, at, mark)) continue
    let next = at + 1
    while (next < speech.length && CLOSING.test(speech.charAt(next))) next++
    close(at, /[?？]/u.test(speech.slice(at, next)), next)
    at = next - 1
  }
  close(speech.length, false, speech.length)
  return sentences
}

function endsSentence(speech: string, start: number, at: number, mark: string): boolean {
  if (mark === '.') return !isInsideWord(speech, at) && !isAbbreviation(speech, start, at)
  // "a!b" and query strings.
  if (mark === '!' || mark === '?') return !isInsideWord(speech, at)
  return true
}

function isInsideWord(speech: string, at: number): boolean {
  const next = speech.charAt(at + 1)
  return (
    next !== '' &&
    !BLANK.test(next) &&
    !CLOSING.test(next) &&
    !/[\p{Script=Han}\p{Extended_Pictographic}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(next)
  )
}

function isAbbreviation(speech: string, start: number, at: number): boolean {
  const behind = speech.slice(Math.max(start, at - ABBREVIATION_CHARACTERS_MAX), at)
  const ahead = speech.slice(at + 1, at + 14)
  const word = (/[^\s([]+$/u.exec(behind)?.[0] ?? '').toLowerCase()
  if (ABBREVIATIONS.has(word)) return true
  if (/^\d{1,2}$/u.test(word)) return AFTER_ORDINAL.test(ahead) || isListNumber(behind, word)
  // "3 p.m. because": dotted letters end a sentence only before a capital letter.
  if (/^\p{L}(?:\.\p{L})+$/u.test(word)) return /^\s+\p{Ll}/u.test(ahead)
  // "J. Smith", but not "I do. I can."
  return /(?:^|\s)\p{Lu}$/u.test(behind) && /^\s+\p{Lu}\p{Ll}/u.test(ahead)
}

/** "1. I prefer tabs" */
function isListNumber(behind: string, word: string): boolean {
  return behind.trim() === word
}
