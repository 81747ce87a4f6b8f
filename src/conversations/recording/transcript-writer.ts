/**
 * The transcript: what was said, kept exactly once. Clients resend their whole history, try again, and go on in pieces;
 * ids are made from where a turn stands and what it says, so that none of that writes anything twice. Turns and the links
 * by which the conversation is known again are one commit.
 */

import { parseEntries } from '../../domain/entries/entry.ts'
import type { EntryId, MemoryId, SessionId, TurnId } from '../../domain/ids.ts'
import { TURN_CHARACTERS_MAX } from '../../domain/limits.ts'
import type { Exchange } from '../../domain/model-call.ts'
import type { SessionPlace } from '../../domain/scope.ts'
import type { Turn } from '../../domain/turn.ts'
import type { RecordedExchange } from '../../learning/signal-writer.ts'
import { hashParts } from '../../lib/hash.ts'
import type { Instant } from '../../lib/time.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import { commitWithRetry, type PlannedCommit } from '../../storage/access/optimistic-commit.ts'
import type { Change, Store } from '../../storage/store.ts'
import { claimResponse } from '../session/response-owner.ts'
import {
  buildExchangeLinks,
  buildLeads,
  buildLinkChange,
  buildLinkRemoval,
  buildOpeningLinkId,
  buildPendingLinkId,
  buildResponseLinkId,
  buildTailLinkIds,
  buildToolResultLinkId,
  type Conversation,
  findOpenedSession,
  hashUserMessage,
  type KnownLinks,
  listLinkIds,
  resolvePosition,
  type SessionLink,
  type SessionLinks,
  type SessionPosition,
  toStoredLink,
} from '../session/session-resolver.ts'
import { disableStatedFacts } from './forgotten-facts.ts'

export type RecordedText = { readonly turn: TurnId; readonly text: string }

/** `isHistory`: part of the history that the client sent, so said at an unknown time before the request. */
export type RecordedUserText = RecordedText & { readonly isHistory: boolean }

/** What was kept, and what of it is to be learned from. */
export type RecordedTranscript = {
  readonly session: SessionId
  /** Of what was asked now, whether or not they were there already. */
  readonly turns: readonly TurnId[]
  /** What the person said, as far as it is new, and was answered for the first time. */
  readonly userTexts: readonly RecordedUserText[]
  /** What was answered, when it is whole, and new or another than before. */
  readonly answer: RecordedText | null
  /** What tools returned, as far as it is new. */
  readonly toolResults: readonly string[]
}

/** What the model said to what was asked now; null when nothing came. */
export type ModelReply = {
  readonly id: string | null
  readonly text: string
  /** What broke off is not kept; the client may send it back as part of the conversation. */
  readonly isComplete: boolean
  /** It became too long: the person was heard to the end all the same. */
  readonly isCutOff: boolean
  readonly at: Instant
} | null

export type RecordOptions = {
  readonly keepsToolResults: boolean
  /** What memory tools forgot in this request; null where none can have in its exchange. */
  readonly forgotten: readonly MemoryId[] | null
  /** Whether the provider keeps the answer, and gives it to whoever names it. */
  readonly isKeptByProvider: boolean
  /**
   * Turns that an earlier attempt tried to write. If it failed after its effect they are there by now, and still new.
   * Whoever tries again gives the same set again.
   */
  readonly attempted: Set<TurnId>
  /** Gives what else goes into the commit, so that what can be learned from is not lost. */
  readonly note: (
    place: SessionPlace,
    exchanges: readonly RecordedExchange[],
    store: Store,
  ) => Promise<readonly Change[]>
}

const TOOL_RESULTS_MAX = 20

/** The session that a request belongs to, without keeping anything. */
export async function resolveSession(
  ports: MemoryDependencies,
  conversation: Conversation,
): Promise<SessionId> {
  const { spot } = await locateSession(ports, conversation, [])
  return spot.session
}

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
    // Somebody else was faster: what is there now is theirs.
    if (!isFirst) input.options.attempted.clear()
    isFirst = false
    return planTranscript(ports, input)
  })
}

export async function planTranscript(
  ports: MemoryDependencies,
  { conversation, reply, options }: TranscriptInput,
): Promise<PlannedCommit<RecordedTranscript>> {
  const { keepsToolResults, forgotten, isKeptByProvider, attempted, note } = options
  const isHeard = reply !== null && (reply.isComplete || reply.isCutOff)
  const isLearnedFrom = keepsToolResults && reply?.isComplete === true
  const results = isLearnedFrom ? conversation.toolResults.slice(-TOOL_RESULTS_MAX) : []
  const made = buildLinks(conversation, reply)
  const { spot, links } = await locateSession(ports, conversation, [
    ...made,
    ...results.map((result) => buildToolResultLinkId(conversation, result)),
  ])
  const exchanges = buildExchanges(conversation, spot, links, reply)
  const known = await loadTurns(ports, conversation, exchanges)
  const waiting = await loadPendingTurnIds(ports, conversation, exchanges, known)
  const rows = listRows(exchanges, known)
  for (const { id } of rows) attempted.add(id)
  if (isHeard) for (const id of waiting) attempted.add(id)
  const said = saidByUser(exchanges).filter(({ turn }) => attempted.has(turn))
  const asked = exchanges.at(-1)
  const noted = isHeard ? listLearnable(exchanges, said, rows) : []
  const { owner, user } = conversation
  const newResults = results.filter(
    (result) => !links.has(buildToolResultLinkId(conversation, result)),
  )
  const exchange = { conversation, forgotten, spoken: asked?.spoken ?? null }
  return disableStatedFacts(ports, exchange, {
    changes: [
      ...rows.map((row) => putTurn(row, known.get(row.id))),
      ...(asked === undefined ? [] : linkChanges(conversation, spot, asked, made, links)),
      ...newResults.map((result) =>
        buildLinkChange(
          conversation,
          buildToolResultLinkId(conversation, result),
          buildNextLink(spot, 0),
          undefined,
        ),
      ),
      ...(isHeard
        ? [...waiting].map((turn) =>
            buildLinkRemoval(conversation, buildPendingLinkId(conversation, turn)),
          )
        : buildPendingChanges(conversation, spot, said, waiting)),
      ...(isKeptByProvider && reply?.id != null
        ? await claimResponse(ports, conversation, reply.id)
        : []),
      ...(noted.length === 0
        ? []
        : await note({ owner, user, session: spot.session }, noted, ports.store)),
    ],
    result: {
      session: spot.session,
      turns: asked === undefined ? [] : buildTurns(asked).map(({ id }) => id),
      userTexts: isHeard ? said : [],
      answer: getCurrentAnswer(asked, reply, attempted),
      toolResults: newResults,
    },
  })
}

/** An exchange as turns. */
type RecordedExchangeRows = {
  /** Null where the person spoke in an earlier request, or showed something without a word. */
  readonly user: Turn | null
  readonly assistant: Turn | null
  /** What becomes of an answer that is there already. */
  readonly ifKnown: 'leave' | 'replace' | 'append'
  /** The turn that is answered. */
  readonly spoken: TurnId
  readonly position: number
}

function buildExchanges(
  conversation: Conversation,
  spot: SessionPosition,
  links: SessionLinks,
  reply: ModelReply,
): readonly RecordedExchangeRows[] {
  const { exchanges } = conversation
  if (exchanges.length === 0) return continuation(conversation, links, reply)
  return exchanges.slice(spot.from).map((exchange, index): RecordedExchangeRows => {
    const position = spot.position + index
    const isAsked = spot.from + index === exchanges.length - 1
    const isAnswered = isAsked && reply?.isComplete === true
    const answer = isAnswered ? joinAnswer(exchange.assistant, reply) : exchange.assistant
    const user = userTurn(conversation, spot.session, position, exchange.user)
    // Only the answer to this request is later than the request; a later time would sort history after what follows it.
    const saidAt = isAnswered ? reply.at : conversation.at
    return {
      user: user.content.trim() === '' ? null : user,
      assistant: answerTurn(conversation, spot.session, position, user.id, answer, saidAt),
      ifKnown: isAnswered ? 'replace' : 'leave',
      spoken: user.id,
      position,
    }
  })
}

/** Where the provider keeps the conversation, an answer goes on after a tool without anything being said. */
function continuation(
  conversation: Conversation,
  links: SessionLinks,
  reply: ModelReply,
): readonly RecordedExchangeRows[] {
  const { previous } = conversation
  const link =
    previous === null ? undefined : links.get(buildResponseLinkId(conversation, previous))
  if (link?.turn === undefined || reply === null) return []
  const { session, turn: spoken } = link
  const position = link.position - 1
  const text = reply.isComplete ? reply.text : null
  const assistant = answerTurn(conversation, session, position, spoken, text, reply.at)
  return [{ user: null, assistant, ifKnown: 'append', spoken, position }]
}

/** With what the model said before it called tools, which clients send back. */
function joinAnswer(before: string | null, reply: ModelReply): string {
  return [before ?? '', reply?.text ?? ''].filter((text) => text.trim() !== '').join('\n')
}

/** What is to be written: what is not there, and the answer to what was asked now when it is another than before. */
function listRows(
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

/** A request that is repeated brings the same piece again. */
function appendAnswer(before: Turn, piece: Turn): string {
  if (before.content.endsWith(piece.content)) return before.content
  return `${before.content}\n${piece.content}`.slice(0, TURN_CHARACTERS_MAX)
}

function saidByUser(exchanges: readonly RecordedExchangeRows[]): readonly RecordedUserText[] {
  return exchanges.flatMap(({ user }, index) => {
    const isHistory = index < exchanges.length - 1
    return user === null ? [] : [{ turn: user.id, text: user.content, isHistory }]
  })
}

/** What the person said and is learned from, with its answer; and what was answered now to what was said before. */
function listLearnable(
  exchanges: readonly RecordedExchangeRows[],
  said: readonly RecordedText[],
  rows: readonly Turn[],
): readonly RecordedExchange[] {
  const learned = new Set(said.map(({ turn }) => turn))
  const written = new Set(rows.map(({ id }) => id))
  return exchanges.flatMap((exchange, index): readonly RecordedExchange[] => {
    const { user, assistant, spoken, ifKnown, position } = exchange
    if (user === null && ifKnown !== 'append') return [] // nobody said a word
    const isAnswered = assistant !== null && written.has(assistant.id)
    const isLast = index === exchanges.length - 1
    if (!learned.has(spoken) && !(isLast && isAnswered)) return []
    const isWritten = buildTurns(exchange).some(({ id }) => written.has(id))
    const turns = assistant === null ? ([spoken] as const) : ([spoken, assistant.id] as const)
    return [{ turns, position, isWritten, isHistory: !isLast }]
  })
}

/** Without a whole answer nothing is learned, but it may come: by trying again, or when the conversation goes on. */
function buildPendingChanges(
  conversation: Conversation,
  spot: SessionPosition,
  said: readonly RecordedText[],
  waiting: ReadonlySet<TurnId>,
): readonly Change[] {
  return said
    .filter(({ turn }) => !waiting.has(turn))
    .map(({ turn }) =>
      buildLinkChange(
        conversation,
        buildPendingLinkId(conversation, turn),
        buildNextLink(spot, 0),
        undefined,
      ),
    )
}

function getCurrentAnswer(
  asked: RecordedExchangeRows | undefined,
  reply: ModelReply,
  written: ReadonlySet<TurnId>,
): RecordedText | null {
  const turn = asked?.assistant?.id
  if (turn === undefined || reply?.isComplete !== true || !written.has(turn)) return null
  return reply.text.trim() === '' ? null : { turn, text: reply.text }
}

function buildTurns({ user, assistant }: RecordedExchangeRows): readonly Turn[] {
  return [user, assistant].filter((turn) => turn !== null)
}

function userTurn(
  conversation: Conversation,
  session: SessionId,
  position: number,
  content: string,
): Turn {
  const { owner, user, at } = conversation
  return {
    id: `turn_${hashParts(owner, user, session, position, content)}` as TurnId, // derived: said once, kept once
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

function answerTurn(
  { owner, user }: Conversation,
  session: SessionId,
  position: number,
  answers: TurnId,
  content: string | null,
  saidAt: Instant,
): Turn | null {
  if (content === null || content.trim() === '') return null
  return {
    id: `turn_${hashParts(answers)}` as TurnId, // derived: one answer for each question
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

function putTurn(row: Turn, before: Turn | undefined): Change {
  const expect = before === undefined ? 'absent' : { version: before.version }
  return { op: 'put', table: 'turn', row, expect }
}

/** What the next request of the conversation will be known by, as far as it doesn't depend on where this one stands. */
function buildLinks(conversation: Conversation, reply: ModelReply): readonly EntryId[] {
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

function linkChanges(
  conversation: Conversation,
  spot: SessionPosition,
  asked: RecordedExchangeRows,
  made: readonly EntryId[],
  links: SessionLinks,
): readonly Change[] {
  const last = conversation.exchanges.at(-1)
  const next = buildNextLink(spot, asked.position + 1)
  const put = (id: EntryId, link: SessionLink) =>
    buildLinkChange(conversation, id, link, links.get(id))
  // Found by its opening, it is known by it from now on.
  const opening = spot.isFollowed ? null : buildOpeningLinkId(conversation)
  return [
    ...made
      .filter((id) => !isLinkTo(links, id, next))
      .map((id) => put(id, { ...next, turn: asked.spoken })),
    ...(last === undefined ? [] : tailChanges(conversation, last, next, links)),
    ...(opening ?? []).map((id) => put(id, buildNextLink(spot, 0))),
  ]
}

function tailChanges(
  conversation: Conversation,
  last: Exchange,
  next: SessionLink,
  links: SessionLinks,
): readonly Change[] {
  const ids = buildTailLinkIds(conversation)
  if (ids === null) return []
  const [tail, call] = ids
  // Who tries again may stand before the end.
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

/** Where the request stands, with the links that led there and others that are asked for. */
async function locateSession(
  ports: MemoryDependencies,
  conversation: Conversation,
  others: readonly EntryId[],
): Promise<{ readonly spot: SessionPosition; readonly links: SessionLinks }> {
  const { leads, links } = await followLeads(ports, conversation, [
    ...listLinkIds(conversation),
    ...others,
  ])
  const opened = findOpenedSession(conversation, links)
  const hasGoneOn = opened !== null && (await isPastOpening(ports, conversation, opened))
  return { spot: resolvePosition(conversation, { leads, links, hasGoneOn }), links }
}

/** Looks for one lead, which most often is there, and for the others only where it is not. */
async function followLeads(
  ports: MemoryDependencies,
  conversation: Conversation,
  sought: readonly EntryId[],
): Promise<Pick<KnownLinks, 'leads' | 'links'>> {
  const { surest, others } = buildLeads(conversation)
  if (surest === null) return { leads: [], links: await loadLinks(ports, conversation, sought) }
  const links = await loadLinks(ports, conversation, [surest.id, ...sought])
  if (links.has(surest.id)) return { leads: [surest], links }
  const leads = others()
  const more = await loadLinks(
    ports,
    conversation,
    leads.map(({ id }) => id),
  )
  return { leads, links: new Map([...links, ...more]) }
}

async function isPastOpening(
  { store }: MemoryDependencies,
  { owner, user }: Conversation,
  session: SessionId,
): Promise<boolean> {
  const query = { where: {}, order: 'lastSaid', limit: 1 } as const
  const { rows } = await store.find('turn', { owner, user, session }, query)
  return rows.some(({ position }) => position > 1)
}

/** Those of the turns that are there which still wait for a whole answer. */
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

async function loadLinks(
  { store }: MemoryDependencies,
  { owner, user }: Conversation,
  ids: readonly EntryId[],
): Promise<SessionLinks> {
  const sought = [...new Set(ids)]
  if (sought.length === 0) return new Map()
  const { rows } = await store.find(
    'entry',
    { owner, user },
    { where: { ids: sought }, limit: sought.length },
  )
  const links = parseEntries('session-link', rows)
  return new Map(links.map((entry) => [entry.id, toStoredLink(entry)]))
}

async function loadTurns(
  { store }: MemoryDependencies,
  { owner, user }: Conversation,
  exchanges: readonly RecordedExchangeRows[],
): Promise<ReadonlyMap<TurnId, Turn>> {
  const ids = exchanges.flatMap(buildTurns).map(({ id }) => id)
  if (ids.length === 0) return new Map()
  const { rows } = await store.find('turn', { owner, user }, { where: { ids }, limit: ids.length })
  return new Map(rows.map((turn) => [turn.id, turn]))
}
