/**
 * Ingests a whole conversation from a program that recorded it. Sending it again changes nothing, and added turns are
 * distilled. Changed turns replace the stored ones: what was learned from them is retracted, and the whole conversation
 * is distilled again.
 */

import { stripBlocks } from '../../domain/context-block.ts'
import type { ChangeId, SessionId, SignalId, TurnId } from '../../domain/ids.ts'
import { PAGE_ROWS_MAX } from '../../domain/limits.ts'
import { parseScope, type SessionPlace } from '../../domain/scope.ts'
import {
  buildSignalId,
  createPendingSignal,
  isLearnable,
  type Signal,
} from '../../domain/signal.ts'
import type { Turn } from '../../domain/turn.ts'
import { NEVER_ABORTED } from '../../lib/abort.ts'
import { AppError } from '../../lib/errors.ts'
import { yieldToEventLoop } from '../../lib/event-loop.ts'
import { hashParts } from '../../lib/hash.ts'
import type { Instant } from '../../lib/time.ts'
import { parseTurn } from '../../memory/record-codec.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import {
  commitWithRetry,
  createChangeStamp,
  type PlannedCommit,
} from '../../storage/access/optimistic-commit.ts'
import { pages } from '../../storage/access/row-pages.ts'
import type { Change } from '../../storage/store.ts'
import { buildSignalRemoval, countPendingSignals } from '../signals.ts'
import { type DistillerDependencies, distillSession } from './distiller.ts'
import { findEpisode } from './episode-writer.ts'
import { createDistillation, type Distillation } from './outcome.ts'
import { buildRetractions, listChangeIds } from './retraction.ts'

export type IngestInput = {
  readonly owner: string
  readonly user?: string | null
  /** Its name, which becomes the session id. */
  readonly conversation: string
  readonly turns: readonly { readonly user: string; readonly assistant?: string | null }[]
  /** When it took place; default: now. */
  readonly sessionDate?: Date | number
  /** Stores the turns without distilling them. */
  readonly skipExtraction?: boolean
  /**
   * Whether a model reports the conversation with a tool. Its user messages are then turns of a tool: they are searchable,
   * and nothing in them counts as the person's own words.
   */
  readonly isReported?: boolean
}

export type IngestDependencies = DistillerDependencies & {
  /** Committed with the turns: the job that distills them if this process dies first. */
  readonly buildJobChanges?: (place: SessionPlace) => Promise<readonly Change[]>
  /** Distills the stored turns; default: directly, without the owner's lock. */
  readonly distil?: (place: SessionPlace) => Promise<Distillation>
}

export type IngestResult = Distillation & {
  readonly session: SessionId
  /** The number of ingested turns that the conversation has now. */
  readonly turns: number
}

/** Small enough that turns and signals fit into one commit with the rows that they replace. */
export const INGESTED_EXCHANGES_MAX = 500

/** Leaves room in a commit for the maximum of turns and signals. */
const RETRACTION_CHANGES_MAX = 400

export async function ingestConversation(
  dependencies: IngestDependencies,
  input: IngestInput,
  signal: AbortSignal = NEVER_ABORTED,
): Promise<IngestResult> {
  const {
    ports,
    buildJobChanges,
    distil = (place) => distillSession(dependencies, place, signal),
  } = dependencies
  const place = toSessionPlace(input)
  const origin = input.isReported === true ? 'reported' : 'ingested'
  const exchanges = listExchanges(input, place, origin, ports.clock.now())
  const isSkipped = input.skipExtraction === true
  const mark = createChangeStamp(ports)
  const planCommit = async (): Promise<PlannedCommit<CommitResult>> => {
    const known = await loadKnownRows(ports, place, origin)
    const changed = findChangedTurns(exchanges.flat(), known.turns)
    const corrected = { changed, all: new Set(known.turns.keys()) }
    const retractions = isSkipped ? [] : await buildRetractions(ports, place, corrected, mark)
    const batch = takeWithinCommit(retractions)
    // Retractions that do not fit beside the turns are committed first; the rest is planned again.
    const retracted = listChangeIds(batch)
    if (batch.length < retractions.length) {
      return { changes: batch.flat(), result: { isComplete: false, retracted } }
    }
    const changes = [
      ...retractions.flat(),
      ...buildTurnChanges(exchanges.flat(), known.turns, input.sessionDate !== undefined),
      ...buildSignalChanges(place, exchanges, known, changed, isSkipped),
    ]
    const jobChanges = changes.length === 0 ? [] : ((await buildJobChanges?.(place)) ?? [])
    return { changes: [...changes, ...jobChanges], result: { isComplete: true, retracted } }
  }
  const retractedIds: ChangeId[] = []
  for (let isComplete = false; !isComplete; await yieldToEventLoop()) {
    const committed = await commitWithRetry(ports, planCommit)
    retractedIds.push(...committed.retracted)
    isComplete = committed.isComplete
  }
  const result = isSkipped ? await createSkippedResult(ports, place) : await distil(place)
  const changes = [...new Set([...retractedIds, ...result.changes])]
  return { ...result, changes, session: place.session, turns: exchanges.flat().length }
}

/** Whether a commit includes the turns, and the change ids of its retractions. */
type CommitResult = { readonly isComplete: boolean; readonly retracted: readonly ChangeId[] }

async function createSkippedResult(
  ports: MemoryDependencies,
  place: SessionPlace,
): Promise<Distillation> {
  const episode = (await findEpisode(ports, place))?.id ?? null
  return createDistillation('skipped:extraction', {
    episode,
    pending: await countPendingSignals(ports, place),
  })
}

function toSessionPlace({ owner, user, conversation }: IngestInput): SessionPlace {
  const scope = parseScope({ owner, user: user ?? null, session: conversation })
  const { session } = scope
  if (session === undefined || session === null) {
    throw new AppError('invalid_input', '`conversation` is required.', { field: 'conversation' })
  }
  return { owner: scope.owner, user: scope.user ?? null, session }
}

/** Part of the ids of turns, so that a reported conversation never replaces one that was ingested. */
type IngestOrigin = 'ingested' | 'reported'

type IngestedExchange = readonly [Turn, ...Turn[]]

/** Drops exchanges without a user message, and strips context blocks that memory inserted. */
function listExchanges(
  input: IngestInput,
  place: SessionPlace,
  origin: IngestOrigin,
  now: Instant,
): readonly IngestedExchange[] {
  const { turns, sessionDate } = input
  if (!Array.isArray(turns) || turns.length > INGESTED_EXCHANGES_MAX) {
    const message = `\`turns\` must be a list of at most ${INGESTED_EXCHANGES_MAX} exchanges.`
    throw new AppError('invalid_input', message, { field: 'turns' })
  }
  const saidAt = sessionDate === undefined ? now : Number(sessionDate)
  const toTurn = (role: Turn['role'], said: unknown, position: number): Turn =>
    parseTurn({
      id: buildTurnId(place, origin, position),
      place,
      version: 1,
      role,
      speaker: null,
      content: typeof said === 'string' ? stripBlocks(said) : said,
      position,
      saidAt,
    })
  return turns.flatMap(({ user, assistant }, index): readonly IngestedExchange[] => {
    const question = toTurn(origin === 'reported' ? 'tool' : 'user', user, index * 2)
    if (question.content.trim() === '') return []
    const answered = assistant == null ? null : toTurn('assistant', assistant, index * 2 + 1)
    const isAnswered = answered !== null && answered.content.trim() !== ''
    return [isAnswered ? [question, answered] : [question]]
  })
}

/** Derived from the position, so that a changed turn replaces the one at its position. */
function buildTurnId(
  { owner, user, session }: SessionPlace,
  origin: IngestOrigin,
  position: number,
): TurnId {
  return `turn_${hashParts(owner, user, session, origin, position)}` as TurnId // derived, not random
}

type KnownRows = {
  /** Ingested turns only; turns of the session that were recorded otherwise stay. */
  readonly turns: ReadonlyMap<TurnId, Turn>
  readonly signals: ReadonlyMap<SignalId, Signal>
}

async function loadKnownRows(
  { store }: MemoryDependencies,
  place: SessionPlace,
  origin: IngestOrigin,
): Promise<KnownRows> {
  const turns = new Map<TurnId, Turn>()
  for await (const page of pages(store, 'turn', place, { where: {} })) {
    for (const turn of page)
      if (turn.id === buildTurnId(place, origin, turn.position)) turns.set(turn.id, turn)
  }
  const ids = [...turns.keys()].map(buildSignalId)
  const signals = new Map<SignalId, Signal>()
  for (let start = 0; start < ids.length; start += PAGE_ROWS_MAX) {
    const some = ids.slice(start, start + PAGE_ROWS_MAX)
    const { rows } = await store.find('signal', place, { where: { ids: some }, limit: some.length })
    for (const signal of rows) signals.set(signal.id, signal)
  }
  return { turns, signals }
}

/** The first retractions that fit into a commit, at least one. */
function takeWithinCommit(
  retractions: readonly (readonly Change[])[],
): readonly (readonly Change[])[] {
  let changes = 0
  const over = retractions.findIndex((each, index) => {
    changes += each.length
    return index > 0 && changes > RETRACTION_CHANGES_MAX
  })
  return over < 0 ? retractions : retractions.slice(0, over)
}

/** Stored turns whose text was changed or removed. */
function findChangedTurns(
  turns: readonly Turn[],
  known: ReadonlyMap<TurnId, Turn>,
): ReadonlySet<TurnId> {
  const said = new Map(turns.map(({ id, content }) => [id, content]))
  const changed = [...known.values()].filter(({ id, content }) => said.get(id) !== content)
  return new Set(changed.map(({ id }) => id))
}

function buildTurnChanges(
  turns: readonly Turn[],
  known: ReadonlyMap<TurnId, Turn>,
  isDated: boolean,
): readonly Change[] {
  const kept = new Set(turns.map(({ id }) => id))
  const times = isDated ? new Map<TurnId, Instant>() : computeTurnTimes(turns, known)
  return [
    ...turns.flatMap((turn): readonly Change[] => {
      const before = known.get(turn.id)
      const saidAt = times.get(turn.id) ?? turn.saidAt
      if (before === undefined) {
        return [{ op: 'put', table: 'turn', row: { ...turn, saidAt }, expect: 'absent' }]
      }
      const row = { ...turn, saidAt, disabled: before.disabled }
      if (isSameTurn(row, before)) return []
      const { version } = before
      return [
        { op: 'put', table: 'turn', row: { ...row, version: version + 1 }, expect: { version } },
      ]
    }),
    ...[...known.values()]
      .filter(({ id }) => !kept.has(id))
      .map(
        ({ id, place, version }): Change => ({
          op: 'remove',
          table: 'turn',
          scope: place,
          id,
          expect: { version },
        }),
      ),
  ]
}

/** Times of undated turns: stored ones keep theirs, and a new one is never later than the turns after it. */
function computeTurnTimes(
  turns: readonly Turn[],
  known: ReadonlyMap<TurnId, Turn>,
): ReadonlyMap<TurnId, Instant> {
  const times = new Map<TurnId, Instant>()
  let next = Number.POSITIVE_INFINITY as Instant // nothing follows the last one
  for (const { id, saidAt } of turns.toReversed()) {
    const time = known.get(id)?.saidAt ?? saidAt
    next = time < next ? time : next
    times.set(id, known.has(id) ? time : next)
  }
  return times
}

function isSameTurn(turn: Turn, before: Turn): boolean {
  return (
    turn.content === before.content && turn.role === before.role && turn.saidAt === before.saidAt
  )
}

/**
 * Pending signals stay while their exchange is unchanged, and so do processed ones unless any turn was changed, because
 * an episode covers the whole conversation. Dead signals become pending again; forgotten ones stay forgotten.
 */
function buildSignalChanges(
  place: SessionPlace,
  exchanges: readonly IngestedExchange[],
  { turns, signals }: KnownRows,
  changed: ReadonlySet<TurnId>,
  isSkipped: boolean,
): readonly Change[] {
  const wanted = new Map(
    (isSkipped ? [] : exchanges).map((exchange) => [buildSignalId(exchange[0].id), exchange]),
  )
  const isUnchanged = (exchange: IngestedExchange, signal: Signal) => {
    if (signal.status === 'forgotten') return true
    const ids = exchange.map(({ id }) => id)
    return (
      (signal.status === 'pending' || (signal.status === 'processed' && changed.size === 0)) &&
      signal.turns.join() === ids.join() &&
      ids.every((id) => turns.has(id) && !changed.has(id))
    )
  }
  const put = [...wanted].flatMap(([id, exchange]): readonly Change[] => {
    const before = signals.get(id) ?? null
    if (before !== null && isUnchanged(exchange, before)) return []
    const [first, ...rest] = exchange
    const ids = [first.id, ...rest.map((turn) => turn.id)] as const
    const row = createPendingSignal(place, ids, first.saidAt, before, { position: first.position })
    const expect = before === null ? 'absent' : { version: before.version }
    return [{ op: 'put', table: 'signal', row, expect }]
  })
  const isStale = isSkipped
    ? (signal: Signal) => isRetractable(signal, changed)
    : ({ id }: Signal) => !wanted.has(id)
  const removed = [...signals.values()].filter(isStale).map((signal) => buildSignalRemoval(signal))
  return [...put, ...removed]
}

/** Signals to remove when extraction is skipped: learnable ones, and processed ones of changed turns. */
function isRetractable(signal: Signal, changed: ReadonlySet<TurnId>): boolean {
  if (isLearnable(signal)) return true
  return signal.status === 'processed' && signal.turns.some((id) => changed.has(id))
}
