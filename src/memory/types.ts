import type { VectorEncoding } from '../domain/embedding-text.ts'
import type { SettingValues } from '../domain/settings/settings.ts'
import type { Adjudicate } from '../domain/verdict.ts'
import type { Embedder } from '../models/embedder.ts'
import type { StoreDependencies } from '../storage/access/types.ts'
import type { VectorIndex } from '../storage/vector-index.ts'
import type { CountTokens } from '../text/tokens.ts'

/** Without an embedder or a vector index, similar memories are found by keyword search only. */
export type MemoryDependencies = StoreDependencies & {
  readonly settings: SettingValues
  readonly embedder?: Embedder
  readonly vectors?: VectorIndex
  /** Default: `float32`. */
  readonly vectorEncoding?: VectorEncoding
  /** Compares statements that rules cannot compare. */
  readonly adjudicate?: Adjudicate
  /** Counts tokens for the model that reads the memories. Default: an estimate. */
  readonly countTokens?: CountTokens
}
