/** What pattern extraction returns, and what a language has to say about itself to take part in it. */
import type { MemoryCategory, MemoryType } from '../../domain/memory.ts'

export const PATTERN_LANGUAGES = ['en', 'de', 'es', 'fr', 'pt', 'zh', 'ja'] as const
export type PatternLanguage = (typeof PATTERN_LANGUAGES)[number]

/**
 * Whether the statement itself is grammatically negated. It is about form, not feeling: "I hate mornings"
 * is affirmed, "I don't like mornings" and "I can't stand mornings" are negated.
 */
export type Polarity = 'affirmed' | 'negated'

export type PatternFact = {
  /** The clause as the person said it, with its negation, blanks collapsed; 3 … 500 characters. */
  readonly content: string
  readonly category: MemoryCategory
  readonly type: MemoryType
  readonly polarity: Polarity
  readonly language: PatternLanguage
  /** `category:slug`, at most 200 characters; equal clauses have equal keys, and no others do. */
  readonly key: string
  /** 1 … 10. */
  readonly importance: number
  /** Where the clause stands in the given text, in UTF-16 units. */
  readonly start: number
  readonly end: number
}

export type PatternCategory = Extract<
  MemoryCategory,
  'preference' | 'decision' | 'pattern' | 'fact' | 'relationship' | 'event'
>

/** A way to begin a statement worth keeping. Cues are tried in order, so the narrower one comes first. */
export type PatternCue = {
  readonly category: PatternCategory
  readonly importance: number
  readonly pattern: RegExp
}

/**
 * What a language's first-person statements look like. `typical`, `firstPerson` and `boundary` are searched for
 * in longer texts and must be simple. All others see at most a window of a few hundred characters, which is
 * what keeps extraction linear whatever they do.
 */
export type Grammar = {
  readonly language: PatternLanguage
  /** Common words, counted to decide which of two related languages is tried first. */
  readonly languageHint: RegExp
  /** Must occur in a clause for any cue to match; a cheap way out for most text. */
  readonly firstPerson: RegExp
  /** Openers that are not part of the statement: "by the way", "ok", "honestly". */
  readonly discourse: RegExp
  /** First words of an adverbial that may stand before the cue: "next week", "as a rule". */
  readonly lead: RegExp
  /** Places inside a clause at which a cue may begin after such an adverbial; null for none. */
  readonly anchor: RegExp | null
  /** Places where a sentence may fall into clauses, the connecting word included. */
  readonly boundary: RegExp
  /** An explicit first-person subject: after a connecting word it always begins a clause of its own. */
  readonly subject: RegExp
  /** What follows asks or orders: it ends the statement before it and is not one itself. */
  readonly request: RegExp
  /** How a question or an unreal statement begins; nothing after it in the sentence is a statement. */
  readonly nonStatement: RegExp
  /** How a question ends that has no question mark; tested on the last characters of a sentence. */
  readonly questionEnd: RegExp
  /** Somebody else says, thinks or is told what follows; or it is only possible. */
  readonly attribution: RegExp
  /** Makes a decision or plan before it depend on something: "I'll move if I get the job". */
  readonly condition: RegExp
  /** Chat with an assistant about the work at hand, in the shape of a statement. */
  readonly chatter: RegExp
  /** Words right after a cue that point into the conversation, so that the clause means nothing later. */
  readonly deictic: RegExp
  readonly negation: Negation
  readonly cues: readonly PatternCue[]
}

/**
 * Where to look for a negation: inside the words of the cue, or, where the negation follows the verb at a
 * distance, in the clause up to the first word that opens another thought ("aber nicht …").
 */
export type Negation =
  | { readonly within: 'cue'; readonly words: RegExp }
  | { readonly within: 'clause'; readonly words: RegExp; readonly until: RegExp }
