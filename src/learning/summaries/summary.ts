/** Rule-based summaries: one line per memory with its first sentences. */

import type { MemoryId, UserId } from '../../domain/ids.ts'
import { CONTENT_CHARACTERS_MAX } from '../../domain/limits.ts'
import { type Memory, TRUST_LEVELS } from '../../domain/memory.ts'
import type { Place } from '../../domain/scope.ts'
import { IMPORTANCE_DEFAULT, SALIENCE_DEFAULT } from '../../memory/draft.ts'
import type { ChangeStamp } from '../../memory/memory-changes.ts'
import { isExemptFromDecay } from '../../memory/salience-decay.ts'
import { SUMMARY_PROMPT_VERSION } from './summary-prompt.ts'

const EXTRACTOR = 'summary'

/** Increment with every change of the rules that changes their output. */
const RULES_VERSION = 'rules-1'
const SENTENCES = 3
const LINE_CHARACTERS_MAX = 400

/** Memories per summary; more would recall badly and make the commit slow. */
const MEMORIES_MAX = 50

/** A summary of fewer memories saves nothing. */
const MEMORIES_MIN = 2

/** Excludes memories that do not decay, expire by themselves, await review or are summaries. */
export function isSummarizable(memory: Memory): boolean {
  return (
    memory.status === 'active' &&
    !isExemptFromDecay(memory) &&
    memory.trust !== 'suspect' &&
    memory.expiresAt === null &&
    memory.validUntil === null &&
    memory.provenance.extractor !== EXTRACTOR
  )
}

/** Groups memories by user and size; groups of one are dropped. */
export function groupForSummary(memories: readonly Memory[]): readonly (readonly Memory[])[] {
  return [...groupByUser(memories).values()]
    .flatMap(splitIntoGroups)
    .filter((group) => group.length >= MEMORIES_MIN)
}

function groupByUser(memories: readonly Memory[]): ReadonlyMap<UserId | null, readonly Memory[]> {
  const groups = new Map<UserId | null, Memory[]>()
  for (const memory of memories) {
    const group = groups.get(memory.place.user)
    if (group === undefined) groups.set(memory.place.user, [memory])
    else group.push(memory)
  }
  return groups
}

function splitIntoGroups(memories: readonly Memory[]): readonly (readonly Memory[])[] {
  let part: Memory[] = []
  const parts = [part]
  let length = 0
  for (const memory of memories) {
    const line = renderLine(memory).length + 1
    if (length + line > CONTENT_CHARACTERS_MAX || part.length === MEMORIES_MAX) {
      part = []
      parts.push(part)
      length = 0
    }
    part.push(memory)
    length += line
  }
  return parts
}

export function condenseMemories(group: readonly Memory[]): string {
  return group.map(renderLine).join('\n')
}

function renderLine({ type, key, content }: Memory): string {
  const sentences = content.match(/[^.!?。！？\n]+[.!?。！？\n]*/gu) ?? [content]
  const text = sentences.slice(0, SENTENCES).join('').replaceAll(/\s+/gu, ' ').trim()
  const characters = [...text]
  const short =
    characters.length > LINE_CHARACTERS_MAX
      ? `${characters.slice(0, LINE_CHARACTERS_MAX - 1).join('')}…`
      : text
  return key === null ? `[${type}] ${short}` : `[${type}] ${key}: ${short}`
}

export type SummaryDraft = {
  readonly id: MemoryId
  readonly place: Place
  readonly content: string
  /** The author of the wording. */
  readonly wording: 'rules' | 'model'
}

export function buildSummaryMemory(
  group: readonly Memory[],
  { id, place, content, wording }: SummaryDraft,
  { change, now }: ChangeStamp,
): Memory {
  return {
    id,
    place,
    key: null,
    content,
    type: 'semantic',
    category: 'general',
    importance: Math.max(IMPORTANCE_DEFAULT, ...group.map(({ importance }) => importance)),
    salience: SALIENCE_DEFAULT,
    pinned: false,
    trust: getLowestTrust(group),
    status: 'active',
    validFrom: null,
    validUntil: null,
    supersededBy: null,
    conflictsWith: null,
    expiresAt: null,
    provenance: {
      source: 'summary',
      speaker: null,
      turns: [],
      extractor: EXTRACTOR,
      extractorVersion: wording === 'model' ? SUMMARY_PROMPT_VERSION : RULES_VERSION,
    },
    entities: [],
    language: null,
    metadata: { memories: group.length, wording },
    sourceCount: group.length,
    useCount: 0,
    lastUsedAt: null,
    version: 1,
    change,
    createdAt: now,
    updatedAt: now,
  }
}

/** A summary is only as trusted as its least trusted source. */
function getLowestTrust(group: readonly Memory[]): Memory['trust'] {
  const level = Math.max(...group.map(({ trust }) => TRUST_LEVELS.indexOf(trust)))
  return TRUST_LEVELS[level] ?? 'import'
}
