/**
 * A reranker on this machine: a cross-encoder in the ONNX format that the user has in a folder.
 *
 * It runs in a process of its own, so that the event loop never waits for it. Pairs are scored one by one, which keeps
 * a score free of its company and lets a deadline end the work between any two of them. The model is loaded at the
 * first call; when a deadline comes before it is, loading goes on for the next one.
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
// Makes the compiler emit the worker wherever this file is compiled to: nothing else imports it.
import type {} from './worker.ts'

export type LocalRerankerOptions = {
  /** With `config.json`, `tokenizer.json` and the network, such as `model.onnx` or `onnx/model_quantized.onnx`. */
  readonly folder: string
  /** Where question and text together are cut; less where the model reads less. */
  readonly tokensMax?: number
  readonly threads?: number
  /** `auto` takes the native runtime where it can be loaded, and WebAssembly elsewhere. */
  readonly runtime?: RuntimePreference
  /** How long one pair may take before the process is taken for stuck. */
  readonly answerMsMax?: number
  /** Milliseconds from any beginning, for the pause after a failure. */
  readonly now?: () => number
}

const DEFAULT_TOKENS_MAX = 512
const TOKENS_MIN = 8
const TOKENS_MAX = 8_192
/** As for embeddings: another one would be taken from the server. */
const DEFAULT_THREADS = 1
const THREADS_MAX = 64
const ANSWER_MS_MAX = MINUTE_MS
const TIMER_MS_MAX = 2 ** 31 - 1
/** Hardly a token stands for more. What lies beyond would be cut off after it was tokenised, which takes its time. */
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
        // A model that gives no number has no opinion on this text.
        if (Number.isFinite(score)) scores.push({ index, score })
      }
      return scores
    },

    close: () => client.close(),
  }
}

/** May be a number that is not finite, if the model gives one. */
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
