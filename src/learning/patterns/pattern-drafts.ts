/** Turns extracted facts and requests into drafts, with provenance and trust. */

import type { TurnId } from '../../domain/ids.ts'
import { PATTERN_EXTRACTOR, type Trust } from '../../domain/memory.ts'
import type { DraftInput } from '../../memory/draft.ts'
import { AUTO_PIN } from '../../memory/pins.ts'
import { normalizeStatement } from '../../text/fingerprint.ts'
import { isInstructionOverride, isPromptInjection } from '../../text/prompt-injection.ts'
import { gradeIdentity, IDENTITY_IMPORTANCE } from '../identity/identity-grade.ts'
import { assessTrust } from '../statement-trust.ts'
import { type Extraction, extractPatterns, PATTERNS_VERSION } from './extractor.ts'
import { type MemoryRequest, parseMemoryRequests } from './memory-requests.ts'
import { toPatternKey } from './pattern-key.ts'

export type PatternLearningOptions = {
  /** When the text was said. Default: now. */
  readonly observedAt?: number
  readonly source?: string
  /** Default: `user`. */
  readonly trust?: Trust
  readonly speaker?: string
  /** Whether it was said at an unknown earlier time; then nothing that was ever forgotten is learned again. */
  readonly isHistory?: boolean
  /** The turns that contain the text. */
  readonly turns?: readonly TurnId[]
  /** Prefix of keys, so that statements of other speakers never share a key with the user's. */
  readonly keyPrefix?: string
  /** Only returns what would be stored. */
  readonly dryRun?: boolean
  /** Selects facts; requests are ignored then. Default: all facts. */
  readonly accepts?: (fact: Extraction) => boolean
}

export function buildPatternDrafts(
  text: string,
  options: PatternLearningOptions = {},
): readonly DraftInput[] {
  const { accepts = () => true } = options
  const requests = parseUserRequests(text, options)
  const facts = extractPatterns(text).filter(accepts)
  if (facts.length + requests.length === 0) return []
  // What stands beside an attempt to override instructions may be part of it.
  const trust = isInstructionOverride(text) ? 'suspect' : (options.trust ?? 'user')
  const kept = requests.filter(
    ({ kind, content }) =>
      kind !== 'forget' && !facts.some((fact) => isSameStatement(fact.content, content)),
  )
  const own = facts.filter((fact) => !kept.some((request) => isWithin(fact, request)))
  const common = buildCommonFields(options)
  return [
    ...own.map((fact) => ({
      content: fact.content,
      type: fact.type,
      language: fact.language,
      ...getFactStanding(fact, assessTrust(fact.content, trust), options.keyPrefix ?? ''),
      ...common,
    })),
    ...kept.map((request) => ({ ...toRequestDraft(request, trust), ...common })),
  ]
}

/** Requests about memory, which only the user makes. */
export function parseUserRequests(
  text: string,
  { trust = 'user', accepts }: PatternLearningOptions,
): readonly MemoryRequest[] {
  return trust === 'user' && accepts === undefined ? parseMemoryRequests(text) : []
}

function buildCommonFields(options: PatternLearningOptions) {
  const { source = 'library', observedAt, speaker = null, turns = [] } = options
  return {
    provenance: {
      ...{ source, speaker, turns },
      extractor: PATTERN_EXTRACTOR,
      extractorVersion: PATTERNS_VERSION,
    },
    ...(observedAt === undefined ? {} : { observedAt }),
  }
}

/** Importance of what the user explicitly asks to remember. */
const REQUESTED_IMPORTANCE = 8

/** An instruction is procedural and pinned, so that every context has it. An order is what the user asked for. */
function toRequestDraft({ kind, content }: MemoryRequest, spoken: Trust): DraftInput {
  const trust = isPromptInjection(content) ? 'suspect' : spoken
  if (kind === 'remember') {
    const category = 'fact'
    const key = toPatternKey(category, content)
    return { content, type: 'factual', category, importance: REQUESTED_IMPORTANCE, key, trust }
  }
  return {
    ...{ content, type: 'procedural', category: 'preference', trust },
    importance: REQUESTED_IMPORTANCE,
    ...(trust === 'user' ? { pinned: true, metadata: AUTO_PIN } : {}),
  }
}

function isSameStatement(one: string, other: string): boolean {
  return normalizeStatement(one) === normalizeStatement(other)
}

type Span = { readonly start: number; readonly end: number }

function isWithin(inner: Span, outer: Span): boolean {
  return inner.start >= outer.start && inner.end <= outer.end
}

type FactStanding = Pick<
  DraftInput,
  'key' | 'category' | 'importance' | 'trust' | 'pinned' | 'metadata'
>

function getFactStanding(fact: Extraction, trust: Trust, keyPrefix: string): FactStanding {
  const { category, importance } = fact
  // Without a key: a memory that waits for review must not take the key of the same words said honestly.
  if (trust === 'suspect') return { category, importance, trust }
  if (trust !== 'user' || gradeIdentity(fact.content) === null) {
    return { key: keyPrefix + fact.key, category, importance, trust }
  }
  // Identity is compared by content, as a model's statements are, and a pin set by the user stays theirs.
  return {
    category: 'identity',
    importance: IDENTITY_IMPORTANCE,
    pinned: true,
    metadata: AUTO_PIN,
    trust,
  }
}
