/**
 * Pairs of statements, written and labelled by hand for this project: how does the newer one relate to the older one?
 *
 * - `duplicate`: it says the same, perhaps in other words or with filler.
 * - `update`: it replaces the older one. It states a change, gives a single-valued attribute another value, or corrects
 *   what the speakers stated about themselves.
 * - `conflict`: both cannot be true, and neither is known to be newer.
 * - `unrelated`: both can be true. Many of them share nearly all their words, because a wrong "update" is the
 *   worst mistake.
 *
 * The first set came before the rules; every third of its pairs is held out, and rules are tuned on the others. The
 * second and third were written to find what the rules don't know yet, and rules were tuned on them as well; so was
 * `third-person.ts`, with statements as models write them. The last one, `unseen.ts`, came after the rules, which were not
 * tuned on it: it estimates the accuracy on other texts.
 */
import { CHINESE, JAPANESE } from './asian.ts'
import { ENGLISH } from './english.ts'
import { GERMAN } from './german.ts'
import { FRENCH, PORTUGUESE, SPANISH } from './romance.ts'
import { SECOND } from './second.ts'
import { THIRD } from './third.ts'
import { THIRD_PERSON } from './third-person.ts'
import { UNSEEN } from './unseen.ts'

export const PAIR_LABELS = ['duplicate', 'update', 'conflict', 'unrelated'] as const
export type PairLabel = (typeof PAIR_LABELS)[number]

export const PAIR_LANGUAGES = ['en', 'de', 'es', 'fr', 'pt', 'zh', 'ja'] as const
export type TruthLanguage = (typeof PAIR_LANGUAGES)[number]

export const PAIR_SETS = ['development', 'heldOut', 'unseen'] as const
export type PairSet = (typeof PAIR_SETS)[number]

export type LabeledPair = {
  readonly older: string
  readonly newer: string
  readonly label: PairLabel
  readonly language: TruthLanguage
  readonly set: PairSet
}

const HELD_OUT_EVERY = 3

type Texts = Readonly<Record<TruthLanguage, Readonly<Record<PairLabel, string>>>>

const FIRST: Texts = {
  en: ENGLISH,
  de: GERMAN,
  es: SPANISH,
  fr: FRENCH,
  pt: PORTUGUESE,
  zh: CHINESE,
  ja: JAPANESE,
}

export const LABELED_PAIRS: readonly LabeledPair[] = [
  ...pairsOf(FIRST, (index) =>
    index % HELD_OUT_EVERY === HELD_OUT_EVERY - 1 ? 'heldOut' : 'development',
  ),
  ...pairsOf(SECOND, () => 'development'),
  ...pairsOf(THIRD, () => 'development'),
  ...pairsOf(THIRD_PERSON, () => 'development'),
  ...pairsOf(UNSEEN, () => 'unseen'),
]

function pairsOf(texts: Texts, setOf: (index: number) => PairSet): readonly LabeledPair[] {
  return PAIR_LANGUAGES.flatMap((language) =>
    PAIR_LABELS.flatMap((label) =>
      linesOf(texts[language][label]).map((line, index) => {
        const [older = '', newer = ''] = line.split(' | ')
        return { older, newer, label, language, set: setOf(index) }
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
