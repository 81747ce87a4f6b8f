/** The episode of a session: one memory, which every distillation of the session goes on with. */

import type { MemoryId, SessionId, TurnId } from '../../domain/ids.ts'
import { PROVENANCE_TURNS_MAX } from '../../domain/limits.ts'
import { DISTILLATION_EXTRACTOR, type Memory } from '../../domain/memory.ts'
import type { Place, Scope } from '../../domain/scope.ts'
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

type SessionPlace = Place & { readonly session: SessionId }

const HASH_CHARACTERS = 40
const LINES_MAX = 20

/** Of one list as JSON: all of them must fit into the metadata of a memory, beside what a person may have put there. */
const LIST_CHARACTERS_MAX = 3_000
const ENTITIES_MAX = 64

/** Sessions may have longer names than keys. */
export function buildEpisodeKey(session: SessionId): string {
  return `episode:${sha256(session).slice(0, HASH_CHARACTERS)}`
}

/** Where the digest of a session is found, and its own one, which may have become part of that. */
export type KnownEpisode = { readonly own: Memory; readonly found: Memory }

/** The digest of a session; the one that it became part of, where it did. */
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

/** Null unless it is a digest that is still told. */
async function findSuccessor(
  { store }: MemoryDependencies,
  home: Scope,
  own: Memory,
): Promise<Memory | null> {
  const passed = new Set([own.id])
  let next = own.supersededBy
  while (next !== null && !passed.has(next)) {
    passed.add(next)
    const heir: Memory | null = await store.get('memory', home, next)
    if (heir === null || heir.category !== 'episode' || heir.status === 'forgotten') return null
    if (heir.status !== 'superseded') return heir
    next = heir.supersededBy
  }
  return null
}

/** `earlier`: the session's own, also where it became part of another. Null when it was forgotten after all of this was said. */
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
  // The one of the session is replaced in any case; whether it is to be believed is told by what it says now.
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
  const joined = (name: string, more: readonly string[]) =>
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
      topics: joined('topics', topics),
      decisions: joined('decisions', decisions),
      actionItems: joined('actionItems', actionItems),
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

/** Distinct, in order; when there are too many, the newest. */
function mergeLists<Text extends string>(
  known: readonly Text[],
  more: readonly Text[],
  countMax: number,
): readonly Text[] {
  return [...new Set([...known, ...more])].slice(-countMax)
}

/** The newest that fit. */
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
