/**
 * Threads: by what a conversation is known again, when the client doesn't name it. Each request of a conversation holds
 * something that an earlier one held as well: the answer that it goes on from, the exchanges before, or the words that it
 * opened with. A link leads from the hash of such a thing to the session, and to the place in it that comes next.
 */

import type { Entry } from '../../domain/entry.ts'
import type { EntryId, OwnerId, SessionId, TurnId, UserId } from '../../domain/ids.ts'
import type { Exchange } from '../../domain/model-call.ts'
import type { JsonObject } from '../../lib/json.ts'
import { hashOf } from '../../lib/parts-hash.ts'
import type { Instant } from '../../lib/time.ts'
import type { Change } from '../../storage/store.ts'
import { bare, RUN_LENGTHS, Runs } from './exchange-hashes.ts'

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

/** How far back the last exchange that is known may lie, where all before it is the same, and where only some is. */
const WHOLE_SOUGHT_MAX = 50
const RUNS_SOUGHT_MAX = 10

/** The same words again after this time begin something new; before, it is somebody trying again. */
const IDLE_MS = 30 * 60_000

export const KEPT_MS = 30 * 86_400_000

/** A link to look for, and the exchange that would come after it. */
type Lead = { readonly id: EntryId; readonly end: number }

/** Leads to the session through the exchanges before what is asked now. */
export type Leads = {
  /** Through all of them: how most conversations go on. Null where there are none. */
  readonly surest: Lead | null
  /** The surer first, and of those the latest. Worked out when it is asked for. */
  others(): readonly Lead[]
}

export function leadsOf(conversation: Conversation): Leads {
  const { exchanges, named } = conversation
  const completed = exchanges.slice(0, -1)
  const runs = new Runs(completed)
  const ends = completed.map((_, index) => completed.length - index)
  // Within a session that the client names, one exchange can't lead to another.
  const isSure = (length: number, end: number) =>
    length <= end && (named !== null || runs.isTelling(length, end))
  const whole = (end: number) => ({ id: wholeLink(conversation, runs, end), end })
  return {
    surest: completed.length === 0 ? null : whole(completed.length),
    others: () => [
      ...ends.slice(1, WHOLE_SOUGHT_MAX).map(whole),
      ...RUN_LENGTHS.flatMap((length) =>
        ends
          .slice(0, RUNS_SOUGHT_MAX)
          .filter((end) => isSure(length, end))
          .map((end) => ({ id: runLink(conversation, runs, length, end), end })),
      ),
    ],
  }
}

/** By what the next request will be known, when the last of these exchanges has its answer. */
export function exchangeLinks(
  conversation: Conversation,
  answered: readonly Exchange[],
): readonly EntryId[] {
  const runs = new Runs(answered)
  const end = answered.length
  // A run of all there is would say the same as the whole.
  const lengths = RUN_LENGTHS.filter((length) => length < end)
  return [
    wholeLink(conversation, runs, end),
    ...lengths.map((length) => runLink(conversation, runs, length, end)),
  ]
}

/** What else could lead to the session. */
export function linksSought(conversation: Conversation): readonly EntryId[] {
  const { previous } = conversation
  return [
    ...(previous === null ? [] : [responseLink(conversation, previous)]),
    ...(tailLinks(conversation) ?? openingLink(conversation) ?? []),
  ]
}

export type Known = {
  /** In the order in which they count. */
  readonly leads: readonly Lead[]
  readonly links: Links
  /** Whether more was said in the session that the opening leads to than the opening and its answer. */
  readonly hasGoneOn: boolean
}

export function spotOf(conversation: Conversation, known: Known): Spot {
  const spot =
    byResponse(conversation, known) ??
    byExchange(known) ??
    byTail(conversation, known) ??
    byOpening(conversation, known)
  const passed = Math.max(0, conversation.exchanges.length - EXCHANGES_MAX - spot.from)
  return { ...spot, from: spot.from + passed, position: spot.position + passed }
}

function byResponse(conversation: Conversation, { links }: Known): Spot | null {
  const { previous, named } = conversation
  if (previous === null) return null
  const link = links.get(responseLink(conversation, previous))
  if (link === undefined || (named !== null && link.session !== named)) return null
  return { session: link.session, from: 0, position: link.position, isFollowed: true }
}

/** What comes after it may be new. */
function byExchange({ leads, links }: Known): Spot | null {
  for (const { id, end } of leads) {
    const link = links.get(id)
    if (link === undefined) continue
    return { session: link.session, from: end, position: link.position, isFollowed: true }
  }
  return null
}

/** Where the client names the conversation, and may send only what is new. */
function byTail(conversation: Conversation, { links }: Known): Spot | null {
  const { exchanges, named } = conversation
  const ids = tailLinks(conversation)
  if (ids === null) return null
  const [link, call] = ids.map((id) => links.get(id))
  const session = named ?? link?.session ?? sessionNamed(conversation, conversation.conversation)
  const [only] = exchanges
  if (link === undefined || exchanges.length !== 1 || only === undefined) {
    return { session, from: 0, position: 0, isFollowed: false }
  }
  const isAgain =
    call?.last === saidHash(only) && !(hasRested(call, conversation) && isNew(conversation))
  const position = isAgain ? call.position - 1 : link.position
  return { session, from: 0, position, isFollowed: true }
}

function byOpening(conversation: Conversation, { links, hasGoneOn }: Known): Spot {
  const link = openingIn(conversation, links)
  const opening = conversation.exchanges[0]?.user ?? null
  const words = opening === null ? conversation.previous : bare(opening)
  const isAnother =
    link !== undefined && isNew(conversation) && (hasGoneOn || hasRested(link, conversation))
  const session = isAnother
    ? sessionNamed(conversation, words, conversation.at)
    : (link?.session ?? sessionNamed(conversation, words))
  return { session, from: 0, position: 0, isFollowed: false }
}

function openingIn(conversation: Conversation, links: Links): KnownLink | undefined {
  const [id] = openingLink(conversation) ?? []
  return id === undefined ? undefined : links.get(id)
}

/** The session that may have been opened with what is said now; null where more is said than an opening. */
export function sessionOpened(conversation: Conversation, links: Links): SessionId | null {
  return (isNew(conversation) && openingIn(conversation, links)?.session) || null
}

function hasRested({ entry }: KnownLink, { at }: Conversation): boolean {
  return at - entry.at >= IDLE_MS
}

/** Whether nothing was answered in it yet, nor done by tools. */
function isNew({ exchanges, toolResults }: Conversation): boolean {
  return exchanges.length === 1 && exchanges[0]?.assistant === null && toolResults.length === 0
}

function sessionNamed(
  { owner, user, instructions }: Conversation,
  words: string | null,
  at: Instant | null = null,
): SessionId {
  return `ses_${hashOf(owner, user, instructions, words, at)}` as SessionId // derived: the same words, the same session
}

type What = readonly (string | number | null)[]

function linkId({ owner, user }: Conversation, ...what: What): EntryId {
  return `thr_${hashOf(owner, user, ...what)}` as EntryId // made from what it stands for
}

export function responseLink(conversation: Conversation, response: string): EntryId {
  return linkId(conversation, 'response', response)
}

function wholeLink(conversation: Conversation, runs: Runs, end: number): EntryId {
  return linkId(conversation, 'whole', conversation.named, runs.whole(end))
}

function runLink(conversation: Conversation, runs: Runs, length: number, end: number): EntryId {
  return linkId(conversation, 'run', conversation.named, length, runs.last(length, end))
}

/** There as long as a turn waits for a whole answer to be learned from. */
export function waitingLink(conversation: Conversation, turn: TurnId): EntryId {
  return linkId(conversation, 'waiting', turn)
}

export function toolLink(conversation: Conversation, result: string): EntryId {
  return linkId(conversation, 'tool', result)
}

/** To the end of a conversation that has a name, and to the last call with the same instructions in it. */
export function tailLinks(conversation: Conversation): readonly [EntryId, EntryId] | null {
  const { named, instructions } = conversation
  const name = named ?? conversation.conversation
  if (name === null) return null
  const kind = named === null ? 'conversation' : 'session'
  return [linkId(conversation, kind, name), linkId(conversation, kind, name, instructions)]
}

/** As a list of one, or null where there is none. */
export function openingLink(conversation: Conversation): readonly [EntryId] | null {
  const [first] = conversation.exchanges
  if (first === undefined || tailLinks(conversation) !== null) return null
  return [linkId(conversation, 'opening', conversation.instructions, bare(first.user))]
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

export function removeLink({ owner, user }: Conversation, id: EntryId): Change {
  return { op: 'remove', table: 'entry', scope: { owner, user }, id, expect: 'any' }
}
