/** The suites that `recollect/testing` offers. `scripts/bundle.mjs` bundles them with a stand-in for the test runner. */
import { collectCases } from '../../src/testing/case-collector.ts'
import { describeEmbedder, type OpenEmbedder } from './models/embedder.suite.ts'
import { describeReranker, type OpenReranker } from './models/reranker.suite.ts'
import { describeStore, type OpenStore } from './store/store.suite.ts'
import { describeVectorIndex, type OpenVectors } from './vectors/vector-index.suite.ts'

export const listStoreCases = (open: OpenStore) => collectCases(() => describeStore('store', open))

export const listVectorIndexCases = (open: OpenVectors) =>
  collectCases(() => describeVectorIndex('vector index', open))

export const listEmbedderCases = (open: OpenEmbedder) =>
  collectCases(() => describeEmbedder('embedder', open))

export const listRerankerCases = (open: OpenReranker) =>
  collectCases(() => describeReranker('reranker', open))
