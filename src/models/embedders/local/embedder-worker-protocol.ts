/** Messages between the embedder and its worker process. */
import type { EmbeddingPurpose } from '../../embedder.ts'
import type { RuntimePreference } from '../../runtime/onnx-runtime.ts'
import type { WorkerFailure } from '../../runtime/worker-server.ts'

/** Location or origin of the model files. */
export type ModelLocation =
  /** Shipped with the package: checksums are required. */
  | {
      readonly kind: 'shipped'
      readonly name: string
      readonly folder: string
      /** A model in the same space for texts that are not English; null for a single model. */
      readonly multilingualFolder: string | null
    }
  | { readonly kind: 'folder'; readonly name: string; readonly folder: string }
  /** Stored in `folder` after the download; `hubUrl` is null when downloads are disabled. */
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
  /** Null selects the default, or the model's own limit if that is lower. */
  readonly tokensMax: number | null
}

export type LoadedModel = {
  readonly model: string
  readonly dimensions: number
  readonly runtime: string
  readonly threads: number
  readonly tokensMax: number
  /** Why the native runtime was not used. */
  readonly nativeRuntimeError: string | null
}

export type EmbedderWorkerRequest =
  | { readonly kind: 'open'; readonly request: ModelRequest }
  | { readonly kind: 'embed'; readonly text: string; readonly purpose: EmbeddingPurpose }

/** One answer per request, in order. */
export type EmbedderWorkerAnswer = ModelAnswer | WorkerFailure

export type ModelAnswer =
  | { readonly kind: 'opened'; readonly model: LoadedModel }
  | { readonly kind: 'embedded'; readonly vector: Float32Array }
