import type { VectorEncoding } from '../domain/embedding-text.ts'
import type { SettingValues } from '../domain/settings/settings.ts'
import type { Adjudicate } from '../domain/verdict.ts'
import type { Embedder } from '../models/embedder.ts'
import type { StoreDependencies } from '../storage/access/types.ts'
import type { VectorIndex } from '../storage/vector-index.ts'
import type { CountTokens } from '../text/tokens.ts'

/** Without an embedder or a vector index, similar memories are found by their words alone. */
export type MemoryDependencies = StoreDependencies & {
  /** The operator's settings. */
  readonly settings: SettingValues
  readonly embedder?: Embedder
  readonly vectors?: VectorIndex
  /** Default: `float32`. */
  readonly vectorEncoding?: VectorEncoding
  /** Decides how a statement relates to a similar memory where rules cannot. */
  readonly adjudicate?: Adjudicate
  /** Token counter of the model that memories are for. Default: an estimate. */
  readonly countTokens?: CountTokens
}
