import type { ScopeInput } from '../domain/scope.ts'
import { KeyedMutex } from '../lib/mutex.ts'

export type Serialize = <Result>(scope: ScopeInput, task: () => Promise<Result>) => Promise<Result>

/**
 * Serializes the writes of one owner and user. Two writes that are decided concurrently would not see each other's
 * statements, and would store the same fact twice.
 */
export function createWriteSerializer(): Serialize {
  const mutex = new KeyedMutex()
  return (scope, task) => mutex.run(JSON.stringify([scope?.owner, scope?.user ?? null]), task)
}
