import type { YieldTurn } from '../../lib/backpressure.ts'
import type { Store } from '../store.ts'

/** The same store, which others may go before at every call. */
export function yieldingStore(store: Store, giveWay: YieldTurn): Store {
  const after =
    <Given extends readonly unknown[], Result>(call: (...given: Given) => Promise<Result>) =>
    async (...given: Given): Promise<Result> => {
      await giveWay()
      return call(...given)
    }
  return {
    ...store,
    // Their types depend on the table, which `after` would lose.
    get: async (table, scope, id) => {
      await giveWay()
      return store.get(table, scope, id)
    },
    find: async (table, scope, query) => {
      await giveWay()
      return store.find(table, scope, query)
    },
    searchText: after((scope, query) => store.searchText(scope, query)),
    findNeighbors: after((scope, ids, reach) => store.findNeighbors(scope, ids, reach)),
    commit: after((changes) => store.commit(changes)),
  }
}
