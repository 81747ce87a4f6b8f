/**
 * Threads: by what a conversation is known again, when the client doesn't name it. Each request of a conversation holds
 * something that an earlier one held as well: the answer that it goes on from, the last exchange, or the words that it
 * opened with. A link leads from the hash of such a thing to the session, and to the place in it that comes next.
 */
import type { Entry } from '../../core/entry.ts'
import type { Exchange } from '../../core/formats/format.ts'
import type { EntryId, Instant, OwnerId, SessionId, TurnId, UserId } from '../../core/ids.ts'
import type { JsonObject } from '../../core/memory.ts'
import type { Change } from '../../ports/store.ts'
import { bare, hashOf } from './hashing.ts'

export type Conversation = {
  readonly owner: OwnerId
  readonly user: UserId | null
  /** The session that the client named. */
  readonly named: SessionId | null
  /** In order, the last one is being asked now; blocks of memories are no part of them. */
  readonly exchanges: readonly Exchange[]
  readonly toolResults: readonly string[]
  /** The answer that the request goes on from, and the conversation by the provider's name. */
  readonly previous: string | null
  readonly conversation: string | null
  /** When it was asked. */
  readonly at: Instant
}

export type Link = {
  readonly session: SessionId
  /** Where the next exchange stands in the session. */
  readonly position: number
  /** The hash of what was said last, where the client sends nothing but what is new. */
  readonly last?: string
  /** What the person said, for an answer that comes in several requests. */
  readonly turn?: TurnId
}
export type KnownLink = Link & { readonly entry: Entry }
export type Links = ReadonlyMap<EntryId, KnownLink>

/** Where a request stands. */
export type Spot = {
  readonly session: SessionId
  /** The first exchange of the request that may be new, and where it stands in the session. */
  readonly from: number
  readonly position: number
  /** Whether all before that exchange is known; otherwise the conversation was met in the middle. */
  readonly isFollowed: boolean
}

/** Of a long history, only so much is kept at once. */
export const EXCHANGES_MAX = 200
/** How far back the last exchange that is known may lie. */
const EXCHANGES_SOUGHT_MAX = 50
/** The same words again after this time begin something new; before, it is somebody trying again. */
const IDLE_MS = 30 * 60_000
const KEPT_MS = 30 * 86_400_000

/** Everything that could lead to the session. */
export function linksSought(conversation: Conversation): readonly EntryId[] {
  const { exchanges, previous } = conversation
  const completed = exchanges.slice(0, -1).slice(-EXCHANGES_SOUGHT_MAX)
  return [
    ...(previous === null ? [] : [responseLink(conversation, previous)]),
    ...completed.map((exchange) => exchangeLink(conversation, exchange)),
    ...(tailLink(conversation) ?? openingLink(conversation) ?? []),
  ]
}

export function spotOf(conversation: Conversation, links: Links): Spot {
  const spot =
    byResponse(conversation, links) ??
    byExchange(conversation, links) ??
    byTail(conversation, links) ??
    byOpening(conversation, links)
  const passed = Math.max(0, conversation.exchanges.length - EXCHANGES_MAX - spot.from)
  return { ...spot, from: spot.from + passed, position: spot.position + passed }
}

function byResponse(conversation: Conversation, links: Links): Spot | null {
  const { previous, named } = conversation
  if (previous === null) return null
  const link = links.get(responseLink(conversation, previous))
  if (link === undefined || (named !== null && link.session !== named)) return null
  return { session: link.session, from: 0, position: link.position, isFollowed: true }
}

/** The latest one counts: what comes after it is new. */
function byExchange(conversation: Conversation, links: Links): Spot | null {
  const { exchanges } = conversation
  const first = Math.max(0, exchanges.length - 1 - EXCHANGES_SOUGHT_MAX)
  for (let index = exchanges.length - 2; index >= first; index--) {
    const exchange = exchanges[index]
    const link = exchange && links.get(exchangeLink(conversation, exchange))
    if (link !== undefined) {
      const { session, position } = link
      return { session, from: index + 1, position, isFollowed: true }
    }
  }
  return null
}

/** Where the client names the conversation, and may send only what is new. */
function byTail(conversation: Conversation, links: Links): Spot | null {
  const { exchanges, named } = conversation
  const [id] = tailLink(conversation) ?? []
  if (id === undefined) return null
  const link = links.get(id)
  const session = named ?? link?.session ?? sessionNamed(conversation, conversation.conversation)
  const [only] = exchanges
  if (link === undefined || exchanges.length !== 1 || only === undefined) {
    return { session, from: 0, position: 0, isFollowed: false }
  }
  const isAgain =
    link.last === saidHash(only) && !(hasRested(link, conversation) && isNew(conversation))
  return { session, from: 0, position: link.position - (isAgain ? 1 : 0), isFollowed: true }
}

function byOpening(conversation: Conversation, links: Links): Spot {
  const [id] = openingLink(conversation) ?? []
  const link = id === undefined ? undefined : links.get(id)
  const opening = conversation.exchanges[0]?.user ?? null
  const words = opening === null ? conversation.previous : bare(opening)
  const session =
    link === undefined
      ? sessionNamed(conversation, words)
      : hasRested(link, conversation) && isNew(conversation)
        ? sessionNamed(conversation, words, conversation.at)
        : link.session
  return { session, from: 0, position: 0, isFollowed: false }
}

function hasRested({ entry }: KnownLink, { at }: Conversation): boolean {
  return at - entry.at >= IDLE_MS
}

/** Whether nothing was answered in it yet, nor done by tools. */
function isNew({ exchanges, toolResults }: Conversation): boolean {
  return exchanges.length === 1 && exchanges[0]?.assistant === null && toolResults.length === 0
}

function sessionNamed(
  { owner, user }: Conversation,
  words: string | null,
  at: Instant | null = null,
): SessionId {
  return `ses_${hashOf(owner, user, words, at)}` as SessionId // derived: the same words, the same session
}

function linkId({ owner, user }: Conversation, ...what: readonly (string | null)[]): EntryId {
  return `thr_${hashOf(owner, user, ...what)}` as EntryId // made from what it stands for
}

export function responseLink(conversation: Conversation, response: string): EntryId {
  return linkId(conversation, 'response', response)
}

export function exchangeLink(conversation: Conversation, { user, assistant }: Exchange): EntryId {
  return linkId(conversation, 'exchange', conversation.named, bare(user), bare(assistant ?? ''))
}

export function toolLink(conversation: Conversation, result: string): EntryId {
  return linkId(conversation, 'tool', result)
}

/** As a list of one, or null where there is none. */
export function tailLink(conversation: Conversation): readonly [EntryId] | null {
  const { named } = conversation
  if (named !== null) return [linkId(conversation, 'session', named)]
  if (conversation.conversation === null) return null
  return [linkId(conversation, 'conversation', conversation.conversation)]
}

export function openingLink(conversation: Conversation): readonly [EntryId] | null {
  const [first] = conversation.exchanges
  if (first === undefined || tailLink(conversation) !== null) return null
  return [linkId(conversation, 'opening', bare(first.user))]
}

export function saidHash({ user }: Exchange): string {
  return hashOf(bare(user))
}

/** What a link says, as it was written by `putLink`. */
export function readLink(entry: Entry): KnownLink {
  const { session, position, last, turn } = entry.body
  return {
    session: session as SessionId, // written below, like the rest
    position: Number(position),
    ...(typeof last === 'string' ? { last } : {}),
    ...(typeof turn === 'string' ? { turn: turn as TurnId } : {}),
    entry,
  }
}

export function putLink(
  { owner, user, at }: Conversation,
  id: EntryId,
  link: Link,
  known: KnownLink | undefined,
): Change {
  const row: Entry = {
    id,
    place: { owner, user, session: null },
    kind: 'thread',
    about: null,
    at,
    expiresAt: (at + KEPT_MS) as Instant,
    version: (known?.entry.version ?? 0) + 1,
    body: { ...link } satisfies JsonObject,
  }
  const expect = known === undefined ? 'absent' : { version: known.entry.version }
  return { op: 'put', table: 'entry', row, expect }
}
