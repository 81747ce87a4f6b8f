/** Every limit on what callers may send, with its unit in its name. */
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

/** Rows one page of `find` may hold. */
export const PAGE_ROWS_MAX = 1_000

/** Changes one commit may hold: the bound on how long a writer keeps others waiting. */
export const COMMIT_CHANGES_MAX = 2_000

/** The same for the index of files, where all that changes of a file is one commit, and nobody waits but who looks at files. */
export const INDEX_COMMIT_CHANGES_MAX = 250_000

/** Hits one keyword search may return. */
export const TEXT_HITS_MAX = 1_000

/** What one recall can return. Whoever wants more than the best lists memories instead. */
export const RECALL_MEMORIES_MAX = 100

export const QUERY_CHARACTERS_MAX = 10_000

/** Tail of a text that pattern extraction reads. */
export const EXTRACTION_BYTES_MAX = 65_536

export const EXTRACTED_CHARACTERS_MIN = 3

export const EXTRACTED_CHARACTERS_MAX = 500

/** What was said is kept whole, so this is far above what one memory may hold. */
export const TURN_CHARACTERS_MAX = 500000
