/**
 * For tests of programs that use Recollect, and of stores, indexes and models of your own.
 *
 * @example
 * import { createTestEngine, ScriptedModel } from 'recollect/testing'
 *
 * const memory = createTestEngine({ languageModel: new ScriptedModel('tea') })
 */

export { createHashingEmbedder } from '../models/embedders/hashing-embedder.ts'
export { createInMemoryStore } from '../storage/in-memory/in-memory-store.ts'
export { createInMemoryVectorIndex } from '../storage/in-memory/in-memory-vector-index.ts'
export {
  type ConformanceCase,
  listEmbedderCases,
  listRerankerCases,
  listStoreCases,
  listVectorIndexCases,
  type OpenedVectorIndex,
} from './conformance.ts'
export { FakeClock } from './fake-clock.ts'
export { type ScriptedAnswer, ScriptedModel } from './scripted-model.ts'
export { createTestEngine, type TestEngineOptions } from './test-engine.ts'
