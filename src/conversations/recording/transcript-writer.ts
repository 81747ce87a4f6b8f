/**
 * Writes the transcript, exactly once. Clients resend the whole history, retry, and spread an answer over several
 * requests; turn ids are derived from position and content, so that none of this writes a turn twice. Turns and the
 * session links by which the next request is recognized are one commit.
 */

import type { EntryId, MemoryId, SessionId, TurnId } from '../../domain/ids.ts'
import { TURN_CHARACTERS_MAX } from '../../domain/limits.ts'
import type { Exchange } from '../../domain/model-call.ts'
import type { SessionPlace } from '../../domain/scope.ts'
import type { Turn } from '../../domain/turn.ts'
import type { RecordedExchange } from '../../learning/signal-writer.ts'
import { hashParts } from '../../lib/hash.ts'
import type { Instant } from '../../lib/time.ts'
import { planExchangeSuppression } from '../../memory/deletion/turn-suppression.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import { commitWithRetry, type PlannedCommit } from '../../storage/access/optimistic-commit.ts'
import type { Change, Store } from '../../storage/store.ts'
import { claimResponse } from '../session/response-owner.ts'
import {
  buildExchangeLinks,
  buildLinkChange,
  buildLinkRemoval,
  buildOpeningLinkId,
  buildPendingLinkId,
  buildResponseLinkId,
  buildTailLinkIds,
  buildToolResultLinkId,
  type Conversation,
  hashUserMessage,
  loadLinks,
  locateSession,
  type SessionLink,
  type SessionLinks,
  type SessionPosition,
} from '../session/session-resolver.ts'

type RecordedText = { readonly turn: TurnId; readonly text: string }

/** `isHistory`: from the history in the request, so from an unknown time before it. */
type RecordedUserText = RecordedText & { readonly isHistory: boolean }

export type RecordedTranscript = {
  readonly session: SessionId
  /** The turns of the current exchange, new or not. */
  readonly turns: readonly TurnId[]
  /** New user messages, and those that are answered for the first time. */
  readonly userTexts: readonly RecordedUserText[]
  /** The answer, if it is complete and new or changed. */
  readonly answer: RecordedText | null
  /** New tool results. */
  readonly toolResults: readonly string[]
}

/** The model's answer to the current exchange; null without one. */
export type ModelReply = {
  readonly id: string | null
  readonly text: string
  /** An incomplete answer is not recorded; the client may send it as part of its history. */
  readonly isComplete: boolean
  /** The answer reached the length limit, so the user message counts as answered. */
  readonly isCutOff: boolean
  /** The answer only repeats the input; its turn is disabled, so that it is never recalled. */
  readonly isEcho: boolean
  readonly at: Instant
} | null

type RecordOptions = {
  readonly keepsToolResults: boolean
  /** Memories that memory tools forgot in this request; null when no tool can have run in its exchange. */
  readonly forgotten: readonly MemoryId[] | null
  /** Whether the provider stores the answer and returns it to anybody who knows its id. */
  readonly isStoredByProvider: boolean
  /**
   * Turns that an earlier attempt tried to write. If its commit took effect although it failed, they exist by now but
   * still count as new. A retry must pass the same set.
   */
  readonly attempted: Set<TurnId>
  /** Builds the learning signals that belong into the same commit. */
  readonly buildSignals: (
    place: SessionPlace,
    exchanges: readonly RecordedExchange[],
    store: Store,
  ) => Promise<readonly Change[]>
}

const TOOL_RESULTS_MAX = 20

export type TranscriptInput = {
  readonly conversation: Conversation
  readonly reply: ModelReply
  readonly options: RecordOptions
}

export async function recordTranscript(
  ports: MemoryDependencies,
  input: TranscriptInput,
): Promise<RecordedTranscript> {
  let isFirst = true
  return commitWithRetry(ports, async () => {
    // After a conflict, existing turns were written by somebody else.
    if (!isFirst) input.options.attempted.clear()
    isFirst = false
    return planTranscript(ports, input)
  })
}

export async function planTranscript(
  ports: MemoryDependencies,
  { conversation, reply, options }: TranscriptInput,
): Promise<PlannedCommit<RecordedTranscript>> {
  const { keepsToolResults, forgotten, isStoredByProvider, attempted, buildSignals } = options
  const isAnswered = reply !== null && (reply.isComplete || reply.isCutOff)
  const isLearnedFrom = keepsToolResults && reply?.isComplete === true
  const results = isLearnedFrom ? conversation.toolResults.slice(-TOOL_RESULTS_MAX) : []
  const nextLinkIds = listNextLinkIds(conversation, reply)
  const { start, links } = await locateSession(ports, conversation, [
    ...nextLinkIds,
    ...results.map((result) => buildToolResultLinkId(conversation, result)),
  ])
  const exchanges = buildExchanges(conversation, start, links, reply)
  const ids = exchanges.flatMap(buildTurns).map(({ id }) => id)
  const turns = await loadTurns(ports, conversation, ids)
  const known = new Map(turns.map((turn) => [turn.id, turn]))
  const pending = await loadPendingTurnIds(ports, conversation, exchanges, known)
  const rows = listChangedTurns(exchanges, known)
  for (const { id } of rows) attempted.add(id)
  if (isAnswered) for (const id of pending) attempted.add(id)
  const userTexts = listUserTexts(exchanges).filter(({ turn }) => attempted.has(turn))
  const current = exchanges.at(-1)
  const learnable = isAnswered ? listLearnable(exchanges, userTexts, rows) : []
  const { owner, user } = conversation
  const newResults = results.filter(
    (result) => !links.has(buildToolResultLinkId(conversation, result)),
  )
  const exchange = { conversation, forgotten, answeredTurn: current?.answeredTurn ?? null }
  return disableStatedFacts(ports, exchange, {
    changes: [
      ...rows.map((row) => buildTurnChange(row, known.get(row.id))),
      ...(current === undefined
        ? []
        : buildLinkChanges(conversation, start, current, nextLinkIds, links)),
      ...newResults.map((result) =>
        buildLinkChange(
          conversation,
          buildToolResultLinkId(conversation, result),
          buildNextLink(start, 0),
          undefined,
        ),
      ),
      ...(isAnswered
        ? [...pending].map((turn) =>
            buildLinkRemoval(conversation, buildPendingLinkId(conversation, turn)),
          )
        : buildPendingChanges(conversation, start, userTexts, pending)),
      ...(isStoredByProvider && reply?.id != null
        ? await claimResponse(ports, conversation, reply.id)
        : []),
      ...(learnable.length === 0
        ? []
        : await buildSignals({ owner, user, session: start.session }, learnable, ports.store)),
    ],
    result: {
      session: start.session,
      turns: current === undefined ? [] : buildTurns(current).map(({ id }) => id),
      userTexts: isAnswered ? userTexts : [],
      answer: getCurrentAnswer(current, reply, attempted),
      toolResults: newResults,
    },
  })
}

type RecordedExchangeRows = {
  /** Null if the message is part of an earlier request, or holds no text. */
  readonly user: Turn | null
  readonly assistant: Turn | null
  /** What to do if the answer exists already. */
  readonly ifKnown: 'leave' | 'replace' | 'append'
  /** The user turn that is answered. */
  readonly answeredTurn: TurnId
  readonly position: number
}

function buildExchanges(
  conversation: Conversation,
  start: SessionPosition,
  links: SessionLinks,
  reply: ModelReply,
): readonly RecordedExchangeRows[] {
  const { exchanges } = conversation
  if (exchanges.length === 0) return buildContinuation(conversation, links, reply)
  return exchanges.slice(start.from).map((exchange, index): RecordedExchangeRows => {
    const position = start.position + index
    const isCurrent = start.from + index === exchanges.length - 1
    const isAnswered = isCurrent && reply?.isComplete === true
    const answer = isAnswered ? joinAnswer(exchange.assistant, reply) : exchange.assistant
    const user = buildUserTurn(conversation, start.session, position, exchange.user)
    // Only the answer to this request is later than the request; a later time would sort history after newer turns.
    const saidAt = isAnswered ? reply.at : conversation.at
    const disabled = isAnswered && reply.isEcho
    const assistant = buildAnswerTurn(
      conversation,
      start.session,
      position,
      user.id,
      answer,
      saidAt,
    )
    return {
      user: user.content.trim() === '' ? null : user,
      assistant: assistant === null ? null : { ...assistant, disabled },
      ifKnown: isAnswered ? 'replace' : 'leave',
      answeredTurn: user.id,
      position,
    }
  })
}

/** If the provider stores the conversation, an answer continues after a tool call without a user message. */
function buildContinuation(
  conversation: Conversation,
  links: SessionLinks,
  reply: ModelReply,
): readonly RecordedExchangeRows[] {
  const { previous } = conversation
  const link =
    previous === null ? undefined : links.get(buildResponseLinkId(conversation, previous))
  if (link?.turn === undefined || reply === null) return []
  const { session, turn: answeredTurn } = link
  const position = link.position - 1
  const text = reply.isComplete ? reply.text : null
  const assistant = buildAnswerTurn(conversation, session, position, answeredTurn, text, reply.at)
  return [{ user: null, assistant, ifKnown: 'append', answeredTurn, position }]
}

/** Prepends the text before tool calls, which clients send back. */
function joinAnswer(before: string | null, reply: ModelReply): string {
  return [before ?? '', reply?.text ?? ''].filter((text) => text.trim() !== '').join('\n')
}

/** The turns to write: missing ones, and the current answer if it has changed. */
function listChangedTurns(
  exchanges: readonly RecordedExchangeRows[],
  known: ReadonlyMap<TurnId, Turn>,
): readonly Turn[] {
  return exchanges.flatMap(({ user, assistant, ifKnown }) => {
    const rows = user === null || known.has(user.id) ? [] : [user]
    if (assistant === null) return rows
    const before = known.get(assistant.id)
    if (before === undefined) return [...rows, assistant]
    const content = ifKnown === 'append' ? appendAnswer(before, assistant) : assistant.content
    if (ifKnown === 'leave' || content === before.content) return rows
    const { version, disabled } = before
    return [...rows, { ...assistant, content, disabled, version: version + 1 }]
  })
}

/** A repeated request brings the same part again. */
function appendAnswer(before: Turn, part: Turn): string {
  if (before.content.endsWith(part.content)) return before.content
  return `${before.content}\n${part.content}`.slice(0, TURN_CHARACTERS_MAX)
}

function listUserTexts(exchanges: readonly RecordedExchangeRows[]): readonly RecordedUserText[] {
  return exchanges.flatMap(({ user }, index) => {
    const isHistory = index < exchanges.length - 1
    return user === null ? [] : [{ turn: user.id, text: user.content, isHistory }]
  })
}

/** New user messages with their answers, and a new answer to an earlier message. */
function listLearnable(
  exchanges: readonly RecordedExchangeRows[],
  userTexts: readonly RecordedText[],
  rows: readonly Turn[],
): readonly RecordedExchange[] {
  const learned = new Set(userTexts.map(({ turn }) => turn))
  const written = new Set(rows.map(({ id }) => id))
  return exchanges.flatMap((exchange, index): readonly RecordedExchange[] => {
    const { user, assistant, answeredTurn, ifKnown, position } = exchange
    if (user === null && ifKnown !== 'append') return [] // no text of the user
    const isAnswered = assistant !== null && written.has(assistant.id)
    const isLast = index === exchanges.length - 1
    if (!learned.has(answeredTurn) && !(isLast && isAnswered)) return []
    const isWritten = buildTurns(exchange).some(({ id }) => written.has(id))
    const turns =
      assistant === null ? ([answeredTurn] as const) : ([answeredTurn, assistant.id] as const)
    return [{ turns, position, isWritten, isHistory: !isLast }]
  })
}

/** Nothing is learned before a complete answer, which a retry or the next request may bring. */
function buildPendingChanges(
  conversation: Conversation,
  start: SessionPosition,
  userTexts: readonly RecordedText[],
  pending: ReadonlySet<TurnId>,
): readonly Change[] {
  return userTexts
    .filter(({ turn }) => !pending.has(turn))
    .map(({ turn }) =>
      buildLinkChange(
        conversation,
        buildPendingLinkId(conversation, turn),
        buildNextLink(start, 0),
        undefined,
      ),
    )
}

function getCurrentAnswer(
  current: RecordedExchangeRows | undefined,
  reply: ModelReply,
  written: ReadonlySet<TurnId>,
): RecordedText | null {
  const turn = current?.assistant?.id
  if (turn === undefined || reply?.isComplete !== true || !written.has(turn)) return null
  return reply.text.trim() === '' ? null : { turn, text: reply.text }
}

function buildTurns({ user, assistant }: RecordedExchangeRows): readonly Turn[] {
  return [user, assistant].filter((turn) => turn !== null)
}

function buildUserTurn(
  conversation: Conversation,
  session: SessionId,
  position: number,
  content: string,
): Turn {
  const { owner, user, at } = conversation
  return {
    id: `turn_${hashParts(owner, user, session, position, content)}` as TurnId, // derived, so that a turn is stored once
    place: { owner, user, session },
    version: 1,
    role: 'user',
    speaker: null,
    content: content.slice(0, TURN_CHARACTERS_MAX),
    position: position * 2,
    saidAt: at,
    disabled: false,
  }
}

function buildAnswerTurn(
  { owner, user }: Conversation,
  session: SessionId,
  position: number,
  answeredTurn: TurnId,
  content: string | null,
  saidAt: Instant,
): Turn | null {
  if (content === null || content.trim() === '') return null
  return {
    id: `turn_${hashParts(answeredTurn)}` as TurnId, // derived, so that a user turn has one answer
    place: { owner, user, session },
    version: 1,
    role: 'assistant',
    speaker: null,
    content: content.slice(0, TURN_CHARACTERS_MAX),
    position: position * 2 + 1,
    saidAt,
    disabled: false,
  }
}

function buildTurnChange(row: Turn, before: Turn | undefined): Change {
  const expect = before === undefined ? 'absent' : { version: before.version }
  return { op: 'put', table: 'turn', row, expect }
}

/** The links by which the next request is recognized, except those that depend on the position of this one. */
function listNextLinkIds(conversation: Conversation, reply: ModelReply): readonly EntryId[] {
  if (reply === null) return []
  const { exchanges } = conversation
  const last = exchanges.at(-1)
  const assistant = joinAnswer(last?.assistant ?? null, reply)
  const isAnswered = reply.isComplete && assistant !== ''
  return [
    ...(last === undefined || !isAnswered
      ? []
      : buildExchangeLinks(conversation, exchanges.with(-1, { user: last.user, assistant }))),
    ...(reply.id === null ? [] : [buildResponseLinkId(conversation, reply.id)]),
  ]
}

function buildLinkChanges(
  conversation: Conversation,
  start: SessionPosition,
  current: RecordedExchangeRows,
  nextLinkIds: readonly EntryId[],
  links: SessionLinks,
): readonly Change[] {
  const last = conversation.exchanges.at(-1)
  const next = buildNextLink(start, current.position + 1)
  const put = (id: EntryId, link: SessionLink) =>
    buildLinkChange(conversation, id, link, links.get(id))
  // A session that was resolved by its first message keeps that link.
  const opening = start.isFollowed ? null : buildOpeningLinkId(conversation)
  return [
    ...nextLinkIds
      .filter((id) => !isLinkTo(links, id, next))
      .map((id) => put(id, { ...next, turn: current.answeredTurn })),
    ...(last === undefined ? [] : buildTailChanges(conversation, last, next, links)),
    ...(opening ?? []).map((id) => put(id, buildNextLink(start, 0))),
  ]
}

function buildTailChanges(
  conversation: Conversation,
  last: Exchange,
  next: SessionLink,
  links: SessionLinks,
): readonly Change[] {
  const ids = buildTailLinkIds(conversation)
  if (ids === null) return []
  const [tail, call] = ids
  // A retry may be before the end of the session.
  const position = Math.max(next.position, links.get(tail)?.position ?? 0)
  return [
    buildLinkChange(conversation, tail, { ...next, position }, links.get(tail)),
    buildLinkChange(conversation, call, { ...next, last: hashUserMessage(last) }, links.get(call)),
  ]
}

function buildNextLink({ session }: SessionPosition, position: number): SessionLink {
  return { session, position }
}

function isLinkTo(links: SessionLinks, id: EntryId, { session, position }: SessionLink): boolean {
  const known = links.get(id)
  return known !== undefined && known.session === session && known.position === position
}

/** Existing user turns that wait for a complete answer. */
async function loadPendingTurnIds(
  ports: MemoryDependencies,
  conversation: Conversation,
  exchanges: readonly RecordedExchangeRows[],
  known: ReadonlyMap<TurnId, Turn>,
): Promise<ReadonlySet<TurnId>> {
  const turns = exchanges.flatMap(({ user }) =>
    user !== null && known.has(user.id) ? user.id : [],
  )
  const links = await loadLinks(
    ports,
    conversation,
    turns.map((turn) => buildPendingLinkId(conversation, turn)),
  )
  return new Set(turns.filter((turn) => links.has(buildPendingLinkId(conversation, turn))))
}

type ForgettingExchange = {
  readonly conversation: Conversation
  /** Null when no memory tool can have forgotten anything. */
  readonly forgotten: readonly MemoryId[] | null
  /** The user turn that is answered; an earlier request may have stored it. */
  readonly answeredTurn: TurnId | null
}

/** Stores turns disabled that state facts which a memory tool forgot in this exchange. */
async function disableStatedFacts(
  ports: MemoryDependencies,
  { conversation, forgotten, answeredTurn }: ForgettingExchange,
  planned: PlannedCommit<RecordedTranscript>,
): Promise<PlannedCommit<RecordedTranscript>> {
  if (forgotten === null || answeredTurn === null) return planned
  const { changes, result } = planned
  const ids = [...new Set([answeredTurn, ...result.turns])]
  const written = changes.flatMap((change) =>
    isTurnPut(change) && ids.includes(change.row.id) ? change.row : [],
  )
  const others = ids.filter((id) => written.every((turn) => turn.id !== id))
  const stored = await loadTurns(ports, conversation, others)
  const plan = await planExchangeSuppression(ports, [...written, ...stored], forgotten)
  const disabled = new Map(plan.turns.map((turn) => [turn.id, turn]))
  const isDisabled = (text: RecordedText | null) => text !== null && disabled.has(text.turn)
  return {
    changes: [
      ...changes.map((change) =>
        isTurnPut(change) ? { ...change, row: disabled.get(change.row.id) ?? change.row } : change,
      ),
      ...stored.flatMap(({ id, version }): readonly Change[] => {
        const turn = disabled.get(id)
        if (turn === undefined) return []
        const row = { ...turn, version: version + 1 }
        return [{ op: 'put', table: 'turn', row, expect: { version } }]
      }),
      ...plan.changes,
    ],
    // Nothing is learned from a disabled turn.
    result: {
      ...result,
      userTexts: result.userTexts.filter((text) => !isDisabled(text)),
      answer: isDisabled(result.answer) ? null : result.answer,
    },
  }
}

type TurnPut = Extract<Change, { readonly op: 'put'; readonly table: 'turn' }>

function isTurnPut(change: Change): change is TurnPut {
  return change.op === 'put' && change.table === 'turn'
}

async function loadTurns(
  { store }: MemoryDependencies,
  { owner, user }: Conversation,
  ids: readonly TurnId[],
): Promise<readonly Turn[]> {
  if (ids.length === 0) return []
  return (await store.find('turn', { owner, user }, { where: { ids }, limit: ids.length })).rows
}
