/** Drafts of extracted facts, from a model or from patterns, with their provenance and trust. */

import { stripLineMarkers } from '../../domain/context-block.ts'
import { PROVENANCE_TURNS_MAX, PROVENANCE_WORD_CHARACTERS_MAX } from '../../domain/limits.ts'
import { DISTILLATION_EXTRACTOR, type Provenance, type Trust } from '../../domain/memory.ts'
import type { Signal } from '../../domain/signal.ts'
import type { Turn } from '../../domain/turn.ts'
import type { Instant } from '../../lib/time.ts'
import type { DraftInput } from '../../memory/draft.ts'
import { AUTO_PIN } from '../../memory/pins.ts'
import { isInstructionOverride } from '../../text/prompt-injection.ts'
import { IDENTITY_IMPORTANCE, IDENTITY_SALIENCE } from '../identity/identity-grade.ts'
import { buildPatternDrafts } from '../patterns/pattern-drafts.ts'
import { assessTrust } from '../statement-trust.ts'
import type { GroundedFact } from './grounded-distillate.ts'
import type { Grounding } from './grounding/claim.ts'
import type { SelectedTurn } from './turn-selection.ts'

/** The source turns of a statement, and the time and trust that follow from them. */
type FactSource = {
  readonly turns: readonly SelectedTurn[]
  readonly observedAt: Instant
  readonly trust: Trust
}

export function buildFactDraft(
  fact: GroundedFact,
  shown: readonly SelectedTurn[],
  version: string,
): DraftInput {
  const source = getFactSource(fact.turns, shown)
  const { content, type, category, importance, salience, entities, validFrom, grounding } = fact
  // A statement about a period that had already ended stays true, so it gets no end.
  const validUntil = (fact.validUntil ?? 0) > source.observedAt ? fact.validUntil : null
  const trust = grounding.isGrounded ? assessTrust(content, source.trust) : 'suspect'
  return {
    content,
    type,
    category,
    entities,
    ...(importance === null ? {} : { importance }),
    ...(salience === null ? {} : { salience }),
    ...(validFrom === null ? {} : { validFrom }),
    // Without `validFrom`, a statement holds from when it was said.
    ...(validUntil === null ? {} : { validUntil }),
    ...(fact.isIdentity ? buildIdentityFields(grounding, trust) : {}),
    trust,
    observedAt: source.observedAt,
    provenance: buildProvenance(source, version),
  }
}

/** Pinned memories are in every context, so only what the user said about themself is pinned. */
function buildIdentityFields(grounding: Grounding, trust: Trust): Partial<DraftInput> {
  if (grounding.isGrounded && !grounding.isFirstPerson) return {}
  return {
    category: 'identity',
    importance: IDENTITY_IMPORTANCE,
    salience: IDENTITY_SALIENCE,
    ...(trust === 'suspect' ? {} : { pinned: true, metadata: AUTO_PIN }),
  }
}

/** Without named turns any may be the source, so the least trusted one decides. */
function getFactSource(indexes: readonly number[], shown: readonly SelectedTurn[]): FactSource {
  const named = shown.filter(({ index }) => indexes.includes(index))
  const turns = named.length === 0 ? shown : named
  const times = turns.map(({ turn }) => turn.saidAt)
  return {
    turns,
    observedAt: (named.length === 0 ? Math.min(...times) : Math.max(...times)) as Instant,
    trust: turns.some(isInjected) ? 'suspect' : getFactTrust(named),
  }
}

/** Everything in a turn with a prompt injection is suspect. */
function isInjected(turn: SelectedTurn): boolean {
  const known = hijacked.get(turn) ?? isInstructionOverride(turn.text)
  hijacked.set(turn, known)
  return known
}

/** Caches the check, because many facts may come from one turn. */
const hijacked = new WeakMap<SelectedTurn, boolean>()

/** The user's own words are trusted most; without a named turn the speaker is unknown. */
function getFactTrust(named: readonly SelectedTurn[]): Trust {
  const roles = new Set(named.map(({ turn }) => turn.role))
  if (roles.has('user')) return 'user'
  return roles.size > 0 && !roles.has('assistant') ? 'tool' : 'assistant'
}

function buildProvenance({ turns, trust }: FactSource, version: string): Partial<Provenance> {
  const speakers = new Set(turns.map(({ turn }) => turn.speaker ?? turn.role))
  const [only] = speakers
  const speaker = speakers.size === 1 ? only : trust === 'user' ? 'user' : undefined
  return {
    source: DISTILLATION_EXTRACTOR,
    speaker: speaker?.slice(0, PROVENANCE_WORD_CHARACTERS_MAX) ?? null,
    turns: turns.map(({ turn }) => turn.id).slice(-PROVENANCE_TURNS_MAX),
    extractor: DISTILLATION_EXTRACTOR,
    extractorVersion: version,
  }
}

/** The maximum per turn, and roughly per commit. */
export const PATTERN_FACTS_MAX = 100

export function isUserTurn({ role }: Turn): boolean {
  return role === 'user'
}

/** Extracts facts from the user turns that patterns have not scanned yet. */
export function extractPatternFacts(
  signals: readonly Signal[],
  turns: readonly Turn[],
): readonly DraftInput[] {
  const unread = new Set(
    signals.filter(({ isPatternScanned }) => !isPatternScanned).flatMap((each) => each.turns),
  )
  return turns.filter((turn) => isUserTurn(turn) && unread.has(turn.id)).flatMap(extractTurnFacts)
}

export function extractTurnFacts({ id, content, saidAt, speaker }: Turn): readonly DraftInput[] {
  return buildPatternDrafts(stripLineMarkers(content), {
    source: DISTILLATION_EXTRACTOR,
    speaker: speaker ?? 'user',
    turns: [id],
    observedAt: saidAt,
  }).slice(0, PATTERN_FACTS_MAX)
}
