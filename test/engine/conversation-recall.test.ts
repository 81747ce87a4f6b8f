import { createReferenceStore } from '../../src/adapters/reference/store.ts'
import { openSqliteStore } from '../../src/adapters/sqlite/store.ts'
import { describeConversationRecall, describeRecallByMeaning } from './conversation-recall.suite.ts'

describeConversationRecall('on the reference store', async () => createReferenceStore())
describeConversationRecall('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))

describeRecallByMeaning(async () => {
  const store = await openSqliteStore({ path: ':memory:', now: Date.now })
  return { store: async () => store, vectors: store.vectors }
})
