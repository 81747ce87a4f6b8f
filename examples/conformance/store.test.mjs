/** Runs Recollect's conformance cases against a store of your own, with the test runner of Node. */
import { test } from 'node:test'
import { createInMemoryStore, listStoreCases } from 'recollect/testing'

/** Stands for your store: it counts commits and passes everything on. */
function createCountingStore() {
  const store = createInMemoryStore()
  let commits = 0
  return {
    ...store,
    commit: (changes) => {
      commits++
      return store.commit(changes)
    },
    countCommits: () => commits,
  }
}

for (const { name, run } of await listStoreCases(async () => createCountingStore())) test(name, run)
