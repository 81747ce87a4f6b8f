/**
 * Ownership of responses that a provider stores. Under the server's shared account, anybody who knows an id could read,
 * delete or continue a response of another owner. The gateway therefore tracks the owner of every response id: recent
 * ids in memory, older ones in the store, as far as they were recorded.
 */
import { brotliDecompressSync, constants, gunzipSync, inflateSync } from 'node:zlib'
import type { ResponseOwner } from '../../../conversations/conversations.ts'
import type { Engine } from '../../../engine/engine.ts'
import { type CircuitBreaker, createStallBreaker } from '../../../lib/circuit-breaker.ts'
import type { Clock } from '../../../lib/clock.ts'
import { AppError } from '../../../lib/errors.ts'
import { LruCache } from '../../../lib/lru-cache.ts'
import { withTimeout } from '../../../lib/timeout.ts'
import type { Provider } from '../../../models/provider.ts'
import { type HeaderPairs, headerValue } from '../../../models/upstream.ts'
import type { ResponseListener } from './response-stream.ts'

type StoredResponse = { readonly owner: string; readonly provider: Provider }

const STORED_RESPONSES_MAX = 20_000

/** The id is near the beginning of a response. */
const ID_SCAN_BYTES_MAX = 8_192
const DECOMPRESSED_BYTES_MAX = 1_048_576
const ID = /"id"\s*:\s*"([\w-]{1,200})"/
const LOOKUP_TIMEOUT_MS = 5_000

/** A chat request must not wait long for a store that hangs. */
const PREVIOUS_LOOKUP_TIMEOUT_MS = 2_000

export class ResponseOwnership {
  readonly #engine: Engine
  readonly #circuitBreaker: CircuitBreaker
  readonly #responses = new LruCache<string, StoredResponse>({ entriesMax: STORED_RESPONSES_MAX })

  constructor(engine: Engine, clock: Clock) {
    this.#engine = engine
    this.#circuitBreaker = createStallBreaker(clock)
  }

  /** The provider that stores the response; null when unknown. */
  providerOf(id: string): Provider | null {
    return this.#responses.get(id)?.provider ?? null
  }

  /** Reads the id synchronously from the first bytes, because the client may use it as soon as it has received them. */
  trackResponse(headers: HeaderPairs, response: StoredResponse): ResponseListener {
    const decompress = DECOMPRESSORS[headerValue(headers, 'content-encoding') || 'identity']
    let prefix: Uint8Array = Buffer.alloc(0)
    let isDone = decompress === undefined
    return {
      chunk: (bytes) => {
        if (isDone || decompress === undefined) return
        prefix = Buffer.concat([prefix, bytes.subarray(0, ID_SCAN_BYTES_MAX - prefix.length)])
        isDone = prefix.length >= ID_SCAN_BYTES_MAX
        const id = ID.exec(decompress(prefix).toString('latin1'))?.[1]
        if (id === undefined) return
        isDone = true
        this.#add(id, response)
      },
      end: async () => {},
    }
  }

  /** A response belongs to the first owner that it was tracked for. */
  #add(id: string, response: StoredResponse): void {
    this.#responses.getOrCreate(id, () => response)
  }

  /** Fails with `not_found` unless the response is known to belong to the owner. */
  async assertOwned(owner: string, id: string): Promise<void> {
    let ownership = this.#getTracked(owner, id)
    if (ownership === null) {
      const lookup = await withTimeout(LOOKUP_TIMEOUT_MS, () => this.#getRecorded(owner, id))
      if (lookup.kind === 'failed') throw lookup.error
      ownership = lookup.result
    }
    if (ownership === 'own') return
    throw new AppError('not_found', `Response with id '${id}' not found.`, { id })
  }

  /**
   * Fails when the previous response belongs to another owner. An unknown response passes: it was created elsewhere, or
   * with memory off before a restart, and its id cannot be guessed.
   */
  async assertNotForeign(owner: string, previous: string): Promise<void> {
    let ownership = this.#getTracked(owner, previous)
    if (ownership === null) {
      const lookup = await this.#circuitBreaker.run(PREVIOUS_LOOKUP_TIMEOUT_MS, () =>
        this.#getRecorded(owner, previous),
      )
      ownership = lookup.kind === 'failed' ? 'unknown' : lookup.result
    }
    if (ownership !== 'foreign') return
    throw new AppError('invalid_input', `Previous response with id '${previous}' not found.`, {
      field: 'previous_response_id',
      previous,
    })
  }

  #getTracked(owner: string, id: string): ResponseOwner | null {
    const response = this.#responses.get(id)
    if (response === undefined) return null
    return response.owner === owner ? 'own' : 'foreign'
  }

  #getRecorded(owner: string, id: string): Promise<ResponseOwner> {
    return this.#engine.conversations.getResponseOwner({ owner }, id)
  }
}

/** The input is a prefix: the rest of the response is yet to come. */
const PARTIAL_OPTIONS = {
  finishFlush: constants.Z_SYNC_FLUSH,
  maxOutputLength: DECOMPRESSED_BYTES_MAX,
}

const DECOMPRESSORS: { readonly [encoding: string]: ((bytes: Uint8Array) => Buffer) | undefined } =
  {
    identity: (bytes) => Buffer.from(bytes),
    gzip: (bytes) => gunzipSync(bytes, PARTIAL_OPTIONS),
    'x-gzip': (bytes) => gunzipSync(bytes, PARTIAL_OPTIONS),
    deflate: (bytes) => inflateSync(bytes, PARTIAL_OPTIONS),
    br: (bytes) =>
      brotliDecompressSync(bytes, {
        finishFlush: constants.BROTLI_OPERATION_FLUSH,
        maxOutputLength: DECOMPRESSED_BYTES_MAX,
      }),
  }
