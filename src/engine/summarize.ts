/**
 * Summarizing without a model: old memories of a user become lines of one memory, and give way to it. Nothing is lost:
 * they are superseded, not removed, and the change can be undone.
 */

import { IMPORTANCE_DEFAULT, SALIENCE_DEFAULT } from '../core/draft.ts'
import { AppError } from '../core/errors.ts'
import type { Instant, MemoryId, Place, Scope, UserId } from '../core/ids.ts'
import { CONTENT_CHARACTERS_MAX } from '../core/limits.ts'
import { type Memory, TRUST_LEVELS } from '../core/memory.ts'
import { estimateTokens } from '../core/tokens.ts'
import type { Change } from '../ports/store.ts'
import { replacing, stamp } from './changes.ts'
import { pages } from './paging.ts'
import type { EnginePorts } from './ports.ts'
import { nextTurn } from './turns.ts'

export type SummarizeOptions = {
  /** 1 to 365; default 30. */
  readonly olderThanDays?: number
  readonly dryRun?: boolean
}

export type Summarized = {
  readonly candidates: readonly Memory[]
  readonly totalTokens: number
  /** How many tokens fewer the summaries take. */
  readonly tokensSaved: number
  readonly superseded: number
  readonly summaries: readonly Memory[]
}

const DAYS_DEFAULT = 30
const DAYS_MAX = 365
const DAY_MS = 86_400_000
/** Of one call; another call takes the next ones. Each takes two changes of a commit. */
const MEMORIES_MAX = 500
const SENTENCES = 3
const LINE_CHARACTERS_MAX = 400
/** A summary of fewer saves nothing. */
const MEMORIES_MIN = 2

export async function summarize(
  ports: EnginePorts,
  scope: Scope,
  { olderThanDays = DAYS_DEFAULT, dryRun = false }: SummarizeOptions,
): Promise<Summarized> {
  if (!Number.isInteger(olderThanDays) || olderThanDays < 1 || olderThanDays > DAYS_MAX) {
    throw new AppError('invalid_input', `olderThanDays is a whole number from 1 to ${DAYS_MAX}.`, {
      field: 'olderThanDays',
    })
  }
  const mark = stamp(ports)
  const candidates = await oldOnes(
    ports,
    scope,
    (mark.now - olderThanDays * DAY_MS) as Instant,
    mark.now,
  )
  const count = ports.countTokens ?? estimateTokens
  const tokensOf = (memories: readonly Memory[]) =>
    memories.reduce((sum, { content }) => sum + count(content), 0)
  const groups = [...byUser(candidates).values()].flatMap(inParts)
  const meant = groups.filter((group) => group.length >= MEMORIES_MIN)
  const summaries = meant.flatMap((group) =>
    group
      .slice(0, 1)
      .map(({ place }) => summaryOf(group, place, ports.ids.next('mem', mark.now), mark)),
  )
  const told = {
    candidates: meant.flat(),
    totalTokens: tokensOf(meant.flat()),
    tokensSaved: Math.max(0, tokensOf(meant.flat()) - tokensOf(summaries)),
  }
  if (dryRun) return { ...told, superseded: 0, summaries: [] }
  let superseded = 0
  const kept: Memory[] = []
  for (const [index, summary] of summaries.entries()) {
    const group = meant[index] ?? []
    const changes = [
      { op: 'put', table: 'memory', row: summary, expect: 'absent' } satisfies Change,
      ...group.flatMap((memory) => replacing(ports, memory, gaveWayTo(memory, summary))),
    ]
    const outcome = await ports.store.commit(changes)
    await nextTurn()
    // Somebody changed one of them meanwhile: these wait for the next call.
    if (outcome.kind === 'conflict') continue
    superseded += group.length
    kept.push(summary)
  }
  return { ...told, superseded, summaries: kept }
}

/** What is pinned, will end by itself or is a summary already stays as it is. */
async function oldOnes({ store }: EnginePorts, scope: Scope, before: Instant, now: Instant) {
  const found: Memory[] = []
  const where = {
    statuses: ['active'],
    createdBefore: before,
    pinned: false,
    unendedAt: now,
  } as const
  for await (const page of pages(store, 'memory', scope, { where, order: 'oldest' })) {
    found.push(
      ...page.filter(
        ({ provenance, expiresAt, validUntil }) =>
          provenance.extractor !== EXTRACTOR && expiresAt === null && validUntil === null,
      ),
    )
    if (found.length >= MEMORIES_MAX) break
  }
  return found.slice(0, MEMORIES_MAX)
}

const EXTRACTOR = 'summary'

function byUser(memories: readonly Memory[]): ReadonlyMap<UserId | null, readonly Memory[]> {
  const groups = new Map<UserId | null, Memory[]>()
  for (const memory of memories) {
    const group = groups.get(memory.place.user)
    if (group === undefined) groups.set(memory.place.user, [memory])
    else group.push(memory)
  }
  return groups
}

/** As many as fit into one memory each. */
function inParts(memories: readonly Memory[]): readonly (readonly Memory[])[] {
  const parts: Memory[][] = [[]]
  let length = 0
  for (const memory of memories) {
    const line = lineOf(memory).length + 1
    if (length + line > CONTENT_CHARACTERS_MAX) {
      parts.push([])
      length = 0
    }
    parts.at(-1)?.push(memory)
    length += line
  }
  return parts
}

function lineOf({ type, key, content }: Memory): string {
  const sentences = content.match(/[^.!?。！？\n]+[.!?。！？\n]*/gu) ?? [content]
  const text = sentences.slice(0, SENTENCES).join('').replaceAll(/\s+/gu, ' ').trim()
  const characters = [...text]
  const short =
    characters.length > LINE_CHARACTERS_MAX
      ? `${characters.slice(0, LINE_CHARACTERS_MAX - 1).join('')}…`
      : text
  return key === null ? `[${type}] ${short}` : `[${type}] ${key}: ${short}`
}

function summaryOf(
  group: readonly Memory[],
  place: Place,
  id: MemoryId,
  { change, now }: { readonly change: Memory['change']; readonly now: Instant },
): Memory {
  return {
    id,
    place: { ...place, session: null },
    key: null,
    content: group.map(lineOf).join('\n'),
    type: 'semantic',
    category: 'general',
    importance: Math.max(IMPORTANCE_DEFAULT, ...group.map(({ importance }) => importance)),
    salience: SALIENCE_DEFAULT,
    pinned: false,
    trust: leastTrusted(group),
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
      extractorVersion: '1',
    },
    entities: [],
    language: null,
    metadata: { memories: group.length },
    sourceCount: group.length,
    useCount: 0,
    lastUsedAt: null,
    version: 1,
    change,
    createdAt: now,
    updatedAt: now,
  }
}

/** A summary is worth no more than the weakest of what it says. */
function leastTrusted(group: readonly Memory[]): Memory['trust'] {
  const level = Math.max(...group.map(({ trust }) => TRUST_LEVELS.indexOf(trust)))
  return TRUST_LEVELS[level] ?? 'import'
}

function gaveWayTo(memory: Memory, summary: Memory): Memory {
  return {
    ...memory,
    status: 'superseded',
    supersededBy: summary.id,
    version: memory.version + 1,
    change: summary.change,
    updatedAt: summary.updatedAt,
  }
}
