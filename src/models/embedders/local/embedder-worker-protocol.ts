/** What the embedder and its worker process say to each other. */
import type { EmbeddingPurpose } from '../../embedder.ts'
import type { RuntimePreference } from '../../runtime/onnx-runtime.ts'
import type { WorkerFailure } from '../../runtime/worker-server.ts'

/** Where the files of a model are, or come from. */
export type ModelLocation =
  /** One that comes with the package: its checksums must be there. */
  | { readonly kind: 'shipped'; readonly name: string; readonly folder: string }
  | { readonly kind: 'folder'; readonly name: string; readonly folder: string }
  /** Kept in `folder` once it was downloaded; `hubUrl` is null where downloading is not allowed. */
  | {
      readonly kind: 'hub'
      readonly name: string
      readonly folder: string
      readonly hubUrl: string | null
    }

export type ModelRequest = {
  readonly location: ModelLocation
  readonly runtime: RuntimePreference
  readonly threads: number
  /** Null: the default, or the model's own limit where that is lower. */
  readonly tokensMax: number | null
}

export type LoadedModel = {
  readonly model: string
  readonly dimensions: number
  readonly runtime: string
  readonly threads: number
  readonly tokensMax: number
  /** Why the native runtime is not the one that runs, if it was wanted. */
  readonly nativeRuntimeError: string | null
}

export type EmbedderWorkerRequest =
  | { readonly kind: 'open'; readonly request: ModelRequest }
  | { readonly kind: 'embed'; readonly text: string; readonly purpose: EmbeddingPurpose }

/** Each request gets one answer, in order. */
export type EmbedderWorkerAnswer = ModelAnswer | WorkerFailure

export type ModelAnswer =
  | { readonly kind: 'opened'; readonly model: LoadedModel }
  | { readonly kind: 'embedded'; readonly vector: Float32Array }
