/** The notation of cue tables: that of pattern extraction, with exceptions. */
import {
  createSpacedNotation,
  createUnspacedNotation,
  type Fragments,
  type GrammarNotation,
} from '../../learning/patterns/grammar-notation.ts'
import type { GateCue } from './types.ts'

type CueNotation = {
  /** Whole words anywhere in a sentence, except in sentences that also match `unless`. */
  readonly cue: (source: string, unless?: string) => GateCue
  /** The beginning of a sentence. */
  readonly opening: (...sources: readonly string[]) => RegExp
  readonly anywhere: (...sources: readonly string[]) => RegExp
}

export function createSpacedCueNotation(fragments: Fragments): CueNotation {
  return toCueNotation(createSpacedNotation(fragments))
}

export function createUnspacedCueNotation(fragments: Fragments): CueNotation {
  return toCueNotation(createUnspacedNotation(fragments))
}

function toCueNotation({ anywhere, opening }: GrammarNotation): CueNotation {
  return {
    anywhere,
    opening,
    cue: (source, unless) => ({
      pattern: anywhere(source),
      ...(unless === undefined ? {} : { unless: anywhere(unless) }),
    }),
  }
}
