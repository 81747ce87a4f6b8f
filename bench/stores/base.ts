/** What all stores are filled with and compared by: made once, so that each gets the same. */
import { openLocalEmbedder } from '../../src/models/embedders/local/local-embedder.ts'
import { Corpus, type CorpusShape, writeBase } from '../recall/corpus.ts'
import { Texts } from '../texts.ts'

const BATCH = 20
const COMPARED_QUESTIONS = 50
export const HITS = 20

/** Vectors by the built-in model, from which those of all memories are made; see `recall/corpus.ts`. */
export async function makeBase(
  { path, texts }: { readonly path: string; readonly texts: number },
  progress: (share: number) => void,
): Promise<void> {
  const embedder = openLocalEmbedder()
  const words = new Texts(3)
  const vectors: Float32Array[] = []
  while (vectors.length < texts) {
    const batch = Array.from({ length: BATCH }, () => words.next())
    vectors.push(...(await embedder.embed(batch, { purpose: 'document' })))
    progress(vectors.length / texts)
  }
  writeBase(path, vectors)
  await embedder.close()
}

/** What is really nearest to the first questions, among the memories of their owner. */
export async function findNearest(shape: CorpusShape): Promise<readonly (readonly number[])[]> {
  const corpus = new Corpus(shape)
  return corpus.nearest(corpus.questions().slice(0, COMPARED_QUESTIONS), HITS)
}
