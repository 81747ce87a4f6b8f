/**
 * The Porter stemmer for English (M. F. Porter, "An algorithm for suffix stripping", 1980), with the two changes of the
 * author's own program (`bli`, `logi`).
 *
 * Stems are compared with stems only and never shown. Words of other languages in a … z get the same treatment in the
 * index and in queries, so they still match.
 */

type Rule = readonly [suffix: string, replacement: string]

// The first match decides, so longer suffixes precede shorter ones with the same ending.
const STEP_2: readonly Rule[] = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['bli', 'ble'],
  ['alli', 'al'],
  ['entli', 'ent'],
  ['eli', 'e'],
  ['ousli', 'ous'],
  ['ization', 'ize'],
  ['ation', 'ate'],
  ['ator', 'ate'],
  ['alism', 'al'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['biliti', 'ble'],
  ['logi', 'log'],
]

const STEP_3: readonly Rule[] = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ful', ''],
  ['ness', ''],
]

const STEP_4: readonly Rule[] = [
  ['al', ''],
  ['ance', ''],
  ['ence', ''],
  ['er', ''],
  ['ic', ''],
  ['able', ''],
  ['ible', ''],
  ['ant', ''],
  ['ement', ''],
  ['ment', ''],
  ['ent', ''],
  ['sion', 's'],
  ['tion', 't'],
  ['ou', ''],
  ['ism', ''],
  ['ate', ''],
  ['iti', ''],
  ['ous', ''],
  ['ive', ''],
  ['ize', ''],
]

/** The stem of a word of a … z. Words of one or two letters do not change. */
export function stem(word: string): string {
  if (word.length < 3) return word
  let rest = stripPlural(word)
  rest = stripPastTense(rest)
  if (rest.endsWith('y') && hasVowel(rest, rest.length - 1)) rest = `${rest.slice(0, -1)}i`
  rest = replaceSuffix(rest, STEP_2, 0)
  rest = replaceSuffix(rest, STEP_3, 0)
  rest = replaceSuffix(rest, STEP_4, 1)
  return stripFinalE(rest)
}

function stripPlural(word: string): string {
  if (word.endsWith('sses') || word.endsWith('ies')) return word.slice(0, -2)
  if (word.endsWith('s') && !word.endsWith('ss')) return word.slice(0, -1)
  return word
}

function stripPastTense(word: string): string {
  if (word.endsWith('eed'))
    return countVowelSequences(word, word.length - 3) > 0 ? word.slice(0, -1) : word
  const cut = word.endsWith('ed') ? 2 : word.endsWith('ing') ? 3 : 0
  if (cut === 0 || !hasVowel(word, word.length - cut)) return word
  const rest = word.slice(0, -cut)
  if (rest.endsWith('at') || rest.endsWith('bl') || rest.endsWith('iz')) return `${rest}e`
  if (hasDoubleConsonantEnd(rest) && !/[lsz]$/.test(rest)) return rest.slice(0, -1)
  return countVowelSequences(rest, rest.length) === 1 && hasShortEnd(rest) ? `${rest}e` : rest
}

function stripFinalE(word: string): string {
  let rest = word
  if (rest.endsWith('e')) {
    const before = rest.slice(0, -1)
    const vowels = countVowelSequences(before, before.length)
    if (vowels > 1 || (vowels === 1 && !hasShortEnd(before))) rest = before
  }
  return rest.endsWith('ll') && countVowelSequences(rest, rest.length) > 1
    ? rest.slice(0, -1)
    : rest
}

/** The first matching suffix decides, even if the rest is too short to strip it. */
function replaceSuffix(word: string, rules: readonly Rule[], measureAbove: number): string {
  for (const [suffix, replacement] of rules) {
    if (!word.endsWith(suffix)) continue
    const rest = word.slice(0, -suffix.length) + replacement
    // Step 4 keeps the s or t before `ion` as part of the stem; steps 2 and 3 rewrite endings.
    const left = measureAbove === 0 ? word.length - suffix.length : rest.length
    return countVowelSequences(word, left) > measureAbove ? rest : word
  }
  return word
}

function isConsonant(word: string, index: number): boolean {
  switch (word[index]) {
    case 'a':
    case 'e':
    case 'i':
    case 'o':
    case 'u':
      return false
    case 'y':
      return index === 0 || !isConsonant(word, index - 1)
    default:
      return true
  }
}

/** Porter's measure m: the number of vowel-consonant sequences in the first `length` letters. */
function countVowelSequences(word: string, length: number): number {
  let count = 0
  let wasVowel = false
  for (let index = 0; index < length; index += 1) {
    const consonant = isConsonant(word, index)
    if (consonant && wasVowel) count += 1
    wasVowel = !consonant
  }
  return count
}

function hasVowel(word: string, length: number): boolean {
  for (let index = 0; index < length; index += 1) if (!isConsonant(word, index)) return true
  return false
}

function hasDoubleConsonantEnd(word: string): boolean {
  const last = word.length - 1
  return last > 0 && word[last] === word[last - 1] && isConsonant(word, last)
}

/** Consonant, vowel, consonant other than w, x, y: `hop`, not `snow`. */
function hasShortEnd(word: string): boolean {
  const last = word.length - 1
  return (
    last > 1 &&
    isConsonant(word, last) &&
    !isConsonant(word, last - 1) &&
    isConsonant(word, last - 2) &&
    !/[wxy]$/.test(word)
  )
}
