import type { ScopeInput } from '../domain/scope.ts'

export type Serialize = <Result>(scope: ScopeInput, work: () => Promise<Result>) => Promise<Result>

/**
 * Lets the writes of one owner and user take turns. Two that are decided at once would not see each other's
 * statements, and say the same thing twice; racing for a key, most of them would only get in each other's way.
 */
export function createKeyedMutex(): Serialize {
  const last = new Map<string, Promise<unknown>>()
  return async (scope, work) => {
    const name = JSON.stringify([scope?.owner, scope?.user ?? null])
    const turn = (last.get(name) ?? Promise.resolve()).then(work, work)
    last.set(name, turn)
    try {
      return await turn
    } finally {
      if (last.get(name) === turn) last.delete(name)
    }
  }
}
