import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import { describeConversations } from './conversations.suite.ts'
import { describeReceiptTexts } from './receipt-texts.suite.ts'
import { describeReceipts } from './receipts.suite.ts'
import { describeBatches, describeBatchFaults } from './recording-batches.suite.ts'
import { describeThreads } from './session-resolution.suite.ts'
import { describeTranscripts } from './transcripts.suite.ts'

describeConversations('on the reference store', async () => createInMemoryStore())
describeConversations('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))

describeTranscripts('on the reference store', async () => createInMemoryStore())
describeTranscripts('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))

describeThreads('on the reference store', async () => createInMemoryStore())
describeThreads('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))

describeReceipts('on the reference store', async () => createInMemoryStore())
describeReceipts('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))

describeBatches('on the reference store', async () => createInMemoryStore())
describeBatches('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))

describeBatchFaults('on the reference store', async () => createInMemoryStore())
describeBatchFaults('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))

describeReceiptTexts('on the reference store', async () => createInMemoryStore())
describeReceiptTexts('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))
