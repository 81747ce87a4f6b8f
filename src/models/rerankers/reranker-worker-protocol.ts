/** What the local reranker and its worker process say to each other. */
import type { RuntimeChoice } from '../runtime/onnx-runtime.ts'
import type { Failed } from '../runtime/worker-server.ts'

export type CrossEncoderRequest = {
  readonly folder: string
  readonly runtime: RuntimeChoice
  readonly threads: number
  readonly tokensMax: number
}

export type Pair = { readonly question: string; readonly text: string }

export type WorkerRequest =
  | { readonly kind: 'open'; readonly request: CrossEncoderRequest }
  | { readonly kind: 'score'; readonly pair: Pair }

/** Each request gets one answer, in order. */
export type WorkerAnswer =
  | { readonly kind: 'opened' }
  | { readonly kind: 'scored'; readonly score: number }
  | Failed
