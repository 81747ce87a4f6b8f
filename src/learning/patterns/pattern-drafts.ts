/** What patterns find in something that was said, as statements: who said them, where, and whether they can be believed. */

import type { TurnId } from '../../domain/ids.ts'
import { PATTERN_EXTRACTOR, type Trust } from '../../domain/memory.ts'
import type { DraftInput } from '../../memory/draft.ts'
import { AUTO_PIN } from '../../memory/pins.ts'
import { isInstructionOverride } from '../../text/prompt-injection.ts'
import { gradeIdentity, IDENTITY_IMPORTANCE } from '../identity/identity-grade.ts'
import { assessTrust } from '../statement-trust.ts'
import { type Extraction, extractPatterns, PATTERNS_VERSION } from './extractor.ts'

export type PatternLearningOptions = {
  /** When it was said, if not just now. */
  readonly observedAt?: number
  readonly source?: string
  /** Default: the person's own. */
  readonly trust?: Trust
  readonly speaker?: string
  /** Whether it was said at an unknown earlier time: then nothing that was ever forgotten is learned from it. */
  readonly isHistory?: boolean
  /** Where it was said. */
  readonly turns?: readonly TurnId[]
  /** Stands before the keys, so that what others say never has the key of what the person says. */
  readonly keyPrefix?: string
  /** Which of the facts are kept; default: all. */
  readonly accepts?: (fact: Extraction) => boolean
}

export function buildPatternDrafts(
  text: string,
  options: PatternLearningOptions = {},
): readonly DraftInput[] {
  const { accepts = () => true, source = 'library', observedAt } = options
  const facts = extractPatterns(text).filter(accepts)
  if (facts.length === 0) return []
  // What stands beside an attempt to take over may be part of it.
  const spoken = isInstructionOverride(text) ? 'suspect' : (options.trust ?? 'user')
  return facts.map((fact) => ({
    content: fact.content,
    type: fact.type,
    language: fact.language,
    ...getFactStanding(fact, assessTrust(fact.content, spoken), options.keyPrefix ?? ''),
    provenance: {
      source,
      speaker: options.speaker ?? null,
      turns: options.turns ?? [],
      extractor: PATTERN_EXTRACTOR,
      extractorVersion: PATTERNS_VERSION,
    },
    ...(observedAt === undefined ? {} : { observedAt }),
  }))
}

type FactStanding = Pick<
  DraftInput,
  'key' | 'category' | 'importance' | 'trust' | 'pinned' | 'metadata'
>

function getFactStanding(fact: Extraction, trust: Trust, keyPrefix: string): FactStanding {
  const { category, importance } = fact
  // Without a key: what waits for a person must not be what the same words are found under when they are honest.
  if (trust === 'suspect') return { category, importance, trust }
  if (trust !== 'user' || gradeIdentity(fact.content) === null) {
    return { key: keyPrefix + fact.key, category, importance, trust }
  }
  // Who the person is is compared by what it says, as a statement of a model is: a pin of their own stays theirs.
  return {
    category: 'identity',
    importance: IDENTITY_IMPORTANCE,
    pinned: true,
    metadata: AUTO_PIN,
    trust,
  }
}
