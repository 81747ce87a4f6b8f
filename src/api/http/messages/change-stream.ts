/**
 * Server-sent events that say which kinds of data changed. Pages refetch the data with their own
 * key.
 */
import { setMaxListeners } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Engine } from '../../../engine/engine.ts'
import type { Change } from '../../../storage/store.ts'
import { type Caller, canReachOwner, hasAccess } from '../../operations/authorization.ts'

const TYPE = 'text/event-stream; charset=utf-8'

/** Changes come in bursts, which are coalesced into one event. */
const DEBOUNCE_MS = 250

/** A heartbeat keeps proxies from closing idle streams and detects disconnected clients. */
const HEARTBEAT_MS = 15_000

export type ChangeStreamOptions = {
  readonly engine: Pick<Engine, 'onChanged'>
  readonly response: ServerResponse
  readonly caller: Caller
  /** Narrows the stream to one owner; null: all that the caller reaches. */
  readonly owner?: string | null
  /** Whether the key is still valid. */
  readonly isAuthorized: () => Promise<boolean>
  /** Calls the listener when keys may have changed, and returns how to stop that. */
  readonly onKeysChanged?: (listener: () => void) => () => void
  /** The time until the key or the login session expires; null: later than a timer can wait, or never. */
  readonly expiresInMs?: number | null
  /** Any of these ends the stream. */
  readonly signals: readonly AbortSignal[]
}

export function streamChanges({
  engine,
  response,
  caller,
  isAuthorized,
  signals,
  owner = null,
  onKeysChanged = () => () => {},
  expiresInMs = null,
}: ChangeStreamOptions): Promise<void> {
  return new Promise((resolve) => {
    let kinds = new Set<string>()
    let pending: NodeJS.Timeout | undefined
    const flush = () => {
      pending = undefined
      response.write(`event: changed\ndata: ${JSON.stringify({ kinds: [...kinds] })}\n\n`)
      kinds = new Set()
    }
    const schedule = () => {
      if (kinds.size > 0) pending ??= setTimeout(flush, DEBOUNCE_MS)
    }
    const unsubscribe = engine.onChanged((changes) => {
      for (const change of changes) {
        const kind = visibleKind(caller, owner, change)
        if (kind !== null) kinds.add(kind)
      }
      schedule()
    })
    // While the store is unavailable, a key that was valid stays valid here as well.
    const heartbeat = setInterval(() => {
      isAuthorized().then(
        (isValid) => (isValid ? response.write(': \n\n') : end()),
        () => response.write(': \n\n'),
      )
    }, HEARTBEAT_MS)
    const stopKeyWatch = onKeysChanged(() => {
      // Nothing is sent until it is known that the key is still valid.
      clearTimeout(pending)
      pending = undefined
      isAuthorized().then(
        (isValid) => (isValid ? schedule() : end()),
        () => end(),
      )
    })
    const expiry = expiresInMs === null ? undefined : setTimeout(() => end(), expiresInMs)
    let hasEnded = false
    const end = () => {
      if (hasEnded) return
      hasEnded = true
      unsubscribe()
      clearTimeout(pending)
      clearInterval(heartbeat)
      clearTimeout(expiry)
      stopKeyWatch()
      // The server's signal outlives every page.
      for (const signal of signals) signal.removeEventListener('abort', end)
      response.end()
      resolve()
    }
    for (const signal of signals) {
      if (signal.aborted) return end()
      setMaxListeners(0, signal) // one listener for each open page
      signal.addEventListener('abort', end, { once: true })
    }
    response.once('close', end)
    response.setHeader('content-type', TYPE)
    response.setHeader('x-accel-buffering', 'no')
    response.writeHead(200)
    response.write('retry: 1000\n\n')
  })
}

/** The kinds of data that a change concerns, as far as clients may know them. */
function visibleKind(caller: Caller, only: string | null, change: Change): string | null {
  const canSee = (owner: string) => (only === null || owner === only) && isReachable(caller, owner)
  if (change.op === 'check') return null
  if (change.op === 'count') return canSee(change.scope.owner) ? 'memory' : null
  if (change.op === 'remove') return canSee(change.scope.owner) ? change.table : null
  if (change.table === 'revision') return null // committed together with its memory
  const { owner } = change.row.place
  // Jobs and entries of the system belong to its place; an owner sees those about it.
  const subject =
    change.table === 'entry' ? change.row.about : change.table === 'job' ? change.row.owner : null
  const isVisible = canSee(owner) || (subject !== null && canSee(subject))
  if (!isVisible) return null
  return change.table === 'entry' ? change.row.kind : change.table
}

function isReachable(caller: Caller, owner: string): boolean {
  return hasAccess(caller, 'manage') || canReachOwner(caller, owner, 'read')
}
