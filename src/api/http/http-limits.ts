/** What a client may send and how long it may take, with units in the names. */
export const BODY_BYTES_MAX = 1_048_576
/** One line of what is imported. */
export const LINE_CHARACTERS_MAX = 4_194_304
export const JSON_DEPTH_MAX = 64
export const HEADERS_TIMEOUT_MS = 10_000
export const BODY_TIMEOUT_MS = 30_000
/** How long a client that sends lines may pause. */
export const BODY_IDLE_TIMEOUT_MS = 30_000
/** Longer than proxies keep connections, so that none is closed while they begin to use it. */
export const KEEP_ALIVE_TIMEOUT_MS = 65_000
/** Faulty fields told in one answer. */
export const DETAILS_MAX = 50
export const MESSAGE_CHARACTERS_MAX = 500
export const IDEMPOTENCY_KEY_CHARACTERS_MAX = 200
/** What a refused client may still send before its connection is cut, so that it gets to read why. */
export const DRAIN_BYTES_MAX = 64 * 1_048_576
export const DRAIN_TIMEOUT_MS = 5_000
/** Answers below this size are not worth compressing. */
export const COMPRESSION_BYTES_MIN = 1_024
/** How long requests and streams may go on once the server is asked to stop, and then to react to being stopped. */
export const SHUTDOWN_GRACE_MS = 10_000
export const SHUTDOWN_ABORT_MS = 1_000
