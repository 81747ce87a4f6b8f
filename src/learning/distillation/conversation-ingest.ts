/**
 * A whole conversation at once, from programs that kept it themselves. Sent again it changes nothing; sent again with
 * more, that is learned from. With other words, these take the place of what was there, what was learned from the old
 * ones is taken back, and all of the conversation is learned from again.
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
  /** Its name, which becomes that of the session. */
  readonly conversation: string
  readonly turns: readonly { readonly user: string; readonly assistant?: string | null }[]
  /** When it took place; default: now. */
  readonly sessionDate?: Date | number
  /** Only keeps what was said. */
  readonly skipExtraction?: boolean
}

export type IngestDependencies = DistillerDependencies & {
  /** Goes into the commit that keeps the turns: the job that does the rest if this process dies before it has. */
  readonly buildJobChanges?: (place: SessionPlace) => Promise<readonly Change[]>
  /** Distils what was kept; default: at once, whoever else may be at it. */
  readonly distil?: (place: SessionPlace) => Promise<Distillation>
}

export type IngestResult = Distillation & {
  readonly session: SessionId
  /** How many turns the conversation has now, as far as they were sent this way. */
  readonly turns: number
}

/** So many that turns and signals, and the old ones of another version, fit into one commit. */
export const INGESTED_EXCHANGES_MAX = 500

/** Leaves room in a commit for as many turns and signals as there can be. */
const UNLEARNED_CHANGES_MAX = 400

export async function ingestConversation(
  parts: IngestDependencies,
  input: IngestInput,
  signal: AbortSignal = NEVER_ABORTED,
): Promise<IngestResult> {
  const {
    ports,
    buildJobChanges: arming,
    distil: distilNow = (place) => distillSession(parts, place, signal),
  } = parts
  const place = toSessionPlace(input)
  const exchanges = listExchanges(input, place, ports.clock.now())
  const isSkipped = input.skipExtraction === true
  const mark = createChangeStamp(ports)
  const keep = async (): Promise<PlannedCommit<CommitResult>> => {
    const known = await loadKnownRows(ports, place)
    const changed = changedTurns(exchanges.flat(), known.turns)
    const corrected = { changed, all: new Set(known.turns.keys()) }
    const unlearned = isSkipped ? [] : await buildRetractions(ports, place, corrected, mark)
    const some = takeWithinCommit(unlearned)
    // What doesn't fit beside the turns goes first, and the rest is decided again.
    const taken = listChangeIds(some)
    if (some.length < unlearned.length) {
      return { changes: some.flat(), result: { isWhole: false, taken } }
    }
    const changes = [
      ...unlearned.flat(),
      ...turnChanges(exchanges.flat(), known.turns, input.sessionDate !== undefined),
      ...signalChanges(place, exchanges, known, changed, isSkipped),
    ]
    const armed = changes.length === 0 ? [] : ((await arming?.(place)) ?? [])
    return { changes: [...changes, ...armed], result: { isWhole: true, taken } }
  }
  const takenBack: ChangeId[] = []
  for (let isWhole = false; !isWhole; await yieldToEventLoop()) {
    const kept = await commitWithRetry(ports, keep)
    takenBack.push(...kept.taken)
    isWhole = kept.isWhole
  }
  const told = isSkipped ? await createSkippedResult(ports, place) : await distilNow(place)
  const changes = [...new Set([...takenBack, ...told.changes])]
  return { ...told, changes, session: place.session, turns: exchanges.flat().length }
}

/** What a commit came to: whether the turns are part of it, and what it took back. */
type CommitResult = { readonly isWhole: boolean; readonly taken: readonly ChangeId[] }

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
    throw new AppError('invalid_input', 'Which conversation? Name it.', { field: 'conversation' })
  }
  return { owner: scope.owner, user: scope.user ?? null, session }
}

type IngestedExchange = readonly [Turn, ...Turn[]]

/** Without those in which the person says nothing, and without what memory itself put into them. */
function listExchanges(
  input: IngestInput,
  place: SessionPlace,
  now: Instant,
): readonly IngestedExchange[] {
  const { turns, sessionDate } = input
  if (!Array.isArray(turns) || turns.length > INGESTED_EXCHANGES_MAX) {
    const message = `turns is a list of at most ${INGESTED_EXCHANGES_MAX} exchanges.`
    throw new AppError('invalid_input', message, { field: 'turns' })
  }
  const saidAt = sessionDate === undefined ? now : Number(sessionDate)
  const toTurn = (role: Turn['role'], said: unknown, position: number): Turn =>
    parseTurn({
      id: buildTurnId(place, position),
      place,
      version: 1,
      role,
      speaker: null,
      content: typeof said === 'string' ? stripBlocks(said) : said,
      position,
      saidAt,
    })
  return turns.flatMap(({ user, assistant }, index): readonly IngestedExchange[] => {
    const asked = toTurn('user', user, index * 2)
    if (asked.content.trim() === '') return []
    const answered = assistant == null ? null : toTurn('assistant', assistant, index * 2 + 1)
    const isAnswered = answered !== null && answered.content.trim() !== ''
    return [isAnswered ? [asked, answered] : [asked]]
  })
}

/** By where it stands: what is said there another time takes its place. */
function buildTurnId({ owner, user, session }: SessionPlace, position: number): TurnId {
  return `turn_${hashParts(owner, user, session, 'ingested', position)}` as TurnId // derived, see above
}

type KnownRows = {
  /** Those that came this way; others of the same session were recorded elsewhere, and stay. */
  readonly turns: ReadonlyMap<TurnId, Turn>
  readonly signals: ReadonlyMap<SignalId, Signal>
}

async function loadKnownRows(
  { store }: MemoryDependencies,
  place: SessionPlace,
): Promise<KnownRows> {
  const turns = new Map<TurnId, Turn>()
  for await (const page of pages(store, 'turn', place, { where: {} })) {
    for (const turn of page)
      if (turn.id === buildTurnId(place, turn.position)) turns.set(turn.id, turn)
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

/** The first ones that fit into a commit; one in any case. */
function takeWithinCommit(
  unlearned: readonly (readonly Change[])[],
): readonly (readonly Change[])[] {
  let changes = 0
  const over = unlearned.findIndex((each, index) => {
    changes += each.length
    return index > 0 && changes > UNLEARNED_CHANGES_MAX
  })
  return over < 0 ? unlearned : unlearned.slice(0, over)
}

/** Those that are known and say something else by now, or nothing. */
function changedTurns(
  turns: readonly Turn[],
  known: ReadonlyMap<TurnId, Turn>,
): ReadonlySet<TurnId> {
  const said = new Map(turns.map(({ id, content }) => [id, content]))
  const changed = [...known.values()].filter(({ id, content }) => said.get(id) !== content)
  return new Set(changed.map(({ id }) => id))
}

function turnChanges(
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

/**
 * When turns without a date were said: known ones keep their time, and a new one is never later than those after it, so
 * that they list in the order of the conversation.
 */
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
 * One that waits stays as it is while its exchange does, and so does one that was learned from, unless another one was
 * corrected: a digest is of the whole. A dead one has another chance, a forgotten one has none.
 */
function signalChanges(
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

/** Where nothing is to be learned for now: what waits for that, or would have to when it is. */
function isRetractable(signal: Signal, changed: ReadonlySet<TurnId>): boolean {
  if (isLearnable(signal)) return true
  return signal.status === 'processed' && signal.turns.some((id) => changed.has(id))
}
