/**
 * The conformance suites that Recollect's own implementations pass, for implementations of your own. Each returns plain
 * cases, so that they run under `node:test`, Vitest, Jest or Bun.
 */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { findPackageFolder } from '../lib/package-folder.ts'
import type { Embedder } from '../models/embedder.ts'
import type { Reranker } from '../models/reranker.ts'
import type { Store } from '../storage/store.ts'
import type { VectorIndex } from '../storage/vector-index.ts'
import type { ConformanceCase } from './case-collector.ts'

export type { ConformanceCase } from './case-collector.ts'

type Suites = {
  listStoreCases(open: () => Promise<Store>): readonly ConformanceCase[]
  listVectorIndexCases(open: () => Promise<OpenedVectorIndex>): readonly ConformanceCase[]
  listEmbedderCases(open: () => Promise<Embedder>): readonly ConformanceCase[]
  listRerankerCases(open: () => Promise<Reranker>): readonly ConformanceCase[]
}

/** A vector index with the store whose rows it indexes. */
export type OpenedVectorIndex = {
  readonly store: Store
  readonly vectors: VectorIndex
  close(): Promise<void>
}

/**
 * The contract of `Store`. `open` returns an empty store; each case closes the one that it opened.
 *
 * @example
 * import { test } from 'node:test'
 * import { createInMemoryStore, listStoreCases } from 'recollect/testing'
 *
 * for (const { name, run } of await listStoreCases(async () => createInMemoryStore())) test(name, run)
 */
export async function listStoreCases(
  open: () => Promise<Store>,
): Promise<readonly ConformanceCase[]> {
  return (await loadSuites()).listStoreCases(open)
}

/**
 * The contract of `VectorIndex`.
 *
 * @example
 * import { test } from 'node:test'
 * import { createInMemoryStore, createInMemoryVectorIndex, listVectorIndexCases } from 'recollect/testing'
 *
 * const cases = await listVectorIndexCases(async () => {
 *   const store = createInMemoryStore()
 *   return { store, vectors: createInMemoryVectorIndex(store), close: () => store.close() }
 * })
 * for (const { name, run } of cases) test(name, run)
 */
export async function listVectorIndexCases(
  open: () => Promise<OpenedVectorIndex>,
): Promise<readonly ConformanceCase[]> {
  return (await loadSuites()).listVectorIndexCases(open)
}

/**
 * The contract of `Embedder`.
 *
 * @example
 * import { test } from 'node:test'
 * import { createHashingEmbedder, listEmbedderCases } from 'recollect/testing'
 *
 * for (const { name, run } of await listEmbedderCases(async () => createHashingEmbedder())) test(name, run)
 */
export async function listEmbedderCases(
  open: () => Promise<Embedder>,
): Promise<readonly ConformanceCase[]> {
  return (await loadSuites()).listEmbedderCases(open)
}

/**
 * The contract of `Reranker`.
 *
 * @example
 * import type { Reranker } from 'recollect'
 * import { listRerankerCases } from 'recollect/testing'
 *
 * declare const openReranker: () => Promise<Reranker>
 * const cases = await listRerankerCases(openReranker)
 */
export async function listRerankerCases(
  open: () => Promise<Reranker>,
): Promise<readonly ConformanceCase[]> {
  return (await loadSuites()).listRerankerCases(open)
}

/** Built from the tests of this repository, which are no part of `src`. */
async function loadSuites(): Promise<Suites> {
  const file = join(findPackageFolder(), 'dist', 'testing', 'suites.js')
  return await import(pathToFileURL(file).href)
}
