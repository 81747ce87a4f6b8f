/** What the tests of the local reranker share. */
import { onTestFinished } from 'vitest'
import { NEVER_ABORTED } from '../../../src/lib/abort.ts'
import type { Reranker } from '../../../src/models/reranker.ts'
import {
  type LocalRerankerOptions,
  openLocalReranker,
} from '../../../src/models/rerankers/local-reranker.ts'
import { type CrossEncoderFiles, writeCrossEncoder } from '../../fakes/tiny-cross-encoder.ts'
import { expectFreshWorker } from '../../support/fresh-worker.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

export function expectFreshReranker(): void {
  expectFreshWorker('dist/models/rerankers/worker.js', [
    'src/models/rerankers',
    'src/models/runtime',
    'src/lib',
  ])
}

/** A folder with the tiny model, and `more` files beside or instead of its own. */
export function tinyFolder(more: CrossEncoderFiles = {}): string {
  const folder = temporaryFolder()
  writeCrossEncoder(folder, more)
  return folder
}

export function openLocal(options: LocalRerankerOptions): Reranker {
  const reranker = openLocalReranker(options)
  onTestFinished(() => reranker.close())
  return reranker
}

/** The scores by position; undefined where there is none. */
export async function scoresOf(
  reranker: Reranker,
  question: string,
  texts: readonly string[],
): Promise<readonly (number | undefined)[]> {
  const scores = new Map(
    (await reranker.rerank(question, texts, NEVER_ABORTED)).map(({ index, score }) => [
      index,
      score,
    ]),
  )
  return texts.map((_, index) => scores.get(index))
}
