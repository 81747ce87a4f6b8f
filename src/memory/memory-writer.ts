/** The write path: reads what is known, decides (`write-decision.ts`), commits. */

import type { MemoryId } from '../domain/ids.ts'
import type { Memory } from '../domain/memory.ts'
import { type Scope, type ScopeInput, toPlace, toUserScope } from '../domain/scope.ts'
import { resolveSettings } from '../domain/settings/settings.ts'
import type { Verdict } from '../domain/verdict.ts'
import { AppError } from '../lib/errors.ts'
import { KeyedMutex } from '../lib/mutex.ts'
import { withTimeout } from '../lib/timeout.ts'
import { commitWithRetry, createChangeStamp } from '../storage/access/optimistic-commit.ts'
import type { Change } from '../storage/store.ts'
import { type DraftInput, parseDraft } from './draft.ts'
import { buildReplacement } from './memory-changes.ts'
import { findSimilarMemories, isPlainStatement } from './similar-memories.ts'
import { loadBlockingTombstones } from './tombstones.ts'
import type { MemoryDependencies } from './types.ts'
import {
  decideWrite,
  findUndecidedMemory,
  type WriteContext,
  type WriteDecision,
} from './write-decision.ts'

/** The outcome of a write. `memory` holds the statement now. */
export type RememberResult = {
  readonly outcome: Exclude<WriteDecision['kind'], 'refused'>
  readonly memory: Memory
  /** The memory that was replaced, superseded, reinforced or contradicted. */
  readonly other: Memory | null
  readonly reason: string | null
}

export async function remember(
  deps: MemoryDependencies,
  scope: Scope,
  input: DraftInput,
  disputed: Memory | null = null,
): Promise<RememberResult> {
  const decision = await writeDraft(deps, scope, input, { disputed })
  if (decision.kind === 'refused') {
    throw new AppError(
      'forgotten',
      'This statement was forgotten after it was observed; it is not stored again.',
    )
  }
  return toRememberResult(decision)
}

export type WriteOptions = {
  /** Whether the statement was made at an unknown earlier time. */
  readonly isHistory?: boolean
  /** The memory that the statement disputes, whatever rules say about both. */
  readonly disputed?: Memory | null
  /** Only decides, and stores nothing. */
  readonly dryRun?: boolean
}

export async function writeDraft(
  deps: MemoryDependencies,
  scope: Scope,
  input: DraftInput,
  { isHistory = false, disputed = null, dryRun = false }: WriteOptions = {},
): Promise<WriteDecision> {
  const place = toPlace(scope)
  const settings = resolveSettings(deps.settings)
  const draft = parseDraft(input, deps.clock.now())
  let id: MemoryId | undefined
  // Outlives the attempts to commit, so that the adjudicator is asked once.
  const verdicts = new Map<string, Verdict>()
  return commitWithRetry(deps, async () => {
    const { change, now } = createChangeStamp(deps)
    id ??= deps.ids.next('mem', now)
    const { tombstones, guards } = await loadBlockingTombstones(deps, place, draft)
    const keyHolder =
      draft.key === null ? null : await findKeyHolder(deps, toUserScope(place), draft.key)
    const { memories, close } = await findSimilarMemories(
      deps,
      place,
      draft,
      settings['memory.similarMemoriesMax'],
    )
    const isEpisode = draft.fields.category === 'episode'
    const context: WriteContext = {
      draft,
      place,
      now,
      change,
      id,
      keyHolder,
      similarMemories: isEpisode ? memories : memories.filter(isPlainStatement),
      tombstones,
      isHistory,
      disputed,
      reinforcementRate: settings['memory.reinforcementRate'],
      paraphrases: settings['memory.mergeParaphrases'] ? close : null,
    }
    const decision = await decideWithAdjudicator(deps, context, close, verdicts)
    const changes = dryRun ? [] : buildChanges(deps, decision)
    return {
      changes: changes.length === 0 ? [] : [...guards.values(), ...changes],
      result: decision,
    }
  })
}

export async function findKeyHolder(
  { store }: MemoryDependencies,
  scope: Scope,
  key: string,
): Promise<Memory | null> {
  const where = { key, statuses: ['active', 'disabled'] } as const
  const { rows } = await store.find('memory', scope, { where, limit: 1 })
  return rows[0] ?? null
}

/** How long a writer, and the writers queued behind it, wait for the adjudicator. */
const ADJUDICATION_TIMEOUT_MS = 2_000

/** Decides by rules; where they cannot compare a close memory, asks the adjudicator and decides again. */
export async function decideWithAdjudicator(
  { adjudicate }: MemoryDependencies,
  context: WriteContext,
  close: ReadonlySet<MemoryId>,
  verdicts: Map<string, Verdict>,
  timeoutMs = ADJUDICATION_TIMEOUT_MS,
): Promise<WriteDecision> {
  const decision = decideWrite({ ...context, verdicts })
  if (adjudicate === undefined) return decision
  const undecided = findUndecidedMemory(context, decision, close)
  if (undecided === null || verdicts.has(undecided.content)) return decision
  const answer = await withTimeout(timeoutMs, (signal) =>
    adjudicate(undecided.content, context.draft.content, signal),
  )
  verdicts.set(undecided.content, answer.kind === 'done' ? answer.result : 'unsure')
  return decideWrite({ ...context, verdicts })
}

function buildChanges(deps: MemoryDependencies, decision: WriteDecision): readonly Change[] {
  const create = (row: Memory): Change => ({ op: 'put', table: 'memory', row, expect: 'absent' })
  switch (decision.kind) {
    case 'refused':
      return []
    case 'create':
    case 'conflict':
      return [create(decision.memory)]
    case 'update':
    case 'duplicate':
      return [
        ...buildReplacement(deps, decision.previous, decision.memory),
        ...(decision.absorbed === undefined ? [] : [create(decision.absorbed)]),
      ]
    case 'supersede':
      return [
        ...[decision, ...decision.others].flatMap(({ previous, superseded }) =>
          buildReplacement(deps, previous, superseded),
        ),
        create(decision.memory),
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
    reason: 'reason' in decision ? decision.reason : null,
  }
}

export type Serialize = <Result>(scope: ScopeInput, task: () => Promise<Result>) => Promise<Result>

/**
 * Serializes the writes of one owner and user. Concurrent decisions would not see each other's statements and would store
 * the same fact twice.
 */
export function createWriteSerializer(): Serialize {
  const mutex = new KeyedMutex()
  return (scope, task) => mutex.run(JSON.stringify([scope?.owner, scope?.user ?? null]), task)
}
