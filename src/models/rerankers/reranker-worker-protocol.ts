/** Messages between the local reranker and its worker process. */
import type { RuntimePreference } from '../runtime/onnx-runtime.ts'
import type { WorkerFailure } from '../runtime/worker-server.ts'

export type CrossEncoderRequest = {
  readonly folder: string
  readonly runtime: RuntimePreference
  readonly threads: number
  readonly tokensMax: number
}

export type TextPair = { readonly question: string; readonly text: string }

export type RerankerWorkerRequest =
  | { readonly kind: 'open'; readonly request: CrossEncoderRequest }
  | { readonly kind: 'score'; readonly pair: TextPair }

/** One answer per request, in order. */
export type RerankerWorkerAnswer = ScoreAnswer | WorkerFailure

export type ScoreAnswer =
  | { readonly kind: 'opened' }
  | { readonly kind: 'scored'; readonly score: number }
