/** How the language tables write their cues: the notation of pattern extraction, in pairs of "when" and "unless". */
import {
  type Fragments,
  type Notation,
  spaced,
  unspaced,
} from '../../learning/patterns/grammar-notation.ts'
import type { Cue } from './types.ts'

export type CueNotation = {
  /** Whole words anywhere in a sentence, unless others are in it too. */
  readonly cue: (source: string, unless?: string) => Cue
  /** The beginning of a sentence. */
  readonly opening: (...sources: readonly string[]) => RegExp
  readonly anywhere: (...sources: readonly string[]) => RegExp
}

export function spacedCues(fragments: Fragments): CueNotation {
  return toCueNotation(spaced(fragments))
}

export function unspacedCues(fragments: Fragments): CueNotation {
  return toCueNotation(unspaced(fragments))
}

function toCueNotation({ anywhere, opening }: Notation): CueNotation {
  return {
    anywhere,
    opening,
    cue: (source, unless) => ({
      pattern: anywhere(source),
      ...(unless === undefined ? {} : { unless: anywhere(unless) }),
    }),
  }
}
