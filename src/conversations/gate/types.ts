/** What the gate answers, and what a language has to say about itself to take part in it. */
import type { GateSection } from '../../domain/entries/conversation-entries.ts'

export { GATE_SECTIONS, type GateSection } from '../../domain/entries/conversation-entries.ts'

export const GATE_LANGUAGES = ['en', 'de', 'es', 'fr', 'pt', 'zh', 'ja'] as const
export type GateLanguage = (typeof GATE_LANGUAGES)[number]

/** What a message can do that memories help with. */
export type CueKind =
  | 'ownWords'
  | 'whoAmI'
  | 'earlierTalk'
  | 'ownPast'
  | 'knownName'
  | 'ownFact'
  | 'advice'

/** `pattern` speaks for an appeal in a sentence, unless `unless` is found in the same sentence. */
export type GateCue = { readonly pattern: RegExp; readonly unless?: RegExp }

/** The cues of one language. A known name needs none: it is a name in every language. */
export type CueTable = Readonly<Record<Exclude<CueKind, 'knownName'>, readonly GateCue[]>> & {
  readonly language: GateLanguage
  /** Takes the meaning out of every cue of a sentence: hypotheses, orders to keep something in mind. */
  readonly void: RegExp
}

export type GateContext = {
  /** Names that the owner's episodes and identity hold. */
  readonly entities: readonly string[]
}

export type GateDecision = {
  readonly section: GateSection
  /** A fixed sentence. It holds no word of the message, so it may be logged. */
  readonly reason: string
}
