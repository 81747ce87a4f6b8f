/** Calibrates the similarities of a model with unrelated texts, see `ranking/similarity-threshold.ts`. */

import { innerProduct } from '../../lib/vector-math.ts'
import type { Embedder, EmbeddingModel } from '../../models/embedder.ts'
import type { SimilarityCalibration } from '../ranking/similarity-threshold.ts'

/** Questions and memories that answer them; every pair is unrelated to the others. */
const PAIRS: readonly (readonly [string, string])[] = [
  [
    'Where did I go on holiday last summer?',
    'We spent two weeks in Portugal in July, mostly surfing.',
  ],
  ['What is my sister allergic to?', 'My sister Ann cannot eat peanuts or cashews.'],
  ['Which editor do I use?', 'I do all my programming in Neovim.'],
  [
    'When is the project due?',
    'The deadline for the billing project was moved to the 14th of March.',
  ],
  [
    'What kind of music does Tom play?',
    'Tom has been in a jazz quartet as a drummer since college.',
  ],
  [
    'How did the job interview go?',
    'They offered me the position right after talking with the team.',
  ],
  [
    'What pets do we have?',
    'Our old dog Rex sleeps all day while the two kittens tear the sofa apart.',
  ],
  [
    'Why did the deployment fail?',
    'The release broke because the migration ran out of disk space.',
  ],
]

/** The calibration of the built-in models, verified by a test, so that the first recall need not wait for it. */
const GTE_SMALL = { mean: 0.7356, deviation: 0.0252 }
const KNOWN: ReadonlyMap<string, SimilarityCalibration> = new Map([
  ['transformers:gte-small-multilingual', GTE_SMALL],
  ['transformers:gte-small-int8', GTE_SMALL],
])

export async function getCalibration(
  embedder: Embedder,
  { source, model }: EmbeddingModel,
  signal?: AbortSignal,
): Promise<SimilarityCalibration> {
  return KNOWN.get(`${source}:${model}`) ?? measureCalibration(embedder, signal)
}

/** Measures a model. The result is small and never changes. */
export async function measureCalibration(
  embedder: Embedder,
  signal?: AbortSignal,
): Promise<SimilarityCalibration> {
  const abortable = signal === undefined ? {} : { signal }
  const [questions, answers] = await Promise.all([
    embedder.embed(
      PAIRS.map(([question]) => question),
      { purpose: 'query', ...abortable },
    ),
    embedder.embed(
      PAIRS.map(([, answer]) => answer),
      { purpose: 'document', ...abortable },
    ),
  ])
  const unrelated = questions.flatMap((question, row) =>
    answers.filter((_, column) => column !== row).map((answer) => innerProduct(question, answer)),
  )
  const mean = unrelated.reduce((sum, value) => sum + value, 0) / unrelated.length
  const variance = unrelated.reduce((sum, value) => sum + (value - mean) ** 2, 0) / unrelated.length
  // A deviation near 0 would make every calibrated similarity infinite.
  return { mean, deviation: Math.max(Math.sqrt(variance), DEVIATION_MIN) }
}

const DEVIATION_MIN = 0.005
