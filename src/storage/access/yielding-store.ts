import type { YieldTurn } from '../../lib/backpressure.ts'
import type { Store } from '../store.ts'

/** Wraps a store so that every call first yields to requests that somebody waits for. */
export function yieldingStore(store: Store, yieldTurn: YieldTurn): Store {
  const afterYield =
    <Args extends readonly unknown[], Result>(call: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      await yieldTurn()
      return call(...args)
    }
  return {
    ...store,
    // The types of these two depend on the table, which `afterYield` would lose.
    get: async (table, scope, id) => {
      await yieldTurn()
      return store.get(table, scope, id)
    },
    find: async (table, scope, query) => {
      await yieldTurn()
      return store.find(table, scope, query)
    },
    searchText: afterYield((scope, query) => store.searchText(scope, query)),
    findNeighbors: afterYield((scope, ids, reach) => store.findNeighbors(scope, ids, reach)),
    commit: afterYield((changes) => store.commit(changes)),
  }
}
