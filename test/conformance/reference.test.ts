import { createReferenceStore } from '../../src/adapters/reference/store.ts'
import { describeStore } from './store.suite.ts'

describeStore('reference', async () => createReferenceStore())
