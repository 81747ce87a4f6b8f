/** Limits on input and on batch sizes. Each name ends with its unit. */
export const CONTENT_CHARACTERS_MAX = 50_000

export const KEY_CHARACTERS_MAX = 200

/** Owner, user and session names. */
export const NAME_CHARACTERS_MAX = 200

export const LANGUAGE_CHARACTERS_MAX = 35

export const ENTITIES_MAX = 64

export const ENTITY_CHARACTERS_MAX = 200

export const METADATA_CHARACTERS_MAX = 16_384

export const METADATA_DEPTH_MAX = 16

export const PROVENANCE_TURNS_MAX = 256

export const PROVENANCE_WORD_CHARACTERS_MAX = 100

/** Rows per page of `Store.find`. */
export const PAGE_ROWS_MAX = 1_000

/** Changes per commit. Bounds how long one writer blocks the others. */
export const COMMIT_CHANGES_MAX = 2_000

/** Changes per commit of the file index. A file is indexed in one commit, and only file searches wait for it. */
export const INDEX_COMMIT_CHANGES_MAX = 250_000

/** Hits per keyword search. */
export const TEXT_HITS_MAX = 1_000

/** Results per recall. Callers that need more list memories instead. */
export const RECALL_MEMORIES_MAX = 100

export const QUERY_CHARACTERS_MAX = 10_000

/** Pattern extraction reads this many bytes from the end of a text. */
export const EXTRACTION_BYTES_MAX = 65_536

export const EXTRACTED_CHARACTERS_MIN = 3

export const EXTRACTED_CHARACTERS_MAX = 500

/** Far above the limit of a memory, because turns are stored verbatim. */
export const TURN_CHARACTERS_MAX = 500_000
