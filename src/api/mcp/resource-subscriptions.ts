/** Tells clients when a memory that they have subscribed to changes. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { ServerEvent, ServerEventBus } from '@modelcontextprotocol/server'
import { isWithinScope, parseScope, type Scope } from '../../domain/scope.ts'
import type { Change } from '../../storage/store.ts'
import type { OperationContext } from '../operations/operation.ts'
import { resolveScope } from '../operations/scope-fields.ts'
import { toMemoryUri } from './mcp-resources.ts'

/** Calls with the URI of every memory that changes within the caller's own scope. */
export function watchMemories(
  context: OperationContext,
  onUpdated: (uri: string) => void,
): () => void {
  const scope = parseScope(resolveScope(context, {}, 'read'))
  return context.engine.onChanged((changes) => {
    const ids = new Set(changes.flatMap((change) => changedMemoryIn(scope, change)))
    for (const id of ids) onUpdated(toMemoryUri(id))
  })
}

function changedMemoryIn(scope: Scope, change: Change): readonly string[] {
  if (change.op === 'put' && change.table === 'memory') {
    return isWithinScope(scope, change.row.place) ? [change.row.id] : []
  }
  if (change.op === 'remove' && change.table === 'memory') {
    // The row is gone. Removals in a wider scope than the caller's may concern somebody else.
    const { owner, user = null, session = null } = change.scope
    const withoutSession = { owner: scope.owner, user: scope.user } as Scope // a session may be unknown here
    return isWithinScope(withoutSession, { owner, user, session }) ? [change.id] : []
  }
  return []
}

/**
 * The events of one HTTP handler, which serves many callers: each subscription is opened within the request of its
 * caller and gets the events of that caller only.
 */
export class SubscriptionBus implements ServerEventBus {
  readonly #requests = new AsyncLocalStorage<OperationContext>()

  /** Subscriptions that `serve` opens belong to the caller of this context. */
  serveAs<Result>(context: OperationContext, serve: () => Result): Result {
    return this.#requests.run(context, serve)
  }

  subscribe(listener: (event: ServerEvent) => void): () => void {
    const context = this.#requests.getStore()
    if (context === undefined) throw new Error('A subscription was opened outside of a request.')
    return watchMemories(context, (uri) => listener({ kind: 'resource_updated', uri }))
  }

  /** Events come from the engine alone, because an event that is published has no owner. */
  publish(): never {
    throw new Error('Events cannot be published to every caller.')
  }
}
