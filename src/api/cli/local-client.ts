/** Operations on the database of this machine. Whoever can read its file may do everything with it. */
import type { Engine } from '../../engine/engine.ts'
import type { Caller } from '../operations/authorization.ts'
import { type Operation, perform } from '../operations/operation.ts'
import type { Setup } from './host.ts'
import type { Operations } from './operation-client.ts'

/** What makes something out of nothing. To all others a database that isn't there is empty, and is not made. */
const MAKING: ReadonlySet<string> = new Set([
  'memory.add',
  'memory.learn',
  'memory.ingest',
  'memory.import',
  'identity.add',
  'settings.change',
  'key.create',
  'files.addRoot',
])

export type LocalOptions = {
  readonly setup: Setup
  readonly version: string
  readonly signal: AbortSignal
}

export function createLocal({ setup, version, signal }: LocalOptions): Operations {
  const { database, scope, embeddingProviders } = setup
  let open: { readonly engine: Engine; readonly isReal: boolean } | null = null
  const engineFor = async ({ name }: Operation): Promise<Engine> => {
    const mayMake = MAKING.has(name)
    if (open !== null && (open.isReal || !mayMake)) return open.engine
    await open?.engine.close()
    open = null
    const isReal = mayMake || database.state() !== 'missing'
    open = { engine: await database.openEngine({ create: mayMake }), isReal }
    return open.engine
  }
  return {
    perform: async (operation, input, onProgress) => {
      const engine = await engineFor(operation)
      const context = {
        ...{ engine, caller: callerOf(scope), version, embeddingProviders, signal },
        ...(onProgress === undefined ? {} : { onProgress }),
      }
      return perform(operation, context, input) as never // the output of this very operation
    },
    close: async () => {
      await open?.engine.close()
      open = null
    },
  }
}

export function callerOf({ owner, user, session }: Setup['scope']): Caller {
  return {
    key: null,
    role: 'superadmin',
    home: owner,
    actsFor: [],
    ...(user === undefined ? {} : { user }),
    ...(session === undefined ? {} : { session }),
  }
}
