import { createInMemoryStore } from '../../../src/storage/in-memory/in-memory-store.ts'
import { describeStore } from './store.suite.ts'

describeStore('reference', async () => createInMemoryStore())
