/**
 * Answers that a provider keeps, and whose they are. Under the key of the server they all lie in one place, where whoever
 * knows an id could read, delete or go on from what another owner was told. So the gateway notes for whom it passed an
 * answer on; what it noted before a restart, memory knows, as far as it recorded it.
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

/** The id stands at the beginning; what has none by then has none. */
const ID_SCAN_BYTES_MAX = 8_192
const DECOMPRESSED_BYTES_MAX = 1_048_576
const ID = /"id"\s*:\s*"([\w-]{1,200})"/
const LOOKUP_TIMEOUT_MS = 5_000

/** A request to a model must not wait long for a store that hangs; only for what is being recorded. */
const PREVIOUS_LOOKUP_TIMEOUT_MS = 2_000

export class ResponseOwnership {
  readonly #engine: Engine
  readonly #patience: CircuitBreaker
  readonly #made = new LruCache<string, StoredResponse>({ entriesMax: STORED_RESPONSES_MAX })

  constructor(engine: Engine, clock: Clock) {
    this.#engine = engine
    this.#patience = createStallBreaker(clock)
  }

  /** Who is to be asked for it, if that is known. */
  providerOf(id: string): Provider | null {
    return this.#made.get(id)?.provider ?? null
  }

  /**
   * Hears the id of an answer in its first bytes, and before the next thing happens: its client may ask for it as soon
   * as it has read that far.
   */
  trackResponse(headers: HeaderPairs, made: StoredResponse): ResponseListener {
    const unpack = DECOMPRESSORS[headerValue(headers, 'content-encoding') || 'identity']
    let heard: Uint8Array = Buffer.alloc(0)
    let isOver = unpack === undefined
    return {
      chunk: (bytes) => {
        if (isOver || unpack === undefined) return
        heard = Buffer.concat([heard, bytes.subarray(0, ID_SCAN_BYTES_MAX - heard.length)])
        isOver = heard.length >= ID_SCAN_BYTES_MAX
        const id = ID.exec(unpack(heard).toString('latin1'))?.[1]
        if (id === undefined) return
        isOver = true
        this.#note(id, made)
      },
      end: async () => {},
    }
  }

  /** The first one it was made for is the one it belongs to. */
  #note(id: string, made: StoredResponse): void {
    if (this.#made.peek(id) === undefined) this.#made.set(id, made)
  }

  /** What is not known to be the owner's own is not there. */
  async assertOwned(owner: string, id: string): Promise<void> {
    let whose = this.#noted(owner, id)
    if (whose === null) {
      const looked = await withTimeout(LOOKUP_TIMEOUT_MS, () => this.#recorded(owner, id))
      if (looked.kind === 'failed') throw looked.error
      whose = looked.result
    }
    if (whose === 'own') return
    throw new AppError('not_found', `Response with id '${id}' not found.`, { id })
  }

  /**
   * Nobody goes on from what was said to another owner. What nobody here knows of passes: it was made elsewhere, or
   * with memory off before a restart, and its id can't be guessed.
   */
  async assertNotForeign(owner: string, previous: string): Promise<void> {
    let whose = this.#noted(owner, previous)
    if (whose === null) {
      const looked = await this.#patience.run(PREVIOUS_LOOKUP_TIMEOUT_MS, () =>
        this.#recorded(owner, previous),
      )
      whose = looked.kind === 'failed' ? 'unknown' : looked.result
    }
    if (whose !== 'foreign') return
    throw new AppError('invalid_input', `Previous response with id '${previous}' not found.`, {
      field: 'previous_response_id',
      previous,
    })
  }

  #noted(owner: string, id: string): ResponseOwner | null {
    const made = this.#made.get(id)
    if (made === undefined) return null
    return made.owner === owner ? 'own' : 'foreign'
  }

  #recorded(owner: string, id: string): Promise<ResponseOwner> {
    return this.#engine.conversations.getResponseOwner({ owner }, id)
  }
}

/** More of it is to come. */
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
