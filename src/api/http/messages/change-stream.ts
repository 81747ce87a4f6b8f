/**
 * Server-sent events that say which kinds of data changed. Pages refetch the data with their own
 * key.
 */
import { setMaxListeners } from 'node:events'
import type { ServerResponse } from 'node:http'
import { SHARED_OWNER } from '../../../domain/scope.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Change } from '../../../storage/store.ts'
import { type Caller, hasAccess } from '../../operations/authorization.ts'

const TYPE = 'text/event-stream; charset=utf-8'

/** Changes come in bursts, which are coalesced into one event. */
const DEBOUNCE_MS = 250

/** A heartbeat keeps proxies from closing idle streams and detects disconnected clients. */
const HEARTBEAT_MS = 15_000

export type ChangeStreamOptions = {
  readonly engine: Pick<Engine, 'onChanged'>
  readonly response: ServerResponse
  readonly caller: Caller
  /** Whether the key is still valid. */
  readonly isAuthorized: () => Promise<boolean>
  /** Any of these ends the stream. */
  readonly signals: readonly AbortSignal[]
}

export function streamChanges({
  engine,
  response,
  caller,
  isAuthorized: isWelcome,
  signals,
}: ChangeStreamOptions): Promise<void> {
  return new Promise((resolve) => {
    let kinds = new Set<string>()
    let pending: NodeJS.Timeout | undefined
    const tell = () => {
      pending = undefined
      response.write(`event: changed\ndata: ${JSON.stringify({ kinds: [...kinds] })}\n\n`)
      kinds = new Set()
    }
    const stop = engine.onChanged((changes) => {
      for (const change of changes) {
        const kind = visibleKind(caller, change)
        if (kind !== null) kinds.add(kind)
      }
      if (kinds.size > 0) pending ??= setTimeout(tell, DEBOUNCE_MS)
    })
    const beat = setInterval(() => {
      isWelcome().then(
        (isStill) => (isStill ? response.write(': \n\n') : end()),
        () => end(),
      )
    }, HEARTBEAT_MS)
    let hasEnded = false
    const end = () => {
      if (hasEnded) return
      hasEnded = true
      stop()
      clearTimeout(pending)
      clearInterval(beat)
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
function visibleKind(caller: Caller, change: Change): string | null {
  if (change.op === 'check') return null
  if (change.op === 'count') return canSee(caller, change.scope.owner) ? 'memory' : null
  if (change.op === 'remove') return canSee(caller, change.scope.owner) ? change.table : null
  if (change.table === 'revision') return null // committed together with its memory
  const { owner } = change.row.place
  if (change.table !== 'entry') return canSee(caller, owner) ? change.table : null
  const { kind, about } = change.row
  return canSee(caller, owner) || (about !== null && canSee(caller, about)) ? kind : null
}

function canSee(caller: Caller, owner: string): boolean {
  return (
    hasAccess(caller, 'manage') ||
    owner === SHARED_OWNER ||
    owner === caller.home ||
    caller.actsFor.includes(owner)
  )
}
