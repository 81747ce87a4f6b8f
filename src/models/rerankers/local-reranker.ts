/**
 * A reranker on this machine: a cross-encoder in the ONNX format that the user has in a folder.
 *
 * It runs in a process of its own, so that the event loop never waits for it. Pairs are scored one by one, which keeps
 * a score free of its company and lets a deadline end the work between any two of them. The model is loaded at the
 * first call; when a deadline comes before it is, loading goes on for the next one.
 */
import { basename, resolve } from 'node:path'
import { throwIfAborted } from '../../lib/abort.ts'
import { AppError } from '../../lib/errors.ts'
import { MINUTE_MS } from '../../lib/time.ts'
import { truncateText } from '../../text/well-formed-text.ts'
import type { Reranker } from '../reranker.ts'
import { ONNX_RUNTIMES, type RuntimePreference } from '../runtime/onnx-runtime.ts'
import { openScoringClient, type ScoringWorker, startScoringWorker } from './scoring-client.ts'

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
  const scoring = openScoringClient(startWorker, {
    request: {
      folder,
      runtime,
      threads: whole('threads', options.threads ?? DEFAULT_THREADS, 1, THREADS_MAX),
      tokensMax: whole('tokensMax', tokensMax, TOKENS_MIN, TOKENS_MAX),
    },
    answerMsMax: whole('answerMsMax', answerMsMax, 1, TIMER_MS_MAX),
    now: options.now ?? (() => performance.now()),
  })
  const bounded = (text: string) => truncateText(text, tokensMax * UNITS_PER_TOKEN)

  return {
    name: basename(folder),

    async rerank(question, texts, signal) {
      throwIfAborted(signal)
      const scores: { readonly index: number; readonly score: number }[] = []
      for (const [index, text] of texts.entries()) {
        const pair = { question: bounded(question), text: bounded(text) }
        const score = await scoring.score(pair, signal)
        // A model that gives no number has no opinion on this text.
        if (Number.isFinite(score)) scores.push({ index, score })
      }
      return scores
    },

    close: () => scoring.close(),
  }
}

function whole(name: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value
  throw new AppError('invalid_input', `${name} must be a whole number from ${min} to ${max}.`, {
    option: name,
  })
}
