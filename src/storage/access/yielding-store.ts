import type { GiveWay } from '../../lib/backpressure.ts'
import type { Store } from '../store.ts'

/** The same store, which others may go before at every call. */
export function polite(store: Store, giveWay: GiveWay): Store {
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
    matchText: after((scope, query) => store.matchText(scope, query)),
    around: after((scope, ids, reach) => store.around(scope, ids, reach)),
    commit: after((changes) => store.commit(changes)),
  }
}
