/**
 * Publishes changes to other processes on the same schema, and receives theirs, through LISTEN and
 * NOTIFY. Notifications are sent after the commit and outside of its transaction: NOTIFY inside
 * would serialize all commits of the database. A process that dies in between notifies nobody, so
 * caches expire within seconds in any case. When the listening connection is lost, it is reopened,
 * and everything counts as changed, since notifications may have been missed.
 */
import { randomUUID } from 'node:crypto'
import type { EntryKind } from '../../../domain/entry.ts'
import type { MemoryId, OwnerId } from '../../../domain/ids.ts'
import { exponentialBackoffMs, withJitter } from '../../../lib/retry.ts'
import { toStorable } from '../../../text/storable-text.ts'
import type { Change, OwnerMemories, RemoteChange, SubscribeRemoteChanges } from '../../store.ts'
import { type SqlIdentifiers, toChangeFeedChannel } from '../schema/identifiers.ts'
import { decodeText } from '../store/row-codec.ts'
import type { PostgresDatabase } from './postgres-driver.ts'

export interface PostgresChangeFeed {
  /** Neither waits nor fails. */
  publish(changes: readonly Change[]): void
  /** The same for memories whose replicated copies are out of date. */
  publishMemories(changed: OwnerMemories): void
  subscribe: SubscribeRemoteChanges
  /**
   * `heard` after one of our own messages has come back: some poolers accept LISTEN and deliver
   * nothing.
   */
  report(): 'idle' | 'connecting' | 'listening' | 'verified'
  close(): Promise<void>
}

/** The wire format. Missing owners or kinds mean all of them. */
type ChangeMessage = {
  readonly by: string
  readonly owners: readonly string[] | null
  readonly kinds: readonly EntryKind[] | null
  /** Owners with ids; null for all. Earlier versions send none. */
  readonly memories?: readonly (readonly [owner: string, ids: readonly string[]])[] | null
}

/** PostgreSQL limits payloads to less than 8,000 bytes. */
const PAYLOAD_BYTES_MAX = 7_900
/** This many ids stay well below the limit. */
const IDS_PER_MESSAGE = 100
const RECONNECT_MS = 250
const RECONNECT_MS_MAX = 15_000
const EVERYTHING: RemoteChange = { owners: 'any', kinds: 'any', memories: 'any' }
/** The kinds that processes cache. */
const KINDS_BY_PREFIX: { readonly [prefix: string]: EntryKind } = {
  set: 'setting',
  key: 'key',
  secret: 'secret',
}
const TOLD_KINDS: ReadonlySet<EntryKind> = new Set(Object.values(KINDS_BY_PREFIX))

export function createPostgresChangeFeed(
  database: PostgresDatabase,
  names: SqlIdentifiers,
): PostgresChangeFeed {
  return new NotificationChannel(database, toChangeFeedChannel(names))
}

/** For changes that concern all owners. */
export async function publishFullInvalidation(
  { query }: PostgresDatabase,
  names: SqlIdentifiers,
): Promise<void> {
  // Not for memories: their replicated copies are unaffected.
  const message: ChangeMessage = { by: randomUUID(), owners: null, kinds: null }
  await query('SELECT pg_notify($1, $2)', [toChangeFeedChannel(names), JSON.stringify(message)])
}

class NotificationChannel implements PostgresChangeFeed {
  readonly #database: PostgresDatabase
  readonly #channel: string
  readonly #self = randomUUID()
  readonly #listeners = new Set<(news: RemoteChange) => void>()
  #owners = new Set<string>()
  #kinds = new Set<EntryKind>()
  #memories: OwnerMemories[] = []
  #telling: Promise<void> | null = null
  #state: ReturnType<PostgresChangeFeed['report']> = 'idle'
  #open: { close(): Promise<void> } | null = null
  #retry: NodeJS.Timeout | null = null
  #connecting: Promise<void> | null = null
  #failures = 0
  #isClosed = false

  constructor(database: PostgresDatabase, channel: string) {
    this.#database = database
    this.#channel = channel
  }

  publish(changes: readonly Change[]): void {
    for (const change of changes) {
      if (change.op === 'count' || change.op === 'check') continue
      if (change.table === 'memory' || isTurnRewritten(change)) this.#owners.add(ownerOf(change))
      if (change.table === 'entry') this.#noteEntry(change)
    }
    this.#begin()
  }

  publishMemories({ owner, ids }: OwnerMemories): void {
    for (let at = 0; at < ids.length; at += IDS_PER_MESSAGE) {
      this.#memories.push({ owner, ids: ids.slice(at, at + IDS_PER_MESSAGE) })
    }
    this.#begin()
  }

  subscribe: SubscribeRemoteChanges = (listener) => {
    this.#listeners.add(listener)
    if (this.#state === 'idle') this.#connect()
    return () => this.#listeners.delete(listener)
  }

  report(): ReturnType<PostgresChangeFeed['report']> {
    return this.#state
  }

  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#retry !== null) clearTimeout(this.#retry)
    await this.#telling
    await this.#connecting
    await this.#open?.close().catch(() => {}) // it is already closed
  }

  /** Of a removed row only the id is known, and its prefix gives the kind. */
  #noteEntry(change: Extract<Change, { table: 'entry'; op: 'put' | 'remove' }>): void {
    const kind = change.op === 'put' ? change.row.kind : kindOf(change.id)
    if (kind !== undefined && TOLD_KINDS.has(kind)) this.#kinds.add(kind)
  }

  get #hasNews(): boolean {
    return this.#owners.size + this.#kinds.size + this.#memories.length > 0
  }

  #begin(): void {
    if (this.#hasNews) this.#telling ??= this.#send()
  }

  /** One message at a time: changes meanwhile are batched into the next. */
  async #send(): Promise<void> {
    while (this.#hasNews) {
      const payload = this.#payload(this.#takeMemories())
      this.#owners = new Set()
      this.#kinds = new Set()
      // Processes that miss the message notice when their caches expire.
      await this.#database
        .query('SELECT pg_notify($1, $2)', [this.#channel, payload])
        .catch(() => {})
    }
    this.#telling = null
  }

  /** The most ids for one message. */
  #takeMemories(): NonNullable<ChangeMessage['memories']> {
    let fitting = 0
    let count = 0
    for (const { ids } of this.#memories) {
      count += ids.length
      if (count > IDS_PER_MESSAGE) break
      fitting++
    }
    const taken = this.#memories.splice(0, fitting)
    return taken.map(({ owner, ids }) => [toStorable(owner), ids.map(toStorable)])
  }

  /** Oversized messages omit the names. */
  #payload(memories: NonNullable<ChangeMessage['memories']>): string {
    const kinds = [...this.#kinds]
    const owners = [...this.#owners].map(toStorable)
    const fewer: readonly ChangeMessage[] = [
      { by: this.#self, owners, kinds, memories },
      { by: this.#self, owners: null, kinds, memories },
    ]
    const payload = fewer
      .map((message) => JSON.stringify(message))
      .find((text) => Buffer.byteLength(text) <= PAYLOAD_BYTES_MAX)
    if (payload !== undefined) return payload
    return JSON.stringify({
      by: this.#self,
      owners: null,
      kinds,
      memories: null,
    } satisfies ChangeMessage)
  }

  #connect(): void {
    if (this.#isClosed) return
    this.#state = 'connecting'
    this.#connecting = this.#database
      .listen(this.#channel, {
        onNotification: (payload) => this.#hear(payload),
        onLost: () => this.#lost(),
      })
      .then(
        (open) => {
          this.#open = open
          this.#state = 'listening'
          this.#failures = 0
          this.#pass(EVERYTHING)
        },
        () => this.#lost(),
      )
  }

  #lost(): void {
    this.#open = null
    if (this.#isClosed) return
    this.#state = 'connecting'
    const limits = { firstMs: RECONNECT_MS, maxMs: RECONNECT_MS_MAX }
    const wait = withJitter(exponentialBackoffMs(this.#failures++, limits), Math.random(), 0.5)
    this.#retry = setTimeout(() => this.#connect(), wait)
    this.#retry.unref()
  }

  #hear(payload: string): void {
    const message = parseMessage(payload)
    if (message?.by === this.#self) this.#state = 'verified'
    else if (message !== null) this.#pass(parseNews(message))
  }

  #pass(news: RemoteChange): void {
    for (const listener of this.#listeners) listener(news)
  }
}

/** A new turn is in no cache, and every exchange records one, so these are not published. */
function isTurnRewritten(
  change: Exclude<Change, { op: 'count' | 'check' }>,
): change is Extract<Change, { table: 'turn'; op: 'put' | 'remove' }> {
  return change.table === 'turn' && (change.op === 'remove' || change.expect !== 'absent')
}

function ownerOf(
  change: Extract<Change, { table: 'memory' | 'turn'; op: 'put' | 'remove' }>,
): string {
  return change.op === 'put' ? change.row.place.owner : change.scope.owner
}

function kindOf(id: string): EntryKind | undefined {
  return KINDS_BY_PREFIX[id.slice(0, id.indexOf('_'))]
}

function parseNews({ owners, kinds, memories = [] }: ChangeMessage): RemoteChange {
  return {
    owners: owners === null ? 'any' : owners.map((owner) => decodeText(owner) as OwnerId), // as published
    kinds: kinds ?? 'any',
    memories:
      memories?.map(([owner, ids]) => ({
        owner: decodeText(owner) as OwnerId, // as above
        ids: ids.map((id) => decodeText(id) as MemoryId),
      })) ?? 'any',
  }
}

/** Anybody may send anything to a channel. */
function parseMessage(payload: string): ChangeMessage | null {
  try {
    const message: ChangeMessage = JSON.parse(payload) // or anything else
    const { by, owners, kinds, memories = null } = message
    const isSound = isList(owners) && isList(kinds) && (memories === null || isPublished(memories))
    return typeof by === 'string' && isSound ? message : null
  } catch {
    return null
  }
}

function isPublished(memories: unknown): boolean {
  return (
    Array.isArray(memories) &&
    memories.every((each) => Array.isArray(each) && isList([each[0]]) && isList(each[1] ?? [0]))
  )
}

function isList(value: unknown): boolean {
  return value === null || (Array.isArray(value) && value.every((item) => typeof item === 'string'))
}
