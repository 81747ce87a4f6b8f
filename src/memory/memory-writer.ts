/** Writing: one statement, or every fact that pattern extraction finds in a text. */

import type { MemoryId } from '../domain/ids.ts'
import type { Memory } from '../domain/memory.ts'
import { type Scope, toPlace } from '../domain/scope.ts'
import { resolveSettings } from '../domain/settings/settings.ts'
import { getBlockingTombstoneIds } from '../domain/tombstone.ts'
import type { Verdict } from '../domain/verdict.ts'
import { AppError } from '../lib/errors.ts'
import { withTimeout } from '../lib/timeout.ts'
import { commitWithRetry, createChangeStamp } from '../storage/access/optimistic-commit.ts'
import type { Change } from '../storage/store.ts'
import { type DraftInput, parseDraft } from './draft.ts'
import { buildReplacement } from './memory-changes.ts'
import { findSimilarMemories, isPlainStatement } from './similar-memories.ts'
import type { MemoryDependencies } from './types.ts'
import {
  decideWrite,
  findUndecidedMemory,
  type WriteContext,
  type WriteDecision,
} from './write-decision.ts'

/** What became of a statement. `memory` is the one that now holds it. */
export type RememberResult = {
  readonly outcome: Exclude<WriteDecision['kind'], 'refused'>
  readonly memory: Memory
  /** The memory that was replaced, superseded, reinforced or contradicted. */
  readonly other: Memory | null
  readonly reason: string | null
}

export async function remember(
  ports: MemoryDependencies,
  scope: Scope,
  input: DraftInput,
): Promise<RememberResult> {
  const decision = await writeDraft(ports, scope, input)
  if (decision.kind === 'refused') {
    throw new AppError('forgotten', 'This was forgotten after it was said, and stays forgotten.')
  }
  return toRememberResult(decision)
}

export async function writeDraft(
  ports: MemoryDependencies,
  scope: Scope,
  input: DraftInput,
  isHistory = false,
): Promise<WriteDecision> {
  const { store, ids } = ports
  const place = toPlace(scope)
  const home: Scope = { owner: place.owner, user: place.user }
  const settings = resolveSettings(ports.settings)
  const draft = parseDraft(input, ports.clock.now())
  let id: MemoryId | undefined
  // Asked once, also when something changes meanwhile and all is decided again.
  const verdicts = new Map<string, Verdict>()
  return commitWithRetry(ports, async () => {
    const { change, now } = createChangeStamp(ports)
    id ??= ids.next('mem', now)
    const blocking = getBlockingTombstoneIds(place, draft)
    const { rows: tombstones } = await store.find('tombstone', home, {
      where: { ids: blocking },
      limit: blocking.length,
    })
    const sameKey = draft.key === null ? null : await findKeyHolder(ports, home, draft.key)
    const found = await findSimilarMemories(
      ports,
      place,
      draft,
      settings['memory.similarMemoriesMax'],
    )
    const isEpisode = draft.fields.category === 'episode'
    const memories = isEpisode ? found.memories : found.memories.filter(isPlainStatement)
    const { close } = found
    const context: WriteContext = {
      draft,
      place,
      now,
      change,
      id,
      sameKey,
      similarMemories: memories,
      tombstones,
      isHistory,
      reinforcement: settings['memory.reinforcementRate'],
    }
    const decision = await decideWithAdjudicator(ports, context, close, verdicts)
    // Forgetting may happen between this look and the commit; then the commit must not go through.
    const guards = blocking.map((id): Change => {
      const known = tombstones.find((tombstone) => tombstone.id === id)
      const expect = known === undefined ? 'absent' : { version: known.version }
      return { op: 'check', table: 'tombstone', scope: home, id, expect }
    })
    const changes = buildChanges(ports, decision)
    return { changes: changes.length === 0 ? [] : [...guards, ...changes], result: decision }
  })
}

export async function findKeyHolder(
  { store }: MemoryDependencies,
  home: Scope,
  key: string,
): Promise<Memory | null> {
  const where = { key, statuses: ['active', 'disabled'] } as const
  const { rows } = await store.find('memory', home, { where, limit: 1 })
  return rows[0] ?? null
}

/** How long somebody who writes, and those who write after them, wait for someone else's judgement. */
const ADJUDICATION_MS = 2_000

/** What rules decide; where they find nothing to say about a close neighbour, what they make of a verdict on it. */
export async function decideWithAdjudicator(
  { adjudicate }: MemoryDependencies,
  context: WriteContext,
  close: ReadonlySet<MemoryId>,
  verdicts: Map<string, Verdict>,
  ms = ADJUDICATION_MS,
): Promise<WriteDecision> {
  const decision = decideWrite({ ...context, verdicts })
  if (adjudicate === undefined) return decision
  const doubtful = findUndecidedMemory(context, decision, close)
  if (doubtful === null || verdicts.has(doubtful.content)) return decision
  const asked = await withTimeout(ms, (signal) =>
    adjudicate(doubtful.content, context.draft.content, signal),
  )
  verdicts.set(doubtful.content, asked.kind === 'done' ? asked.result : 'unsure')
  return decideWrite({ ...context, verdicts })
}

function buildChanges(ports: MemoryDependencies, decision: WriteDecision): readonly Change[] {
  const creating = (row: Memory): Change => ({ op: 'put', table: 'memory', row, expect: 'absent' })
  switch (decision.kind) {
    case 'refused':
      return []
    case 'create':
    case 'conflict':
      return [creating(decision.memory)]
    case 'update':
    case 'duplicate':
      return [
        ...buildReplacement(ports, decision.previous, decision.memory),
        ...(decision.absorbed === undefined ? [] : [creating(decision.absorbed)]),
      ]
    case 'supersede':
      return [
        ...buildReplacement(ports, decision.previous, decision.superseded),
        creating(decision.memory),
      ]
  }
}

export function toRememberResult(
  decision: Exclude<WriteDecision, { kind: 'refused' }>,
): RememberResult {
  const other =
    decision.kind === 'create'
      ? null
      : decision.kind === 'conflict'
        ? decision.conflicting
        : decision.previous
  return {
    outcome: decision.kind,
    memory: decision.memory,
    other,
    reason: 'because' in decision ? decision.because : null,
  }
}
