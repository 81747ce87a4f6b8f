/** What a model found, as statements: who said them, when, and whether they can be believed. */

import { PROVENANCE_TURNS_MAX, PROVENANCE_WORD_CHARACTERS_MAX } from '../../domain/limits.ts'
import { DISTILLATION_EXTRACTOR, type Provenance, type Trust } from '../../domain/memory.ts'
import type { Instant } from '../../lib/time.ts'
import type { DraftInput } from '../../memory/draft.ts'
import { AUTO_PIN } from '../../memory/pins.ts'
import { normalizeStatement } from '../../text/fingerprint.ts'
import { isInstructionOverride } from '../../text/prompt-injection.ts'
import { IDENTITY_IMPORTANCE, IDENTITY_SALIENCE } from '../identity/identity-grade.ts'
import { assessTrust } from '../statement-trust.ts'
import type { DistilledFact } from './distillate.ts'
import type { SelectedTurn } from './turn-selection.ts'

/** The turns that a statement was taken from, and what follows from that. */
type FactSource = {
  readonly turns: readonly SelectedTurn[]
  readonly observedAt: Instant
  readonly trust: Trust
}

export function buildFactDraft(
  fact: DistilledFact,
  shown: readonly SelectedTurn[],
  version: string,
): DraftInput {
  const source = getFactSource(fact.turns, shown)
  const { content, type, category, importance, salience, entities, validFrom } = fact
  // What had ended when it was said is told about the past, and that stays true.
  const validUntil = (fact.validUntil ?? 0) > source.observedAt ? fact.validUntil : null
  return {
    content,
    type,
    category,
    entities,
    ...(importance === null ? {} : { importance }),
    ...(salience === null ? {} : { salience }),
    ...(validFrom === null ? {} : { validFrom }),
    // Without a beginning, a statement holds from when it was said.
    ...(validUntil === null ? {} : { validUntil }),
    trust: assessTrust(content, source.trust),
    observedAt: source.observedAt,
    provenance: buildProvenance(source, version),
  }
}

/** A model doesn't tell which turns these are from, unless one of its facts says the same. */
export function buildIdentityDraft(
  content: string,
  facts: readonly DistilledFact[],
  shown: readonly SelectedTurn[],
  version: string,
): DraftInput {
  const same = facts.find(
    (fact) => normalizeStatement(fact.content) === normalizeStatement(content),
  )
  const spoken = shown.filter(({ turn }) => turn.role === 'user').map(({ index }) => index)
  const named = same === undefined || same.turns.length === 0 ? spoken : same.turns
  const source = getFactSource(named, shown)
  const trust = assessTrust(content, source.trust)
  return {
    content,
    category: 'identity',
    importance: IDENTITY_IMPORTANCE,
    salience: IDENTITY_SALIENCE,
    // What is pinned is shown always; that is for a person to decide here.
    ...(trust === 'suspect' ? {} : { pinned: true, metadata: AUTO_PIN }),
    trust,
    observedAt: source.observedAt,
    provenance: buildProvenance(source, version),
  }
}

/** Where none are named it may be any, and the one to believe least decides. */
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

/** What stands beside an attempt to take over may be part of it. */
function isInjected(turn: SelectedTurn): boolean {
  const known = hijacked.get(turn) ?? isInstructionOverride(turn.text)
  hijacked.set(turn, known)
  return known
}

/** Each turn is read once, however many facts may be from it. */
const hijacked = new WeakMap<SelectedTurn, boolean>()

/** The person's own words count most; nobody knows whose they are where no turn is named. */
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
