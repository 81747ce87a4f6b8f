/** Types of the gate: its decisions, and the cue tables of the languages. */
export const GATE_SECTIONS = ['identity', 'pinned', 'episode', 'transcript', 'none'] as const
export type GateSection = (typeof GATE_SECTIONS)[number]

export const GATE_LANGUAGES = ['en', 'de', 'es', 'fr', 'pt', 'zh', 'ja'] as const
export type GateLanguage = (typeof GATE_LANGUAGES)[number]

/** The kinds of references in a message that memories help with. */
export type CueKind =
  | 'ownWords'
  | 'whoAmI'
  | 'earlierTalk'
  | 'ownPast'
  | 'knownName'
  | 'ownFact'
  | 'advice'

/** `pattern` marks a reference, except in sentences that also match `unless`. */
export type GateCue = { readonly pattern: RegExp; readonly unless?: RegExp }

/** The cues of one language. Known names need none, because a name is the same in every language. */
export type CueTable = Readonly<Record<Exclude<CueKind, 'knownName'>, readonly GateCue[]>> & {
  readonly language: GateLanguage
  /** Sentences in which no cue counts: hypotheses, and requests to remember something. */
  readonly void: RegExp
}

export type GateContext = {
  /** Names from the owner's episodes and identity. */
  readonly entities: readonly string[]
}

export type GateDecision = {
  readonly section: GateSection
  /** A fixed sentence without words of the message, so it may be logged. */
  readonly reason: string
}
