import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import { describeConversationRecall, describeRecallByMeaning } from './turn-recall.suite.ts'

describeConversationRecall('on the reference store', async () => createInMemoryStore())
describeConversationRecall('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))

describeRecallByMeaning(async () => {
  const store = await openSqliteStore({ path: ':memory:', now: Date.now })
  return { store: async () => store, vectors: store.vectors }
})
