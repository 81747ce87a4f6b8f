/**
 * Threads: by what a conversation is known again, when the client doesn't name it. Each request of a conversation holds
 * something that an earlier one held as well: the answer that it goes on from, the exchanges before, or the words that it
 * opened with. A link leads from the hash of such a thing to the session, and to the place in it that comes next.
 */

import type { SessionLinkBody } from '../../domain/entries/conversation-entries.ts'
import type { Entry, EntryOf } from '../../domain/entries/entry.ts'
import type { EntryId, OwnerId, SessionId, TurnId, UserId } from '../../domain/ids.ts'
import type { Exchange } from '../../domain/model-call.ts'
import { hashParts } from '../../lib/hash.ts'
import { addMs, DAY_MS, type Instant } from '../../lib/time.ts'
import { buildEntryChange } from '../../storage/access/system-entries.ts'
import type { Change } from '../../storage/store.ts'
import { EXCHANGE_WINDOWS, ExchangeHashes, removeWhitespace } from './exchange-hashes.ts'

export type Conversation = {
  readonly owner: OwnerId
  readonly user: UserId | null
  /** The session that the client named. */
  readonly named: SessionId | null
  /** In order, the last one is being asked now; blocks of memories are no part of them. */
  readonly exchanges: readonly Exchange[]
  readonly toolResults: readonly string[]
  /** The hash of what the model is told to be: the same words under another system prompt are another call. */
  readonly instructions: string
  /** The answer that the request goes on from, and the conversation by the provider's name. */
  readonly previous: string | null
  readonly conversation: string | null
  /** When it was asked. */
  readonly at: Instant
}

export type SessionLink = SessionLinkBody

export type StoredSessionLink = SessionLink & { readonly entry: Entry }

export type SessionLinks = ReadonlyMap<EntryId, StoredSessionLink>

/** Where a request stands. */
export type SessionPosition = {
  readonly session: SessionId
  /** The first exchange of the request that may be new, and where it stands in the session. */
  readonly from: number
  readonly position: number
  /** Whether all before that exchange is known; otherwise the conversation was met in the middle. */
  readonly isFollowed: boolean
}

/** Of a long history, only so much is kept at once. */
export const EXCHANGES_MAX = 200

/** How far back the last exchange that is known may lie, where all before it is the same, and where only some is. */
const WHOLE_SOUGHT_MAX = 50
const RUNS_SOUGHT_MAX = 10

/** The same words again after this time begin something new; before, it is somebody trying again. */
const IDLE_MS = 30 * 60_000

export const LINK_TTL_MS = 30 * DAY_MS

/** A link to look for, and the exchange that would come after it. */
type SessionLead = { readonly id: EntryId; readonly end: number }

/** Leads to the session through the exchanges before what is asked now. */
export type SessionLeads = {
  /** Through all of them: how most conversations go on. Null where there are none. */
  readonly surest: SessionLead | null
  /** The surer first, and of those the latest. Worked out when it is asked for. */
  others(): readonly SessionLead[]
}

export function buildLeads(conversation: Conversation): SessionLeads {
  const { exchanges, named } = conversation
  const completed = exchanges.slice(0, -1)
  const runs = new ExchangeHashes(completed)
  const ends = completed.map((_, index) => completed.length - index)
  // Within a session that the client names, one exchange can't lead to another.
  const isSure = (length: number, end: number) =>
    length <= end && (named !== null || runs.isTelling(length, end))
  const whole = (end: number) => ({ id: buildHistoryLinkId(conversation, runs, end), end })
  return {
    surest: completed.length === 0 ? null : whole(completed.length),
    others: () => [
      ...ends.slice(1, WHOLE_SOUGHT_MAX).map(whole),
      ...EXCHANGE_WINDOWS.flatMap((length) =>
        ends
          .slice(0, RUNS_SOUGHT_MAX)
          .filter((end) => isSure(length, end))
          .map((end) => ({ id: buildWindowLinkId(conversation, runs, length, end), end })),
      ),
    ],
  }
}

/** By what the next request will be known, when the last of these exchanges has its answer. */
export function buildExchangeLinks(
  conversation: Conversation,
  answered: readonly Exchange[],
): readonly EntryId[] {
  const runs = new ExchangeHashes(answered)
  const end = answered.length
  // A run of all there is would say the same as the whole.
  const lengths = EXCHANGE_WINDOWS.filter((length) => length < end)
  return [
    buildHistoryLinkId(conversation, runs, end),
    ...lengths.map((length) => buildWindowLinkId(conversation, runs, length, end)),
  ]
}

/** What else could lead to the session. */
export function listLinkIds(conversation: Conversation): readonly EntryId[] {
  const { previous } = conversation
  return [
    ...(previous === null ? [] : [buildResponseLinkId(conversation, previous)]),
    ...(buildTailLinkIds(conversation) ?? buildOpeningLinkId(conversation) ?? []),
  ]
}

export type KnownLinks = {
  /** In the order in which they count. */
  readonly leads: readonly SessionLead[]
  readonly links: SessionLinks
  /** Whether more was said in the session that the opening leads to than the opening and its answer. */
  readonly hasGoneOn: boolean
}

export function resolvePosition(conversation: Conversation, known: KnownLinks): SessionPosition {
  const spot =
    resolveByResponse(conversation, known) ??
    resolveByExchange(known) ??
    resolveByTail(conversation, known) ??
    resolveByOpening(conversation, known)
  const passed = Math.max(0, conversation.exchanges.length - EXCHANGES_MAX - spot.from)
  return { ...spot, from: spot.from + passed, position: spot.position + passed }
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

/** What comes after it may be new. */
function resolveByExchange({ leads, links }: KnownLinks): SessionPosition | null {
  for (const { id, end } of leads) {
    const link = links.get(id)
    if (link === undefined) continue
    return { session: link.session, from: end, position: link.position, isFollowed: true }
  }
  return null
}

/** Where the client names the conversation, and may send only what is new. */
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

/** The session that may have been opened with what is said now; null where more is said than an opening. */
export function findOpenedSession(
  conversation: Conversation,
  links: SessionLinks,
): SessionId | null {
  return (isNewSession(conversation) && findOpening(conversation, links)?.session) || null
}

function isIdle({ entry }: StoredSessionLink, { at }: Conversation): boolean {
  return at - entry.at >= IDLE_MS
}

/** Whether nothing was answered in it yet, nor done by tools. */
function isNewSession({ exchanges, toolResults }: Conversation): boolean {
  return exchanges.length === 1 && exchanges[0]?.assistant === null && toolResults.length === 0
}

function buildSessionId(
  { owner, user, instructions }: Conversation,
  words: string | null,
  at: Instant | null = null,
): SessionId {
  return `ses_${hashParts(owner, user, instructions, words, at)}` as SessionId // derived: the same words, the same session
}

type LinkKind = readonly (string | number | null)[]

function buildLinkId({ owner, user }: Conversation, ...what: LinkKind): EntryId {
  return `thr_${hashParts(owner, user, ...what)}` as EntryId // made from what it stands for
}

export function buildResponseLinkId(conversation: Conversation, response: string): EntryId {
  return buildLinkId(conversation, 'response', response)
}

function buildHistoryLinkId(
  conversation: Conversation,
  runs: ExchangeHashes,
  end: number,
): EntryId {
  return buildLinkId(conversation, 'whole', conversation.named, runs.whole(end))
}

function buildWindowLinkId(
  conversation: Conversation,
  runs: ExchangeHashes,
  length: number,
  end: number,
): EntryId {
  return buildLinkId(conversation, 'run', conversation.named, length, runs.last(length, end))
}

/** There as long as a turn waits for a whole answer to be learned from. */
export function buildPendingLinkId(conversation: Conversation, turn: TurnId): EntryId {
  return buildLinkId(conversation, 'waiting', turn)
}

export function buildToolResultLinkId(conversation: Conversation, result: string): EntryId {
  return buildLinkId(conversation, 'tool', result)
}

/** To the end of a conversation that has a name, and to the last call with the same instructions in it. */
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

/** As a list of one, or null where there is none. */
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

export function toStoredLink(entry: EntryOf<'session-link'>): StoredSessionLink {
  return { ...entry.body, entry }
}

export function buildLinkChange(
  { owner, user, at }: Conversation,
  id: EntryId,
  link: SessionLink,
  known: StoredSessionLink | undefined,
): Change {
  return buildEntryChange(
    {
      id,
      place: { owner, user, session: null },
      kind: 'session-link',
      at,
      expiresAt: addMs(at, LINK_TTL_MS),
      body: link,
    },
    known?.entry ?? null,
  ).change
}

export function buildLinkRemoval({ owner, user }: Conversation, id: EntryId): Change {
  return { op: 'remove', table: 'entry', scope: { owner, user }, id, expect: 'any' }
}
