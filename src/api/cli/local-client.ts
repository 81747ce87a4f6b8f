/** Performs operations on the local database. Whoever can read its file has full access. */
import type { Engine } from '../../engine/engine.ts'
import type { Caller } from '../operations/authorization.ts'
import { type Operation, performOperation } from '../operations/operation.ts'
import type { CliEnvironment } from './host.ts'
import type { OperationClient } from './operation-client.ts'

/** Operations that create a missing database. For all others it appears empty and is not created. */
const CREATING_OPERATIONS: ReadonlySet<string> = new Set([
  'memory.add',
  'memory.learn',
  'memory.ingest',
  'memory.import',
  'identity.add',
  'settings.change',
  'key.create',
  'files.addRoot',
])

export type LocalClientOptions = {
  readonly setup: CliEnvironment
  readonly version: string
  readonly signal: AbortSignal
}

export function createLocalClient({ setup, version, signal }: LocalClientOptions): OperationClient {
  const { database, scope, embeddingProviders } = setup
  let open: { readonly engine: Engine; readonly isReal: boolean } | null = null
  const engineFor = async ({ name }: Operation): Promise<Engine> => {
    const mayMake = CREATING_OPERATIONS.has(name)
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
        ...{ engine, caller: toLocalCaller(scope), version, embeddingProviders, signal },
        ...(onProgress === undefined ? {} : { onProgress }),
      }
      return performOperation(operation, context, input) as never // the output of this operation
    },
    close: async () => {
      await open?.engine.close()
      open = null
    },
  }
}

export function toLocalCaller({ owner, user, session }: CliEnvironment['scope']): Caller {
  return {
    key: null,
    role: 'superadmin',
    home: owner,
    actsFor: [],
    ...(user === undefined ? {} : { user }),
    ...(session === undefined ? {} : { session }),
  }
}
