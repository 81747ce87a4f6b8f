/**
 * Local reranker: a cross-encoder in the ONNX format from a folder.
 *
 * It runs in a process of its own, so that inference never blocks the event loop. Pairs are scored one by one: a score
 * does not depend on its batch, and a deadline can stop between two pairs. The model loads on the first call and
 * continues to load when that call times out.
 */
import { basename, resolve } from 'node:path'
import { parseIntegerOption } from '../../domain/field-parsers.ts'
import { throwIfAborted } from '../../lib/abort.ts'
import { AppError } from '../../lib/errors.ts'
import { MINUTE_MS } from '../../lib/time.ts'
import { truncateText } from '../../text/well-formed-text.ts'
import type { Reranker } from '../reranker.ts'
import { ONNX_RUNTIMES, type RuntimePreference } from '../runtime/onnx-runtime.ts'
import {
  createFifoQueue,
  createOrderError,
  type WorkerCall,
  WorkerClient,
} from '../runtime/worker-client.ts'
import { startWorkerProcess, type WorkerProcess } from '../runtime/worker-process.ts'
import type {
  RerankerWorkerAnswer,
  RerankerWorkerRequest,
  ScoreAnswer,
  TextPair,
} from './reranker-worker-protocol.ts'
// Makes the compiler emit the worker, which nothing else imports.
import type {} from './worker.ts'

export type LocalRerankerOptions = {
  /** Holds `config.json`, `tokenizer.json` and the weights, such as `model.onnx` or `onnx/model_quantized.onnx`. */
  readonly folder: string
  /** Truncation limit of question and text together; lower for models that read less. */
  readonly tokensMax?: number
  readonly threads?: number
  /** `auto` prefers the native runtime and falls back to WebAssembly. */
  readonly runtime?: RuntimePreference
  /** Time per pair after which the worker counts as stuck. */
  readonly answerMsMax?: number
  /** Monotonic milliseconds, for the pause after a failure. */
  readonly now?: () => number
}

const DEFAULT_TOKENS_MAX = 512
const TOKENS_MIN = 8
const TOKENS_MAX = 8_192
/** As for embeddings: more threads take CPU from the server. */
const DEFAULT_THREADS = 1
const THREADS_MAX = 64
const ANSWER_MS_MAX = MINUTE_MS
const TIMER_MS_MAX = 2 ** 31 - 1
/** Bounds tokenization: few tokens are longer, and text beyond the limit would be truncated anyway. */
const UNITS_PER_TOKEN = 16

const MODEL_NAME = 'reranking model'

export type ScoringWorker = WorkerProcess<RerankerWorkerRequest, RerankerWorkerAnswer>

type ScoreCall = WorkerCall<RerankerWorkerRequest, ScoreAnswer>

export function startScoringWorker(): ScoringWorker {
  return startWorkerProcess(import.meta.url)
}

export function openLocalReranker(options: LocalRerankerOptions): Reranker {
  return openLocalRerankerWith(startScoringWorker, options)
}

export function openLocalRerankerWith(
  startWorker: () => ScoringWorker,
  options: LocalRerankerOptions,
): Reranker {
  const { runtime = 'auto', tokensMax = DEFAULT_TOKENS_MAX, answerMsMax = ANSWER_MS_MAX } = options
  if (!ONNX_RUNTIMES.includes(runtime)) {
    throw new AppError('invalid_input', `runtime must be one of ${ONNX_RUNTIMES.join(', ')}.`)
  }
  const folder = resolve(options.folder)
  const client = new WorkerClient<RerankerWorkerRequest, ScoreAnswer, ScoreCall>({
    ...{ startWorker, queue: createFifoQueue<ScoreCall>(), now: options.now ?? performanceNow },
    ...{ modelName: MODEL_NAME, serviceName: 'reranker' },
    openRequest: {
      kind: 'open',
      request: {
        folder,
        runtime,
        threads: parseIntegerOption('threads', options.threads ?? DEFAULT_THREADS, 1, THREADS_MAX),
        tokensMax: parseIntegerOption('tokensMax', tokensMax, TOKENS_MIN, TOKENS_MAX),
      },
    },
    answerTimeoutMs: parseIntegerOption('answerMsMax', answerMsMax, 1, TIMER_MS_MAX),
  })
  const bounded = (text: string) => truncateText(text, tokensMax * UNITS_PER_TOKEN)

  return {
    name: basename(folder),

    async rerank(question, texts, signal) {
      throwIfAborted(signal)
      const scores: { readonly index: number; readonly score: number }[] = []
      for (const [index, text] of texts.entries()) {
        const pair = { question: bounded(question), text: bounded(text) }
        const score = await scorePair(client, pair, signal)
        // A text without a finite score stays unranked.
        if (Number.isFinite(score)) scores.push({ index, score })
      }
      return scores
    },

    close: () => client.close(),
  }
}

/** NaN and infinite when the model returns them. */
async function scorePair(
  client: WorkerClient<RerankerWorkerRequest, ScoreAnswer, ScoreCall>,
  pair: TextPair,
  signal: AbortSignal,
): Promise<number> {
  let score: number | null = null
  const call: ScoreCall = {
    nextRequest: () => (score === null ? { kind: 'score', pair } : null),
    takeAnswer: (answer) => {
      if (answer.kind !== 'scored') throw createOrderError(MODEL_NAME)
      score = answer.score
    },
  }
  await client.run(call, signal)
  return score ?? Number.NaN
}

function performanceNow(): number {
  return performance.now()
}
