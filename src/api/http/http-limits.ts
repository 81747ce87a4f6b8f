/** Size and time limits for requests. Units are part of the names. */
export const BODY_BYTES_MAX = 1_048_576
/** One line of an NDJSON import. */
export const LINE_CHARACTERS_MAX = 4_194_304
export const JSON_DEPTH_MAX = 64
export const HEADERS_TIMEOUT_MS = 10_000
export const BODY_TIMEOUT_MS = 30_000
/** Idle timeout of a client that streams lines. */
export const BODY_IDLE_TIMEOUT_MS = 30_000
/**
 * Longer than the keep-alive of common proxies, so that no connection closes just as a proxy reuses
 * it.
 */
export const KEEP_ALIVE_TIMEOUT_MS = 65_000
/** Field errors reported in one response. */
export const DETAILS_MAX = 50
export const MESSAGE_CHARACTERS_MAX = 500
export const IDEMPOTENCY_KEY_CHARACTERS_MAX = 200
/**
 * Bytes and time that a refused client may still send, so that it can read the error before the
 * connection closes.
 */
export const DRAIN_BYTES_MAX = 64 * 1_048_576
export const DRAIN_TIMEOUT_MS = 5_000
/** Smaller responses are not compressed. */
export const COMPRESSION_BYTES_MIN = 1_024
/**
 * Grace period for requests and streams on shutdown, and the time they have to react to the abort
 * after it.
 */
export const SHUTDOWN_GRACE_MS = 10_000
export const SHUTDOWN_ABORT_MS = 1_000
