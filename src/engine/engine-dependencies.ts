import type { FilesHost } from '../files/file-index.ts'
import type { FileService } from '../files/files.ts'
import type { LanguageModel } from '../models/language-model.ts'
import type { ForeignDatabaseDrivers } from '../portability/import-source.ts'
import type { RecallDependencies } from '../recall/types.ts'
import type { VectorReplication } from '../storage/vector-replication.ts'

/** Everything the engine takes from outside. Without an embedder or a vector index, recall is lexical only. */
export type EngineDependencies = RecallDependencies & {
  /** Why the store keeps no vectors although an embedder is configured. */
  readonly vectorsUnavailableReason?: string
  /** State and controls of the vector replica, where there is one. */
  readonly replication?: VectorReplication
  /** Distills conversations. The settings select the model; without one, signals stay pending. */
  readonly languageModel?: LanguageModel
  /** Opens databases of other systems for imports. */
  readonly foreignDrivers?: ForeignDatabaseDrivers
  /** Called after data was erased: purges whatever else holds a copy of it. */
  readonly onErased?: () => Promise<void>
  /** Creates memory in files, which is closed with the engine. */
  readonly files?: (host: FilesHost) => FileService
}
