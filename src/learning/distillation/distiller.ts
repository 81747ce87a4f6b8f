/**
 * Distillation turns the conversation of a session into memories.
 *
 *   read      the pending signals and their turns
 *   extract   call the model once, with one repair attempt
 *   ground    check every statement against the turns
 *   decide    compare each fact with known memories and with the facts before it
 *   commit    episode, facts, identity and the marks on the signals, atomically
 *
 * Patterns extract facts where there is no model or too little text for one; without a model the signals stay pending.
 *
 * Only signals that were read are marked, and only if they and their turns are unchanged. After a failure the signals
 * stay pending and count their attempts.
 */

import type { ChangeId, MemoryId, TurnId } from '../../domain/ids.ts'
import { PAGE_ROWS_MAX } from '../../domain/limits.ts'
import type { Memory } from '../../domain/memory.ts'
import type { Scope, SessionPlace } from '../../domain/scope.ts'
import type { Signal } from '../../domain/signal.ts'
import type { Turn } from '../../domain/turn.ts'
import { AppError, toAppError } from '../../lib/errors.ts'
import type { Instant } from '../../lib/time.ts'
import type { DraftInput } from '../../memory/draft.ts'
import type { ChangeStamp } from '../../memory/memory-changes.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import { type VerdictCache, WriteBatch } from '../../memory/write-batch.ts'
import type { WriteDecision } from '../../memory/write-decision.ts'
import {
  commitWithRetry,
  createChangeStamp,
  type PlannedCommit,
} from '../../storage/access/optimistic-commit.ts'
import type { Change } from '../../storage/store.ts'
import { normalizeStatement } from '../../text/fingerprint.ts'
import {
  completeStructured,
  InvalidAnswerError,
  type NamedModel,
  type TokensUsed,
} from '../completions/completion.ts'
import { limitAdjudications } from '../completions/model-tasks.ts'
import { gradeIdentity } from '../identity/identity-grade.ts'
import {
  countPendingSignals,
  loadSignals,
  markProcessed,
  markScanned,
  recordFailure,
  reloadSignals,
} from '../signals.ts'
import type { Distillate } from './distillate.ts'
import {
  buildSessionTask,
  buildTurnsTask,
  type DistillationMode,
  type DistillationTask,
  loadDistillationContext,
  loadPrecedingTurns,
  loadTurns,
} from './distillation-task.ts'
import { findEpisode, loadEpisode, writeEpisode } from './episode-writer.ts'
import {
  buildFactDraft,
  extractPatternFacts,
  extractTurnFacts,
  isUserTurn,
  PATTERN_FACTS_MAX,
} from './fact-drafts.ts'
import { addFact, countDecisions, isIdentityAddition, writeFacts } from './fact-writer.ts'
import { type GroundedDistillate, groundDistillate, listUserNames } from './grounded-distillate.ts'
import {
  createDistillation,
  type Distillation,
  type DistillationOutcome,
  mergeDistillations,
  NO_FACTS,
} from './outcome.ts'
import { EXTRACTED_TURNS_MAX } from './turn-prompt.ts'

export type DistillerDependencies = {
  /** With the settings of the owner applied. */
  readonly ports: MemoryDependencies
  /** Null when no model is configured. */
  readonly model: NamedModel | null
  /** Serializes the writes of one owner and user. */
  readonly serialize?: <Result>(scope: Scope, work: () => Promise<Result>) => Promise<Result>
  /** A check that fails the commit when the lease was lost. */
  readonly fence?: () => Promise<Change>
}

/** Restarts for a session that changes during the model call. */
const ROUNDS_MAX = 3

/** Signals per distillation, so that their marks fit into its commit. */
const SIGNALS_MAX = 500

/** Model calls per distillation that compare a fact with a known one. */
const VERDICTS_MAX = 8

/** Never fails: the outcome reports errors. */
export async function distillSession(
  dependencies: DistillerDependencies,
  place: SessionPlace,
  signal: AbortSignal,
  mode: DistillationMode = 'session',
): Promise<Distillation> {
  const spent: TokensUsed = { input: 0, output: 0 }
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const result = await new DistillationRound(dependencies, place, signal, mode, spent).run()
    if (result !== 'changed') return result
  }
  const pending = await countPendingSignals(dependencies.ports, place).catch(() => 0) // the count is informative only
  return createDistillation('skipped:changed', { tokens: { ...spent }, pending })
}

/** The state that was read at the start and that the commit checks. */
type SessionSnapshot = {
  readonly signals: readonly Signal[]
  readonly turns: readonly Turn[]
  /** Preceding turns as context in `turns` mode. */
  readonly before: readonly Turn[]
  readonly isContinued: boolean
  /** The number of further pending signals. */
  readonly remaining: number
}

type StoredFacts = Pick<Distillation, 'episode' | 'facts' | 'identity'>
type WriteFacts = (batch: WriteBatch, mark: ChangeStamp) => Promise<StoredFacts>

/** What to commit for a snapshot, and the outcome to report. */
type DistillationCommit = {
  readonly outcome: DistillationOutcome
  readonly write?: WriteFacts
  readonly verdicts?: VerdictCache
  /** Marks the signals; default: as processed. */
  readonly mark?: typeof markProcessed
}

class DistillationRound {
  readonly #dependencies: DistillerDependencies
  readonly #ports: MemoryDependencies
  readonly #place: SessionPlace
  readonly #signal: AbortSignal
  readonly #mode: DistillationMode
  readonly #spent: TokensUsed
  #snapshot: SessionSnapshot | null = null

  constructor(
    dependencies: DistillerDependencies,
    place: SessionPlace,
    signal: AbortSignal,
    mode: DistillationMode,
    spent: TokensUsed,
  ) {
    this.#dependencies = dependencies
    this.#ports = dependencies.ports
    this.#place = place
    this.#signal = signal
    this.#mode = mode
    this.#spent = spent
  }

  async run(): Promise<Distillation | 'changed'> {
    try {
      return await this.#distill()
    } catch (thrown) {
      return this.#handleFailure(toAppError(thrown))
    }
  }

  async #distill(): Promise<Distillation | 'changed'> {
    this.#throwIfCancelled()
    const { model } = this.#dependencies
    if (model === null) return this.#scanWithPatterns()
    const snapshot = await this.#readSnapshot()
    if (snapshot.signals.length === 0) return this.#report('no_signals', await this.#getEpisodeId())
    this.#snapshot = snapshot
    if (snapshot.turns.length === 0) return this.#commit(snapshot, { outcome: 'empty:no_turns' })
    const task = await this.#buildTask(snapshot)
    if (task.isTrivial) {
      const write = this.#buildFactWriter(extractPatternFacts(snapshot.signals, snapshot.turns))
      return this.#commit(snapshot, { outcome: 'skipped:low_novelty', write })
    }
    const distillate = await this.#callModel(model, task)
    if (distillate === null) return this.#scanWithPatterns()
    this.#throwIfCancelled()
    if (distillate.isEmpty) return this.#commit(snapshot, { outcome: 'empty:nothing' })
    const grounded = await this.#ground(distillate, task)
    this.#throwIfCancelled()
    const write: WriteFacts = (batch, mark) =>
      this.#writeDistillate(batch, mark, grounded, task, snapshot)
    const verdicts = await this.#prefetchVerdicts(write)
    return this.#commit(snapshot, { outcome: 'distilled', write, verdicts })
  }

  /** Null when the configured model does not exist, which waits for a corrected setting. */
  async #callModel(
    model: NamedModel,
    { messages, parse }: DistillationTask,
  ): Promise<Distillate | null> {
    try {
      return await completeStructured(model, messages, parse, this.#spent, this.#signal)
    } catch (thrown) {
      if (toAppError(thrown).code === 'not_found') return null
      throw thrown
    }
  }

  /** Collects verdicts before the owner's writes are serialized, so that no writer waits for the model. */
  async #prefetchVerdicts(write: WriteFacts): Promise<VerdictCache> {
    const verdicts: VerdictCache = new Map()
    const { adjudicate } = this.#ports
    if (adjudicate === undefined) return verdicts
    const ports = {
      ...this.#ports,
      adjudicate: limitAdjudications(adjudicate, VERDICTS_MAX, this.#signal),
    }
    const mark = createChangeStamp(ports)
    const history = listHistoryTurns(this.#snapshot)
    await write(new WriteBatch(ports, this.#place, mark, { verdicts, history }), mark)
    this.#throwIfCancelled()
    return verdicts
  }

  #throwIfCancelled(): void {
    if (this.#signal.aborted) throw new AppError('cancelled', 'The distillation was cancelled.')
  }

  async #readSnapshot(): Promise<SessionSnapshot> {
    const all = await loadSignals(this.#ports, this.#place)
    const pending = all.filter(({ status }) => status === 'pending')
    const signals = pending.slice(
      0,
      this.#mode === 'turns' ? countFirstBatch(pending) : SIGNALS_MAX,
    )
    const ids = [...new Set(signals.flatMap((each) => each.turns))]
    const turns = await loadTurns(this.#ports, this.#place, ids)
    return {
      signals,
      turns,
      before: this.#mode === 'turns' ? await this.#loadContext(turns, all) : [],
      isContinued: all.some(({ status }) => status === 'processed'),
      remaining: pending.length - signals.length,
    }
  }

  /** Includes turns without a signal, but none that were excluded from learning. */
  async #loadContext(turns: readonly Turn[], all: readonly Signal[]): Promise<readonly Turn[]> {
    const forgotten = all.filter(({ status }) => status === 'forgotten')
    const excluded = new Set(forgotten.flatMap((each) => each.turns))
    const count = EXTRACTED_TURNS_MAX - turns.length
    return loadPrecedingTurns(this.#ports, this.#place, { turns, excluded, count })
  }

  async #buildTask({ turns, before, isContinued }: SessionSnapshot): Promise<DistillationTask> {
    if (this.#mode === 'turns') return buildTurnsTask(before, turns)
    const earlier = await findEpisode(this.#ports, this.#place)
    const context = await loadDistillationContext(
      this.#ports,
      this.#home,
      turns,
      earlier,
      isContinued,
    )
    return buildSessionTask(turns, context)
  }

  get #home(): Scope {
    return { owner: this.#place.owner, user: this.#place.user }
  }

  /** Commits the memories and the marks on the signals; `changed` when the snapshot is outdated. */
  async #commit(
    snapshot: SessionSnapshot,
    { outcome, write, verdicts, mark: markSignal = markProcessed }: DistillationCommit,
  ): Promise<Distillation | 'changed'> {
    const { serialize = (_, work) => work() } = this.#dependencies
    const { adjudicate: _, ...ports } = this.#ports
    const mark = createChangeStamp(this.#ports)
    const history = listHistoryTurns(snapshot)
    let change: ChangeId | null = null
    let stored: StoredFacts | null = null
    const decide = async (): Promise<PlannedCommit<StoredFacts | 'changed'>> => {
      this.#throwIfCancelled()
      const guards = await this.#buildGuards(snapshot)
      if (guards === null) return { changes: [], result: 'changed' }
      const batch = new WriteBatch(ports, this.#place, mark, { verdicts, history })
      stored = (await write?.(batch, mark)) ?? { ...(await this.#getEpisodeId()), ...NOTHING }
      const changes = batch.changes()
      change = changes.length === 0 ? null : mark.change
      const marks = snapshot.signals.map((signal) => markSignal(this.#ports, signal, change))
      return { changes: [...guards, ...changes, ...marks], result: stored }
    }
    const report = (result: StoredFacts) =>
      this.#report(outcome, {
        ...result,
        change,
        signals: snapshot.signals.length,
        pending: snapshot.remaining,
      })
    try {
      const result = await serialize(this.#home, () => commitWithRetry(this.#ports, decide))
      return result === 'changed' ? result : report(result)
    } catch (thrown) {
      // The commit may have succeeded although its reply was lost.
      if (stored !== null && (await this.#isCommitted(snapshot, mark))) return report(stored)
      throw thrown
    }
  }

  /** Checks that the turns are unchanged and the lease is held; null when the snapshot is already outdated. */
  async #buildGuards({ signals, turns }: SessionSnapshot): Promise<readonly Change[] | null> {
    const current = await reloadSignals(this.#ports, this.#place, signals)
    if (signals.some(({ id, version }) => current.get(id)?.version !== version)) return null
    const now = await loadTurns(
      this.#ports,
      this.#place,
      turns.map(({ id }) => id),
    )
    const versions = new Map(now.map(({ id, version }) => [id, version]))
    if (turns.some(({ id, version }) => versions.get(id) !== version)) return null
    const fence = await this.#dependencies.fence?.()
    return [
      ...(fence === undefined ? [] : [fence]),
      ...turns.slice(0, PAGE_ROWS_MAX).map(
        ({ id, version }): Change => ({
          op: 'check',
          table: 'turn',
          scope: this.#place,
          id,
          expect: { version },
        }),
      ),
    ]
  }

  async #isCommitted({ signals }: SessionSnapshot, { change }: ChangeStamp): Promise<boolean> {
    try {
      const current = await reloadSignals(this.#ports, this.#place, signals.slice(0, 1))
      return [...current.values()].some((signal) => signal.change === change)
    } catch {
      return false
    }
  }

  async #writeDistillate(
    batch: WriteBatch,
    { now }: ChangeStamp,
    { episode, facts, ungrounded }: GroundedDistillate,
    { shown, prompted, version }: DistillationTask,
    { turns }: SessionSnapshot,
  ): Promise<StoredFacts> {
    const known = await loadEpisode(this.#ports, this.#place)
    const earlier = known?.own ?? null
    const ids = turns.map(({ id }) => id)
    const written =
      episode === null
        ? null
        : await writeEpisode(batch, this.#place.session, episode, earlier, shown, ids, now)
    const identity = await this.#loadIdentity()
    const knownIdentity = new Set(identity.map(({ content }) => normalizeStatement(content)))
    const counted: WriteDecision[] = []
    let added = 0
    for (const fact of facts) {
      // Known identity statements stay as they are, also disabled ones.
      const isKnown = fact.isIdentity && knownIdentity.has(normalizeStatement(fact.content))
      if (isKnown && fact.isIdentityOnly) continue
      const draft = buildFactDraft(
        isKnown ? { ...fact, isIdentity: false } : fact,
        prompted,
        version,
      )
      const decision = await addFact(batch, draft, now)
      if (!fact.isIdentityOnly) counted.push(decision)
      const canAdd = fact.isIdentity && fact.grounding.isGrounded && !isKnown
      if (canAdd && isIdentityAddition(decision)) added++
    }
    return {
      episode: written ?? known?.found.id ?? null,
      facts: { ...countDecisions(counted), ungrounded },
      identity: added,
    }
  }

  async #loadIdentity(): Promise<readonly Memory[]> {
    const { rows } = await this.#ports.store.find('memory', this.#home, {
      where: { categories: ['identity'], statuses: ['active', 'disabled'] },
      limit: PAGE_ROWS_MAX,
    })
    return rows
  }

  /** In `turns` mode the model returns facts only, and rules select the identity statements. */
  async #ground(
    distillate: Distillate,
    { prompted }: DistillationTask,
  ): Promise<GroundedDistillate> {
    const grounded = await groundDistillate(
      distillate,
      prompted,
      listUserNames(await this.#loadIdentity()),
      this.#ports.embedder,
      this.#signal,
    )
    if (this.#mode !== 'turns') return grounded
    const facts = grounded.facts.map((fact) => ({
      ...fact,
      isIdentity: fact.grounding.isGrounded && gradeIdentity(fact.content) !== null,
    }))
    return { ...grounded, facts }
  }

  async #getEpisodeId(): Promise<{ readonly episode: MemoryId | null }> {
    return { episode: (await findEpisode(this.#ports, this.#place))?.id ?? null }
  }

  async #handleFailure(error: AppError): Promise<Distillation> {
    const { until } = error.facts
    if (error.code === 'cancelled' || this.#signal.aborted) {
      return this.#reportUndistilled('skipped:cancelled')
    }
    if (typeof until === 'number') {
      const retryAt = until as Instant // errors carry instants
      return this.#reportUndistilled(`skipped:${error.code}`, { retryAt })
    }
    const snapshot = this.#snapshot
    if (snapshot === null) return this.#reportUndistilled(`error:${error.code}`, { error })
    const code = error instanceof InvalidAnswerError ? 'bad_answer' : error.code
    const { signals } = snapshot
    const dead = await recordFailure(this.#ports, this.#place, signals, code).catch(() => 0) // they stay pending
    return this.#reportUndistilled(dead > 0 ? `dead_letter:${dead}` : `error:${code}`, { error })
  }

  /** Without a model the signals stay pending, and patterns scan each exchange once, in batches. */
  async #scanWithPatterns(): Promise<Distillation> {
    this.#snapshot = null // failures from here on are not counted as failed model calls
    let result = await this.#reportUndistilled('skipped:no_model')
    if (result.pending === 0) return { ...result, outcome: 'no_signals' }
    for (let conflicts = 0; conflicts < ROUNDS_MAX; ) {
      const snapshot = await this.#readUnscanned()
      if (snapshot === null) break
      const write = this.#buildFactWriter(extractPatternFacts(snapshot.signals, snapshot.turns))
      const batch = await this.#commit(snapshot, {
        outcome: result.outcome,
        write,
        mark: markScanned,
      })
      if (batch === 'changed') conflicts++
      else result = mergeDistillations(result, batch)
    }
    return result
  }

  /** Reads unscanned signals until their pattern facts fill one commit. */
  async #readUnscanned(): Promise<SessionSnapshot | null> {
    const all = await loadSignals(this.#ports, this.#place)
    const pending = all.filter(
      ({ status, isPatternScanned }) => status === 'pending' && !isPatternScanned,
    )
    if (pending.length === 0) return null
    const candidates = pending.slice(0, SIGNALS_MAX)
    const ids = candidates.flatMap(({ turns }) => turns)
    const userTurns = (await loadTurns(this.#ports, this.#place, ids)).filter(isUserTurn)
    let factCount = 0
    const signals = candidates.filter(({ turns }) => {
      const hasRoom = factCount < PATTERN_FACTS_MAX
      const own = userTurns.filter(({ id }) => turns.includes(id))
      if (hasRoom) factCount += own.flatMap(extractTurnFacts).length
      return hasRoom
    })
    const selected = new Set(signals.flatMap(({ turns }) => turns))
    const turns = userTurns.filter(({ id }) => selected.has(id))
    return { signals, turns, before: [], isContinued: false, remaining: 0 }
  }

  #buildFactWriter(drafts: readonly DraftInput[]): WriteFacts {
    return async (batch, { now }) => {
      const decisions = await writeFacts(batch, drafts, now)
      const identity = decisions.filter(isIdentityAddition).length
      return { ...(await this.#getEpisodeId()), facts: countDecisions(decisions), identity }
    }
  }

  /** Reports an outcome without a distillation, with the episode and the pending signals. */
  async #reportUndistilled(
    outcome: DistillationOutcome,
    facts: Partial<Distillation> = {},
  ): Promise<Distillation> {
    try {
      const pending = await countPendingSignals(this.#ports, this.#place)
      return this.#report(outcome, { ...facts, ...(await this.#getEpisodeId()), pending })
    } catch {
      // The store may have failed; the snapshot is the best that is known.
      const { signals, remaining } = this.#snapshot ?? { signals: [], remaining: 0 }
      return this.#report(outcome, { ...facts, pending: signals.length + remaining })
    }
  }

  #report(outcome: DistillationOutcome, facts: Partial<Distillation> = {}): Distillation {
    return createDistillation(outcome, { tokens: { ...this.#spent }, ...facts })
  }
}

const NOTHING = { facts: NO_FACTS, identity: 0 }

/** Turns that came with the history of a request. */
function listHistoryTurns(snapshot: SessionSnapshot | null): ReadonlySet<TurnId> {
  const signals = snapshot?.signals.filter(({ isHistory }) => isHistory) ?? []
  return new Set(signals.flatMap(({ turns }) => turns))
}

/** How many of the oldest signals fit into one extraction prompt. */
function countFirstBatch(signals: readonly Signal[]): number {
  let turns = 0
  const over = signals.findIndex((signal, index) => {
    turns += signal.turns.length
    return index > 0 && turns > EXTRACTED_TURNS_MAX
  })
  return over < 0 ? signals.length : over
}
