/**
 * Pairs of statements, labelled by hand, written for this project: what is the newer one to the older one?
 *
 * - `duplicate`: it says the same, perhaps in other words or with filler.
 * - `update`: it holds in the place of the older one. It says that something changed, or gives a single-valued attribute
 *   another value, or the speakers take back what they said about themselves: of that they know best, and last.
 * - `conflict`: both can't be true, and nothing says which one is.
 * - `unrelated`: both can be true. Many of them share nearly all their words, because a wrong "update" is the worst
 *   mistake there is.
 *
 * Every third pair of a label and language is held out of the first set, and all of the third, which was written when the
 * rules stood: rules are tuned on the others only.
 */
import { CHINESE, JAPANESE } from './asian.ts'
import { ENGLISH } from './english.ts'
import { GERMAN } from './german.ts'
import { FRENCH, PORTUGUESE, SPANISH } from './romance.ts'
import { SECOND } from './second.ts'
import { THIRD } from './third.ts'

export const TRUTH_LABELS = ['duplicate', 'update', 'conflict', 'unrelated'] as const
export type TruthLabel = (typeof TRUTH_LABELS)[number]

export const TRUTH_LANGUAGES = ['en', 'de', 'es', 'fr', 'pt', 'zh', 'ja'] as const
export type TruthLanguage = (typeof TRUTH_LANGUAGES)[number]

export type TruthPair = {
  readonly older: string
  readonly newer: string
  readonly label: TruthLabel
  readonly language: TruthLanguage
  readonly isHeldOut: boolean
}

const HELD_OUT_EVERY = 3

type Texts = Readonly<Record<TruthLanguage, Readonly<Record<TruthLabel, string>>>>

const FIRST: Texts = {
  en: ENGLISH,
  de: GERMAN,
  es: SPANISH,
  fr: FRENCH,
  pt: PORTUGUESE,
  zh: CHINESE,
  ja: JAPANESE,
}

const isThirdOne = (index: number) => index % HELD_OUT_EVERY === HELD_OUT_EVERY - 1

export const TRUTH_PAIRS: readonly TruthPair[] = [
  ...pairsOf(FIRST, isThirdOne),
  ...pairsOf(SECOND, () => false),
  ...pairsOf(THIRD, () => false),
]

function pairsOf(texts: Texts, isHeldOut: (index: number) => boolean): readonly TruthPair[] {
  return TRUTH_LANGUAGES.flatMap((language) =>
    TRUTH_LABELS.flatMap((label) =>
      linesOf(texts[language][label]).map((line, index) => {
        const [older = '', newer = ''] = line.split(' | ')
        return { older, newer, label, language, isHeldOut: isHeldOut(index) }
      }),
    ),
  )
}

function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}
