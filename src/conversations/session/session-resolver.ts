/**
 * Resolves the session of a request when the client does not name it. A request repeats something of earlier requests of
 * its conversation: the id of the previous response, earlier exchanges or the first message. Session links, stored under
 * a hash of each of these, lead to the session and to the position of the next exchange.
 */

import { stripBlocks } from '../../domain/context-block.ts'
import type { Entry } from '../../domain/entry.ts'
import type { EntryId, OwnerId, SessionId, TurnId, UserId } from '../../domain/ids.ts'
import type { Exchange } from '../../domain/model-call.ts'
import { parseScope } from '../../domain/scope.ts'
import { hashParts } from '../../lib/hash.ts'
import type { JsonObject } from '../../lib/json.ts'
import { addMs, DAY_MS, type Instant } from '../../lib/time.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import type { Change } from '../../storage/store.ts'
import type { ConversationRequest } from '../conversations.ts'
import {
  EXCHANGE_WINDOWS,
  ExchangeHashes,
  removeNumericWords,
  removeWhitespace,
} from './exchange-hashes.ts'

export type Conversation = {
  readonly owner: OwnerId
  readonly user: UserId | null
  /** The session that the client names. */
  readonly named: SessionId | null
  /** In order, without context blocks; the last one is the current one. */
  readonly exchanges: readonly Exchange[]
  readonly toolResults: readonly string[]
  /** The hash of the system prompt: the same messages under another system prompt are another conversation. */
  readonly instructions: string
  /** The id of the previous response, and the provider's id of the conversation. */
  readonly previous: string | null
  readonly conversation: string | null
  /** The time of the request. */
  readonly at: Instant
}

/** The conversation of a request, without context blocks. */
export function toConversation(
  { scope, request, format }: ConversationRequest,
  at: Instant,
): Conversation {
  const { owner, user = null, session = null } = parseScope(scope)
  const { conversationId } = request
  const instructions = hashParts(removeNumericWords(stripBlocks(request.instructions)))
  return {
    ...{ owner, user, named: session, instructions, at },
    exchanges: request.exchanges.map((exchange) => ({
      user: stripBlocks(exchange.user),
      assistant: exchange.assistant === null ? null : stripBlocks(exchange.assistant),
    })),
    toolResults: request.toolResults.map(stripBlocks),
    previous: request.previousResponseId,
    // Where no provider stores the conversation, clients give all their requests one name: chats, but also titles and topics.
    conversation:
      conversationId !== null && format === 'messages'
        ? hashParts(conversationId, instructions)
        : conversationId,
  }
}

export type SessionLink = {
  readonly session: SessionId
  /** The position of the next exchange in the session. */
  readonly position: number
  /** The hash of the last user message, for clients that send only new messages. */
  readonly last?: string
  /** The user turn, for an answer that is spread over several requests. */
  readonly turn?: TurnId
}

type StoredSessionLink = SessionLink & { readonly entry: Entry }

export type SessionLinks = ReadonlyMap<EntryId, StoredSessionLink>

/** The position of a request in a session. */
export type SessionPosition = {
  readonly session: SessionId
  /** The first exchange of the request that may be new, and its position in the session. */
  readonly from: number
  readonly position: number
  /** Whether all exchanges before it are known; if not, recording began in the middle of the conversation. */
  readonly isFollowed: boolean
}

/** At most so many exchanges of a history are recorded with one request. */
const EXCHANGES_MAX = 200

/** How many exchanges back links are looked up: links of histories, and links of windows. */
const HISTORY_LOOKUPS_MAX = 50
const WINDOW_LOOKUPS_MAX = 10

/** The same first message again is a retry within this time, and a new session after it. */
const IDLE_MS = 30 * 60_000

export const LINK_TTL_MS = 30 * DAY_MS

/** The session of a request, without recording anything. */
export async function resolveSession(
  ports: MemoryDependencies,
  conversation: Conversation,
): Promise<SessionId> {
  const { start } = await locateSession(ports, conversation, [])
  return start.session
}

/** The position of a request, with the links that led there and the `others`. */
export async function locateSession(
  ports: MemoryDependencies,
  conversation: Conversation,
  others: readonly EntryId[],
): Promise<{ readonly start: SessionPosition; readonly links: SessionLinks }> {
  const { leads, links } = await followLeads(ports, conversation, [
    ...listLinkIds(conversation),
    ...others,
  ])
  const opened = findOpenedSession(conversation, links)
  const hasGoneOn = opened !== null && (await isPastOpening(ports, conversation, opened))
  return { start: resolvePosition(conversation, { leads, links, hasGoneOn }), links }
}

/** Looks up the history link first, which mostly exists, and the others only if it does not. */
async function followLeads(
  ports: MemoryDependencies,
  conversation: Conversation,
  ids: readonly EntryId[],
): Promise<Pick<KnownLinks, 'leads' | 'links'>> {
  const { history, others } = buildLeads(conversation)
  if (history === null) return { leads: [], links: await loadLinks(ports, conversation, ids) }
  const links = await loadLinks(ports, conversation, [history.id, ...ids])
  if (links.has(history.id)) return { leads: [history], links }
  const leads = others()
  const otherLinks = await loadLinks(
    ports,
    conversation,
    leads.map(({ id }) => id),
  )
  return { leads, links: new Map([...links, ...otherLinks]) }
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

export async function loadLinks(
  { store }: MemoryDependencies,
  { owner, user }: Conversation,
  ids: readonly EntryId[],
): Promise<SessionLinks> {
  const unique = [...new Set(ids)]
  if (unique.length === 0) return new Map()
  const { rows } = await store.find(
    'entry',
    { owner, user },
    { where: { ids: unique, kinds: ['thread'] }, limit: unique.length },
  )
  return new Map(rows.map((entry) => [entry.id, parseLink(entry)]))
}

/** The id of a possible link, and the exchange that would follow it. */
type SessionLead = { readonly id: EntryId; readonly end: number }

/** Possible links through the exchanges before the current one. */
type SessionLeads = {
  /** Through the whole history, as in most requests. Null without earlier exchanges. */
  readonly history: SessionLead | null
  /** The others, most distinctive first, then latest first. Computed lazily. */
  others(): readonly SessionLead[]
}

function buildLeads(conversation: Conversation): SessionLeads {
  const { exchanges, named } = conversation
  const completed = exchanges.slice(0, -1)
  const hashes = new ExchangeHashes(completed)
  const ends = completed.map((_, index) => completed.length - index)
  // Within a named session, a single exchange cannot lead to another session.
  const isUsable = (length: number, end: number) =>
    length <= end && (named !== null || hashes.isDistinctive(length, end))
  const toHistoryLead = (end: number) => ({
    id: buildHistoryLinkId(conversation, hashes, end),
    end,
  })
  return {
    history: completed.length === 0 ? null : toHistoryLead(completed.length),
    others: () => [
      ...ends.slice(1, HISTORY_LOOKUPS_MAX).map(toHistoryLead),
      ...EXCHANGE_WINDOWS.flatMap((length) =>
        ends
          .slice(0, WINDOW_LOOKUPS_MAX)
          .filter((end) => isUsable(length, end))
          .map((end) => ({ id: buildWindowLinkId(conversation, hashes, length, end), end })),
      ),
    ],
  }
}

/** The links by which the next request is recognized, once the last of these exchanges is answered. */
export function buildExchangeLinks(
  conversation: Conversation,
  answered: readonly Exchange[],
): readonly EntryId[] {
  const hashes = new ExchangeHashes(answered)
  const end = answered.length
  // A window over all exchanges equals the history.
  const lengths = EXCHANGE_WINDOWS.filter((length) => length < end)
  return [
    buildHistoryLinkId(conversation, hashes, end),
    ...lengths.map((length) => buildWindowLinkId(conversation, hashes, length, end)),
  ]
}

/** Other links that may lead to the session. */
function listLinkIds(conversation: Conversation): readonly EntryId[] {
  const { previous } = conversation
  return [
    ...(previous === null ? [] : [buildResponseLinkId(conversation, previous)]),
    ...(buildTailLinkIds(conversation) ?? buildOpeningLinkId(conversation) ?? []),
  ]
}

type KnownLinks = {
  /** In order of precedence. */
  readonly leads: readonly SessionLead[]
  readonly links: SessionLinks
  /** Whether the session of the opening link holds more than its first exchange. */
  readonly hasGoneOn: boolean
}

function resolvePosition(conversation: Conversation, known: KnownLinks): SessionPosition {
  const position =
    resolveByResponse(conversation, known) ??
    resolveByExchange(known) ??
    resolveByTail(conversation, known) ??
    resolveByOpening(conversation, known)
  const skipped = Math.max(0, conversation.exchanges.length - EXCHANGES_MAX - position.from)
  return { ...position, from: position.from + skipped, position: position.position + skipped }
}

function resolveByResponse(
  conversation: Conversation,
  { links }: KnownLinks,
): SessionPosition | null {
  const { previous, named } = conversation
  if (previous === null) return null
  const link = links.get(buildResponseLinkId(conversation, previous))
  if (link === undefined || (named !== null && link.session !== named)) return null
  return { session: link.session, from: 0, position: link.position, isFollowed: true }
}

function resolveByExchange({ leads, links }: KnownLinks): SessionPosition | null {
  for (const { id, end } of leads) {
    const link = links.get(id)
    if (link === undefined) continue
    return { session: link.session, from: end, position: link.position, isFollowed: true }
  }
  return null
}

/** For clients that name the conversation and may send only new messages. */
function resolveByTail(conversation: Conversation, { links }: KnownLinks): SessionPosition | null {
  const { exchanges, named } = conversation
  const ids = buildTailLinkIds(conversation)
  if (ids === null) return null
  const [link, call] = ids.map((id) => links.get(id))
  const session = named ?? link?.session ?? buildSessionId(conversation, conversation.conversation)
  const [only] = exchanges
  if (link === undefined || exchanges.length !== 1 || only === undefined) {
    return { session, from: 0, position: 0, isFollowed: false }
  }
  const isAgain =
    call?.last === hashUserMessage(only) &&
    !(isIdle(call, conversation) && isNewSession(conversation))
  const position = isAgain ? call.position - 1 : link.position
  return { session, from: 0, position, isFollowed: true }
}

function resolveByOpening(
  conversation: Conversation,
  { links, hasGoneOn }: KnownLinks,
): SessionPosition {
  const link = findOpening(conversation, links)
  const opening = conversation.exchanges[0]?.user ?? null
  const words = opening === null ? conversation.previous : removeWhitespace(opening)
  const isAnother =
    link !== undefined && isNewSession(conversation) && (hasGoneOn || isIdle(link, conversation))
  const session = isAnother
    ? buildSessionId(conversation, words, conversation.at)
    : (link?.session ?? buildSessionId(conversation, words))
  return { session, from: 0, position: 0, isFollowed: false }
}

function findOpening(
  conversation: Conversation,
  links: SessionLinks,
): StoredSessionLink | undefined {
  const [id] = buildOpeningLinkId(conversation) ?? []
  return id === undefined ? undefined : links.get(id)
}

/** The session that the first message may have opened; null if the request holds more than a first message. */
function findOpenedSession(conversation: Conversation, links: SessionLinks): SessionId | null {
  return (isNewSession(conversation) && findOpening(conversation, links)?.session) || null
}

function isIdle({ entry }: StoredSessionLink, { at }: Conversation): boolean {
  return at - entry.at >= IDLE_MS
}

/** Whether the request holds only a first message. */
function isNewSession({ exchanges, toolResults }: Conversation): boolean {
  return exchanges.length === 1 && exchanges[0]?.assistant === null && toolResults.length === 0
}

function buildSessionId(
  { owner, user, instructions }: Conversation,
  words: string | null,
  at: Instant | null = null,
): SessionId {
  return `ses_${hashParts(owner, user, instructions, words, at)}` as SessionId // derived, so that the same first message gives the same session
}

type LinkKind = readonly (string | number | null)[]

function buildLinkId({ owner, user }: Conversation, ...what: LinkKind): EntryId {
  return `thr_${hashParts(owner, user, ...what)}` as EntryId // derived from what the link stands for
}

export function buildResponseLinkId(conversation: Conversation, response: string): EntryId {
  return buildLinkId(conversation, 'response', response)
}

function buildHistoryLinkId(
  conversation: Conversation,
  hashes: ExchangeHashes,
  end: number,
): EntryId {
  return buildLinkId(conversation, 'whole', conversation.named, hashes.hashHistory(end))
}

function buildWindowLinkId(
  conversation: Conversation,
  hashes: ExchangeHashes,
  length: number,
  end: number,
): EntryId {
  return buildLinkId(
    conversation,
    'run',
    conversation.named,
    length,
    hashes.hashWindow(length, end),
  )
}

/** Exists while a turn waits for a complete answer, before which nothing is learned from it. */
export function buildPendingLinkId(conversation: Conversation, turn: TurnId): EntryId {
  return buildLinkId(conversation, 'waiting', turn)
}

export function buildToolResultLinkId(conversation: Conversation, result: string): EntryId {
  return buildLinkId(conversation, 'tool', result)
}

/** Links to the end of a named conversation, and to its last request with the same system prompt. */
export function buildTailLinkIds(conversation: Conversation): readonly [EntryId, EntryId] | null {
  const { named, instructions } = conversation
  const name = named ?? conversation.conversation
  if (name === null) return null
  const kind = named === null ? 'conversation' : 'session'
  return [
    buildLinkId(conversation, kind, name),
    buildLinkId(conversation, kind, name, instructions),
  ]
}

export function buildOpeningLinkId(conversation: Conversation): readonly [EntryId] | null {
  const [first] = conversation.exchanges
  if (first === undefined || buildTailLinkIds(conversation) !== null) return null
  return [
    buildLinkId(conversation, 'opening', conversation.instructions, removeWhitespace(first.user)),
  ]
}

export function hashUserMessage({ user }: Exchange): string {
  return hashParts(removeWhitespace(user))
}

/** Parses an entry that `buildLinkChange` built. */
function parseLink(entry: Entry): StoredSessionLink {
  const { session, position, last, turn } = entry.body
  return {
    session: session as SessionId, // written by `buildLinkChange`, like the other fields
    position: Number(position),
    ...(typeof last === 'string' ? { last } : {}),
    ...(typeof turn === 'string' ? { turn: turn as TurnId } : {}),
    entry,
  }
}

export function buildLinkChange(
  { owner, user, at }: Conversation,
  id: EntryId,
  link: SessionLink,
  known: StoredSessionLink | undefined,
): Change {
  const row: Entry = {
    id,
    place: { owner, user, session: null },
    kind: 'thread',
    about: null,
    at,
    expiresAt: addMs(at, LINK_TTL_MS),
    version: (known?.entry.version ?? 0) + 1,
    body: { ...link } satisfies JsonObject,
  }
  const expect = known === undefined ? 'absent' : { version: known.entry.version }
  return { op: 'put', table: 'entry', row, expect }
}

export function buildLinkRemoval({ owner, user }: Conversation, id: EntryId): Change {
  return { op: 'remove', table: 'entry', scope: { owner, user }, id, expect: 'any' }
}
