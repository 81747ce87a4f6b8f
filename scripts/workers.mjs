/** Modules that run as processes or threads of their own, relative to `src` and without suffix. */
export const WORKERS = [
  'models/embedders/local/worker',
  'models/rerankers/worker',
  'storage/sqlite/connection/wal-checkpoint-worker',
]
