import type { VectorEncoding } from '../domain/embedding-text.ts'
import type { IdGenerator } from '../domain/ids.ts'
import type { SettingValues } from '../domain/settings/settings.ts'
import type { Adjudicate } from '../domain/verdict.ts'
import type { Files } from '../files/files.ts'
import type { FilesHost } from '../files/files-host.ts'
import type { Clock } from '../lib/clock.ts'
import type { Embedder } from '../models/embedder.ts'
import type { LanguageModel } from '../models/language-model.ts'
import type { Reranker } from '../models/reranker.ts'
import type { Store } from '../storage/store.ts'
import type { VectorIndex } from '../storage/vector-index.ts'
import type { VectorReplication } from '../storage/vector-replication.ts'
import type { CountTokens } from '../text/tokens.ts'

/** Everything the engine needs from outside. Without an embedder or an index, recall goes by words alone. */
export type EngineDependencies = {
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdGenerator
  /** The operator's settings. */
  readonly settings: SettingValues
  readonly embedder?: Embedder
  readonly vectors?: VectorIndex
  /** Why the store keeps no vectors although it could, for people who want to change that. */
  readonly vectorsUnavailableReason?: string
  /** Where the index may have a mirror beside it: what shows and steers that. */
  readonly replication?: VectorReplication
  /** Default: `float32`. */
  readonly vectorEncoding?: VectorEncoding
  /** The embedder of a space that an earlier configuration made, where it can still be had: it answers meanwhile. */
  readonly getFormerEmbedder?: (signature: string) => Embedder | null
  readonly reranker?: Reranker
  /** Distils what was said; which model is asked, settings say. Without it, what was said waits. */
  readonly languageModel?: LanguageModel
  /** Asked what a new statement is to a close one where rules can't tell. */
  readonly adjudicate?: Adjudicate
  /** Called when memories were erased for good: whatever else holds something of them must let it go. */
  readonly onErased?: () => Promise<void>
  /** Memory in files, closed with the engine. Without it, there is none. */
  readonly files?: (surroundings: FilesHost) => Files
  /** Of the model that the memories are for; default: an estimate. */
  readonly countTokens?: CountTokens
}
