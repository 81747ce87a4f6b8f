/**
 * Distillation: what was said in a session becomes memories.
 *
 *   read      the signals that wait, and their turns
 *   ask       a model, once, with one repair
 *   decide    each fact against what is known and against the facts before it
 *   commit    episode, facts, identity and the marks on the signals: all or nothing
 *
 * Where no model reads what was said, because there is none or too little was said, patterns do; without a model the signals
 * go on waiting for one.
 *
 * Only the signals that were read are marked, and only while they and their turns are as they were read: what is said
 * meanwhile waits for the next time. Whatever fails, the signals stay, and how often it failed is told.
 */

import type { ChangeId, MemoryId, TurnId } from '../../domain/ids.ts'
import { PAGE_ROWS_MAX } from '../../domain/limits.ts'
import type { Scope, SessionPlace } from '../../domain/scope.ts'
import type { Signal } from '../../domain/signal.ts'
import type { Turn } from '../../domain/turn.ts'
import { throwIfAborted } from '../../lib/abort.ts'
import { type AppError, toAppError } from '../../lib/errors.ts'
import type { Instant } from '../../lib/time.ts'
import { type DraftInput, parseDraft } from '../../memory/draft.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import { type BatchStamp, type VerdictCache, WriteBatch } from '../../memory/write-batch.ts'
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
import { buildFactDraft, buildIdentityDraft } from './fact-drafts.ts'
import {
  countDecisions,
  isIdentityAddition,
  selectIdentityStatements,
  writeFacts,
} from './fact-writer.ts'
import {
  createDistillation,
  type Distillation,
  type DistillationOutcome,
  mergeDistillations,
  NO_FACTS,
} from './outcome.ts'
import {
  extractPatternFacts,
  extractTurnFacts,
  isUserTurn,
  PATTERN_FACTS_MAX,
} from './pattern-facts.ts'
import { EXTRACTED_TURNS_MAX } from './turn-prompt.ts'
import type { SelectedTurn } from './turn-selection.ts'

export type DistillerDependencies = {
  /** With the settings of the owner. */
  readonly ports: MemoryDependencies
  /** Null: none is configured. */
  readonly model: NamedModel | null
  /** Lets the writes of one owner and user take turns. */
  readonly serialize?: <Result>(scope: Scope, work: () => Promise<Result>) => Promise<Result>
  /** Put into the commit: refuses it to all but the one who may make it. */
  readonly fence?: () => Promise<Change>
}

/** How often a session that changes while the model thinks is begun anew. */
const ROUNDS_MAX = 3

/** Of one distillation, so that marking them fits into its commit. */
const SIGNALS_MAX = 500

/** How often a distillation asks what a fact is to a known one. */
const VERDICTS_MAX = 8

/** Never fails: the outcome tells what went wrong. */
export async function distillSession(
  parts: DistillerDependencies,
  place: SessionPlace,
  signal: AbortSignal,
  mode: DistillationMode = 'session',
): Promise<Distillation> {
  const spent: TokensUsed = { input: 0, output: 0 }
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const told = await new DistillationRound(parts, place, signal, mode, spent).run()
    if (told !== 'changed') return told
  }
  const pending = await countPendingSignals(parts.ports, place).catch(() => 0) // who can't be asked says nothing
  return createDistillation('skipped:changed', { tokens: { ...spent }, pending })
}

/** What was read at the beginning; everything after it is about this. */
type SessionSnapshot = {
  readonly signals: readonly Signal[]
  readonly turns: readonly Turn[]
  /** Turns that precede them in the conversation, as context for a few. */
  readonly before: readonly Turn[]
  readonly isContinued: boolean
  /** Signals that wait as well, and are left for another time. */
  readonly left: number
}

type StoredFacts = Pick<Distillation, 'episode' | 'facts' | 'identity'>
type WriteFacts = (batch: WriteBatch, mark: BatchStamp) => Promise<StoredFacts>

/** What there is to do with what was read, and what is said of it afterwards. */
type DistillationCommit = {
  readonly outcome: DistillationOutcome
  readonly write?: WriteFacts
  readonly verdicts?: VerdictCache
  /** How the signals are marked; default: nothing is left to learn from them. */
  readonly mark?: typeof markProcessed
}

class DistillationRound {
  readonly #parts: DistillerDependencies
  readonly #ports: MemoryDependencies
  readonly #place: SessionPlace
  readonly #signal: AbortSignal
  readonly #mode: DistillationMode
  readonly #spent: TokensUsed
  #snapshot: SessionSnapshot | null = null

  constructor(
    parts: DistillerDependencies,
    place: SessionPlace,
    signal: AbortSignal,
    mode: DistillationMode,
    spent: TokensUsed,
  ) {
    this.#parts = parts
    this.#ports = parts.ports
    this.#place = place
    this.#signal = signal
    this.#mode = mode
    this.#spent = spent
  }

  async run(): Promise<Distillation | 'changed'> {
    try {
      return await this.#distil()
    } catch (thrown) {
      return this.#failed(toAppError(thrown))
    }
  }

  async #distil(): Promise<Distillation | 'changed'> {
    this.#stopIfCancelled()
    const { model } = this.#parts
    if (model === null) return this.#wait()
    const snapshot = await this.#read()
    if (snapshot.signals.length === 0) return this.#tell('no_signals', await this.#known())
    this.#snapshot = snapshot
    if (snapshot.turns.length === 0) return this.#done(snapshot, { outcome: 'empty:no_turns' })
    const task = await this.#task(snapshot)
    if (task.isTrivial) {
      const write = this.#writingOf(extractPatternFacts(snapshot.signals, snapshot.turns))
      return this.#done(snapshot, { outcome: 'skipped:low_novelty', write })
    }
    const found = await this.#ask(model, task)
    if (found === null) return this.#wait()
    this.#stopIfCancelled()
    if (found.isEmpty) return this.#done(snapshot, { outcome: 'empty:nothing' })
    const write: WriteFacts = (batch, mark) => this.#write(batch, mark, found, task, snapshot)
    const verdicts = await this.#verdicts(write)
    return this.#done(snapshot, { outcome: 'distilled', write, verdicts })
  }

  /** Null where there is no such model: it is named in a setting, and waits to be named better. */
  async #ask(model: NamedModel, { messages, parse }: DistillationTask): Promise<Distillate | null> {
    try {
      return await completeStructured(model, messages, parse, this.#spent, this.#signal)
    } catch (thrown) {
      if (toAppError(thrown).code === 'not_found') return null
      throw thrown
    }
  }

  /** Asked for before the turn of the owner is taken, so that nobody who writes waits for a judge. */
  async #verdicts(write: WriteFacts): Promise<VerdictCache> {
    const verdicts: VerdictCache = new Map()
    const { adjudicate } = this.#ports
    if (adjudicate === undefined) return verdicts
    const asking = {
      ...this.#ports,
      adjudicate: limitAdjudications(adjudicate, VERDICTS_MAX, this.#signal),
    }
    const mark = createChangeStamp(asking)
    const history = listHistoryTurns(this.#snapshot)
    await write(new WriteBatch(asking, this.#place, mark, { verdicts, history }), mark)
    this.#stopIfCancelled()
    return verdicts
  }

  #stopIfCancelled(): void {
    throwIfAborted(this.#signal, 'Distilling was stopped.')
  }

  async #read(): Promise<SessionSnapshot> {
    const all = await loadSignals(this.#ports, this.#place)
    const waiting = all.filter(({ status }) => status === 'pending')
    const signals = waiting.slice(
      0,
      this.#mode === 'turns' ? countFirstBatch(waiting) : SIGNALS_MAX,
    )
    const ids = [...new Set(signals.flatMap((each) => each.turns))]
    const turns = await loadTurns(this.#ports, this.#place, ids)
    return {
      signals,
      turns,
      before: this.#mode === 'turns' ? await this.#before(turns, all) : [],
      isContinued: all.some(({ status }) => status === 'processed'),
      left: waiting.length - signals.length,
    }
  }

  /** Also turns without a signal, but none that a person has excluded from learning. */
  async #before(turns: readonly Turn[], all: readonly Signal[]): Promise<readonly Turn[]> {
    const forgotten = all.filter(({ status }) => status === 'forgotten')
    const excluded = new Set(forgotten.flatMap((each) => each.turns))
    const count = EXTRACTED_TURNS_MAX - turns.length
    return loadPrecedingTurns(this.#ports, this.#place, { turns, excluded, count })
  }

  async #task({ turns, before, isContinued }: SessionSnapshot): Promise<DistillationTask> {
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

  /** Marks the signals, together with what came of them; `changed` when they are no longer what was read. */
  async #done(
    snapshot: SessionSnapshot,
    { outcome, write, verdicts, mark: marked = markProcessed }: DistillationCommit,
  ): Promise<Distillation | 'changed'> {
    const { serialize: inTurn = (_, work) => work() } = this.#parts
    const { adjudicate: _, ...decided } = this.#ports
    const mark = createChangeStamp(this.#ports)
    const history = listHistoryTurns(snapshot)
    let change: ChangeId | null = null
    let stored: StoredFacts | null = null
    const decide = async (): Promise<PlannedCommit<StoredFacts | 'changed'>> => {
      this.#stopIfCancelled()
      const guards = await this.#guards(snapshot)
      if (guards === null) return { changes: [], result: 'changed' }
      const batch = new WriteBatch(decided, this.#place, mark, { verdicts, history })
      stored = (await write?.(batch, mark)) ?? { ...(await this.#known()), ...NOTHING }
      const changes = batch.changes()
      change = changes.length === 0 ? null : mark.change
      const marks = snapshot.signals.map((signal) => marked(this.#ports, signal, change))
      return { changes: [...guards, ...changes, ...marks], result: stored }
    }
    const told = (result: StoredFacts) =>
      this.#tell(outcome, {
        ...result,
        change,
        signals: snapshot.signals.length,
        pending: snapshot.left,
      })
    try {
      const result = await inTurn(this.#home, () => commitWithRetry(this.#ports, decide))
      return result === 'changed' ? result : told(result)
    } catch (thrown) {
      // An answer that was lost on its way is not a failure: what was to be done is done.
      if (stored !== null && (await this.#isCommitted(snapshot, mark))) return told(stored)
      throw thrown
    }
  }

  /** That the turns are as they were read, and that nobody else is at it; null when a signal is another by now. */
  async #guards({ signals, turns }: SessionSnapshot): Promise<readonly Change[] | null> {
    const current = await reloadSignals(this.#ports, this.#place, signals)
    if (signals.some(({ id, version }) => current.get(id)?.version !== version)) return null
    const now = await loadTurns(
      this.#ports,
      this.#place,
      turns.map(({ id }) => id),
    )
    const versions = new Map(now.map(({ id, version }) => [id, version]))
    if (turns.some(({ id, version }) => versions.get(id) !== version)) return null
    const fence = await this.#parts.fence?.()
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

  async #isCommitted({ signals }: SessionSnapshot, { change }: BatchStamp): Promise<boolean> {
    try {
      const current = await reloadSignals(this.#ports, this.#place, signals.slice(0, 1))
      return [...current.values()].some((signal) => signal.change === change)
    } catch {
      return false
    }
  }

  async #write(
    batch: WriteBatch,
    { now }: BatchStamp,
    { episode, facts, identity }: Distillate,
    { shown, version }: DistillationTask,
    { turns }: SessionSnapshot,
  ): Promise<StoredFacts> {
    const known = await loadEpisode(this.#ports, this.#place)
    const earlier = known?.own ?? null
    const ids = turns.map(({ id }) => id)
    const written =
      episode === null
        ? null
        : await writeEpisode(batch, this.#place.session, episode, earlier, shown, ids, now)
    const drafts = facts.map((fact) => buildFactDraft(fact, shown, version))
    const decisions = await writeFacts(batch, drafts, now)
    // After a turn a model is asked for facts alone, and rules tell which of them say who the person is.
    const who = this.#mode === 'turns' ? selectIdentityStatements(drafts) : identity
    const added = await this.#addIdentity(batch, { facts, identity: who }, shown, version, now)
    return {
      episode: written ?? known?.found.id ?? null,
      facts: countDecisions(decisions),
      identity: added,
    }
  }

  /** Those that are known already, in capitals or not, are left alone. */
  async #addIdentity(
    batch: WriteBatch,
    { facts, identity }: Pick<Distillate, 'facts' | 'identity'>,
    shown: readonly SelectedTurn[],
    version: string,
    now: Instant,
  ): Promise<number> {
    if (identity.length === 0) return 0
    const { rows } = await this.#ports.store.find('memory', this.#home, {
      where: { categories: ['identity'], statuses: ['active', 'disabled'] },
      limit: PAGE_ROWS_MAX,
    })
    const known = new Set(rows.map(({ content }) => normalizeStatement(content)))
    let added = 0
    for (const content of identity) {
      if (known.has(normalizeStatement(content))) continue
      known.add(normalizeStatement(content))
      const draft = parseDraft(buildIdentityDraft(content, facts, shown, version), now)
      if (isIdentityAddition(await batch.add(draft))) added++
    }
    return added
  }

  async #known(): Promise<{ readonly episode: MemoryId | null }> {
    return { episode: (await findEpisode(this.#ports, this.#place))?.id ?? null }
  }

  async #failed(error: AppError): Promise<Distillation> {
    const { until } = error.facts
    const isWaitedFor = typeof until === 'number'
    if (error.code === 'cancelled' || this.#signal.aborted) return this.#leave('skipped:cancelled')
    if (isWaitedFor) return this.#leave(`skipped:${error.code}`, { retryAt: until as Instant })
    const snapshot = this.#snapshot
    if (snapshot === null) return this.#leave(`error:${error.code}`)
    const code = error instanceof InvalidAnswerError ? 'bad_answer' : error.code
    const { signals } = snapshot
    const dead = await recordFailure(this.#ports, this.#place, signals, code).catch(() => 0) // they wait as before
    return this.#leave(dead > 0 ? `dead_letter:${dead}` : `error:${code}`)
  }

  /** Until there is a model. What patterns find doesn't: they read each exchange once, some of them at a time. */
  async #wait(): Promise<Distillation> {
    this.#snapshot = null // what fails here is no failure of a model's
    let told = await this.#leave('skipped:no_model')
    if (told.pending === 0) return { ...told, outcome: 'no_signals' }
    for (let unsettled = 0; unsettled < ROUNDS_MAX; ) {
      const snapshot = await this.#unread()
      if (snapshot === null) break
      const write = this.#writingOf(extractPatternFacts(snapshot.signals, snapshot.turns))
      const piece = await this.#done(snapshot, { outcome: told.outcome, write, mark: markScanned })
      if (piece === 'changed') unsettled++
      else told = mergeDistillations(told, piece)
    }
    return told
  }

  /** So many of those that patterns have not read that what is found in them fits into one commit. */
  async #unread(): Promise<SessionSnapshot | null> {
    const all = await loadSignals(this.#ports, this.#place)
    const waiting = all.filter(
      ({ status, isPatternScanned: isRead }) => status === 'pending' && !isRead,
    )
    if (waiting.length === 0) return null
    const some = waiting.slice(0, SIGNALS_MAX)
    const ids = some.flatMap(({ turns }) => turns)
    const said = (await loadTurns(this.#ports, this.#place, ids)).filter(isUserTurn)
    let found = 0
    const signals = some.filter(({ turns }) => {
      const isRoom = found < PATTERN_FACTS_MAX
      const own = said.filter(({ id }) => turns.includes(id))
      if (isRoom) found += own.flatMap(extractTurnFacts).length
      return isRoom
    })
    const meant = new Set(signals.flatMap(({ turns }) => turns))
    const turns = said.filter(({ id }) => meant.has(id))
    return { signals, turns, before: [], isContinued: false, left: 0 }
  }

  #writingOf(drafts: readonly DraftInput[]): WriteFacts {
    return async (batch, { now }) => {
      const decisions = await writeFacts(batch, drafts, now)
      const identity = decisions.filter(isIdentityAddition).length
      return { ...(await this.#known()), facts: countDecisions(decisions), identity }
    }
  }

  /** Nothing was distilled: what there is, and how much of it waits. */
  async #leave(
    outcome: DistillationOutcome,
    facts: Partial<Distillation> = {},
  ): Promise<Distillation> {
    try {
      const pending = await countPendingSignals(this.#ports, this.#place)
      return this.#tell(outcome, { ...facts, ...(await this.#known()), pending })
    } catch {
      // The store may be what failed. What was read before it did is the best that is known.
      const { signals, left } = this.#snapshot ?? { signals: [], left: 0 }
      return this.#tell(outcome, { ...facts, pending: signals.length + left })
    }
  }

  #tell(outcome: DistillationOutcome, facts: Partial<Distillation> = {}): Distillation {
    return createDistillation(outcome, { tokens: { ...this.#spent }, ...facts })
  }
}

const NOTHING = { facts: NO_FACTS, identity: 0 }

/** Turns that were part of the history of a request. */
function listHistoryTurns(snapshot: SessionSnapshot | null): ReadonlySet<TurnId> {
  const signals = snapshot?.signals.filter(({ isHistory }) => isHistory) ?? []
  return new Set(signals.flatMap(({ turns }) => turns))
}

/** So many of the oldest that their turns are asked about together. */
function countFirstBatch(waiting: readonly Signal[]): number {
  let turns = 0
  const over = waiting.findIndex((signal, index) => {
    turns += signal.turns.length
    return index > 0 && turns > EXTRACTED_TURNS_MAX
  })
  return over < 0 ? waiting.length : over
}
