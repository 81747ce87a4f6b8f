/** The episode of a session: one memory that every distillation of the session updates. */

import type { MemoryId, SessionId, TurnId } from '../../domain/ids.ts'
import { PROVENANCE_TURNS_MAX } from '../../domain/limits.ts'
import { DISTILLATION_EXTRACTOR, type Memory } from '../../domain/memory.ts'
import type { Scope, SessionPlace } from '../../domain/scope.ts'
import { sha256 } from '../../lib/hash.ts'
import type { Json } from '../../lib/json.ts'
import type { Instant } from '../../lib/time.ts'
import { type DraftInput, parseDraft } from '../../memory/draft.ts'
import { findKeyHolder } from '../../memory/memory-writer.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import type { WriteBatch } from '../../memory/write-batch.ts'
import { isInstructionOverride } from '../../text/prompt-injection.ts'
import type { DistilledEpisode } from './distillate.ts'
import { DISTILLATION_VERSION } from './distillation-prompt.ts'
import type { SelectedTurn } from './turn-selection.ts'

const HASH_CHARACTERS = 40
const LINES_MAX = 20

/** Per list as JSON, so that all lists fit into the metadata of a memory beside fields that callers set. */
const LIST_CHARACTERS_MAX = 3_000
const ENTITIES_MAX = 64

/** Hashed, because session names may be longer than keys. */
export function buildEpisodeKey(session: SessionId): string {
  return `episode:${sha256(session).slice(0, HASH_CHARACTERS)}`
}

/** `own` is the episode of the session; `found` is the active one that it was merged into, or itself. */
export type KnownEpisode = { readonly own: Memory; readonly found: Memory }

/** The active episode that covers a session. */
export async function findEpisode(
  ports: MemoryDependencies,
  place: SessionPlace,
): Promise<Memory | null> {
  return (await loadEpisode(ports, place))?.found ?? null
}

export async function loadEpisode(
  ports: MemoryDependencies,
  { owner, user, session }: SessionPlace,
): Promise<KnownEpisode | null> {
  const home = { owner, user }
  const key = buildEpisodeKey(session)
  const holder = await findKeyHolder(ports, home, key)
  if (holder !== null) return { own: holder, found: holder }
  const where = { key, statuses: ['superseded'], categories: ['episode'] } as const
  const { rows } = await ports.store.find('memory', home, { where, order: 'newest', limit: 1 })
  const [own] = rows
  const found = own === undefined ? null : await findSuccessor(ports, home, own)
  return own === undefined || found === null ? null : { own, found }
}

/** Follows supersession to an episode that is not superseded; null when there is none. */
async function findSuccessor(
  { store }: MemoryDependencies,
  home: Scope,
  own: Memory,
): Promise<Memory | null> {
  const visited = new Set([own.id])
  let next = own.supersededBy
  while (next !== null && !visited.has(next)) {
    visited.add(next)
    const successor: Memory | null = await store.get('memory', home, next)
    if (successor === null || successor.category !== 'episode' || successor.status === 'forgotten')
      return null
    if (successor.status !== 'superseded') return successor
    next = successor.supersededBy
  }
  return null
}

/** `earlier`: the session's own episode, also when merged into another. Null when a tombstone newer than the turns refuses it. */
export async function writeEpisode(
  batch: WriteBatch,
  session: SessionId,
  episode: DistilledEpisode,
  earlier: Memory | null,
  shown: readonly SelectedTurn[],
  turns: readonly TurnId[],
  now: Instant,
): Promise<MemoryId | null> {
  const input = buildEpisodeDraft(session, episode, earlier, shown, turns)
  const revived = earlier?.status === 'superseded' ? earlier : null
  const decision = await batch.add(parseDraft(input, now), { keyOnly: true, revived })
  if (decision.kind === 'refused') return null
  const lines = Object.values(input.metadata ?? {})
    .flat()
    .map(String)
  const isSuspect = [episode.summary, ...lines].some(isInstructionOverride)
  // The write keeps the trust of the earlier version; only the new text decides.
  batch.amend({ ...decision.memory, trust: isSuspect ? 'suspect' : 'user' })
  return decision.memory.id
}

function buildEpisodeDraft(
  session: SessionId,
  { summary, topics, entities, decisions, actionItems, salience }: DistilledEpisode,
  earlier: Memory | null,
  shown: readonly SelectedTurn[],
  turns: readonly TurnId[],
): DraftInput {
  const times = shown.map(({ turn }) => turn.saidAt)
  const happenedAt = Math.min(earlier?.validFrom ?? Number.POSITIVE_INFINITY, ...times) as Instant
  const mergeList = (name: string, more: readonly string[]) =>
    takeWithinLimit(mergeLists(toTextList(earlier?.metadata[name]), more, LINES_MAX))
  return {
    content: summary,
    key: buildEpisodeKey(session),
    type: 'episodic',
    category: 'episode',
    ...(salience === null ? {} : { salience: Math.max(salience, earlier?.salience ?? 0) }),
    validFrom: happenedAt,
    entities: mergeLists(earlier?.entities ?? [], entities, ENTITIES_MAX),
    metadata: {
      topics: mergeList('topics', topics),
      decisions: mergeList('decisions', decisions),
      actionItems: mergeList('actionItems', actionItems),
    },
    observedAt: Math.max(...times),
    provenance: {
      source: DISTILLATION_EXTRACTOR,
      turns: mergeLists(earlier?.provenance.turns ?? [], turns, PROVENANCE_TURNS_MAX),
      extractor: DISTILLATION_EXTRACTOR,
      extractorVersion: DISTILLATION_VERSION,
    },
  }
}

/** Distinct values in order, limited to the newest. */
function mergeLists<Text extends string>(
  known: readonly Text[],
  more: readonly Text[],
  countMax: number,
): readonly Text[] {
  return [...new Set([...known, ...more])].slice(-countMax)
}

/** The newest lines within the limit. */
function takeWithinLimit(lines: readonly string[]): readonly string[] {
  const kept: string[] = []
  let left = LIST_CHARACTERS_MAX
  for (const line of [...lines].reverse()) {
    left -= JSON.stringify(line).length + 1
    if (left < 0) break
    kept.unshift(line)
  }
  return kept
}

function toTextList(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}
