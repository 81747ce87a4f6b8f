/**
 * Ownership of state that a provider keeps: stored responses and their items, conversations, threads, containers, files.
 * Under the server's shared account, anybody who knows an id could read, delete or continue what another owner created.
 * The gateway therefore binds every id that a response hands out to its owner: in memory at once, and in the store, so
 * that it stays bound after a restart.
 */
import { brotliDecompressSync, constants, gunzipSync, inflateSync } from 'node:zlib'
import type { ResponseOwner } from '../../../conversations/conversations.ts'
import type { ApiFormat } from '../../../domain/model-call.ts'
import type { Engine } from '../../../engine/engine.ts'
import { type CircuitBreaker, createStallBreaker } from '../../../lib/circuit-breaker.ts'
import type { Clock } from '../../../lib/clock.ts'
import { AppError } from '../../../lib/errors.ts'
import type { JsonObject } from '../../../lib/json.ts'
import { LruCache } from '../../../lib/lru-cache.ts'
import { withTimeout } from '../../../lib/timeout.ts'
import type { Provider } from '../../../models/provider.ts'
import { type HeaderPairs, headerValue } from '../../../models/upstream.ts'
import {
  listIssuedIds,
  listIssuedIdsOfEvent,
  listReferences,
  type ProviderReference,
} from '../formats/provider-references.ts'
import { combineListeners, createReaderListener, type ResponseListener } from './response-stream.ts'

type IssuedId = { readonly owner: string; readonly provider: Provider }

const ISSUED_IDS_MAX = 50_000

/** The id of a response is near its beginning. */
const ID_SCAN_BYTES_MAX = 8_192
const DECOMPRESSED_BYTES_MAX = 1_048_576
const ID = /"id"\s*:\s*"([\w-]{1,200})"/
const LOOKUP_TIMEOUT_MS = 5_000

/** A chat request must not wait long for a store that hangs. */
const REFERENCE_LOOKUP_TIMEOUT_MS = 2_000

/** More references than this in one request are refused when they are not known in memory. */
const LOOKUPS_MAX = 100

/** How long new ids are collected before they are stored. */
const CLAIM_DELAY_MS = 100

export class ProviderState {
  readonly #engine: Engine
  readonly #circuitBreaker: CircuitBreaker
  readonly #issued = new LruCache<string, IssuedId>({ entriesMax: ISSUED_IDS_MAX })
  /** New ids by owner. */
  readonly #unclaimed = new Map<string, Set<string>>()

  constructor(engine: Engine, clock: Clock) {
    this.#engine = engine
    this.#circuitBreaker = createStallBreaker(clock)
  }

  /** The provider that issued the id; null when unknown. */
  providerOf(id: string): Provider | null {
    return this.#issued.get(id)?.provider ?? null
  }

  /**
   * Binds the ids of a response to its owner. The id of the response itself is read synchronously from the first bytes,
   * because the client may use it as soon as it has received them.
   */
  trackResponse(format: ApiFormat, headers: HeaderPairs, issued: IssuedId): ResponseListener {
    const add = (ids: readonly string[]) => this.#add(ids, issued)
    const reader = createReaderListener(
      {
        readEvent: ({ data }) => add(listIssuedIdsOfEvent(format, data)),
        readBody: (body) => add(listIssuedIds(format, Object(body) as JsonObject)), // of any value
      },
      headers,
    )
    const prefix = createPrefixListener(headers, (id) => add([id]))
    if (reader === null) return prefix
    const both = combineListeners(prefix, reader)
    return { ...both, ended: () => void reader.end() }
  }

  /** An id belongs to the first owner that it was issued to. */
  #add(ids: readonly string[], issued: IssuedId): void {
    for (const id of ids) {
      if (this.#issued.get(id) !== undefined) continue
      this.#issued.set(id, issued)
      this.#claim(id, issued.owner)
    }
  }

  #claim(id: string, owner: string): void {
    if (this.#unclaimed.size === 0) setTimeout(() => this.#storeClaims(), CLAIM_DELAY_MS).unref()
    const ids = this.#unclaimed.get(owner) ?? new Set()
    this.#unclaimed.set(owner, ids.add(id))
  }

  #storeClaims(): void {
    const claims = [...this.#unclaimed]
    this.#unclaimed.clear()
    for (const [owner, ids] of claims) {
      // Without the store, ids stay bound in memory until a restart, and are refused after it.
      this.#engine.conversations.claimProviderIds({ owner }, [...ids]).catch(() => {})
    }
  }

  /** Binds ids to the owner that receives them and stores that at once. An id that has an owner keeps it. */
  async bind(ids: readonly string[], issued: IssuedId): Promise<void> {
    const added = ids.filter((id) => this.#issued.get(id) === undefined)
    for (const id of added) this.#issued.set(id, issued)
    if (added.length === 0) return
    // Without the store, ids stay bound in memory until a restart, and are refused after it.
    await withTimeout(LOOKUP_TIMEOUT_MS, () =>
      this.#engine.conversations.claimProviderIds({ owner: issued.owner }, added),
    )
  }

  async owns(owner: string, id: string): Promise<boolean> {
    const tracked = this.#getTracked(owner, id)
    if (tracked !== null) return tracked === 'own'
    const lookup = await withTimeout(LOOKUP_TIMEOUT_MS, () => this.#getRecorded(owner, id))
    if (lookup.kind === 'failed') throw lookup.error
    return lookup.result === 'own'
  }

  /** Fails with `not_found`, in the wording of a provider, which does not say either whether an id exists elsewhere. */
  async assertOwned(
    owner: string,
    id: string,
    message = `No such resource: '${id}'.`,
  ): Promise<void> {
    if (!(await this.owns(owner, id))) throw new AppError('not_found', message, { id })
  }

  /**
   * Fails when the request refers to state that does not belong to its owner. Unknown ids are refused as well: they may
   * be anybody's. `acceptsUnknown`: for callers that reach all owners.
   */
  async assertReferences(
    owner: string,
    format: ApiFormat,
    body: JsonObject,
    acceptsUnknown: boolean,
  ): Promise<void> {
    const untracked: ProviderReference[] = []
    for (const reference of listReferences(format, body)) {
      const ownership = this.#getTracked(owner, reference.id)
      if (ownership === 'foreign') throw createReferenceError(reference)
      if (ownership === null) untracked.push(reference)
    }
    if (untracked.length > LOOKUPS_MAX && !acceptsUnknown) {
      throw createReferenceError(untracked[LOOKUPS_MAX] as ProviderReference) // as its length says
    }
    await Promise.all(
      untracked
        .slice(0, LOOKUPS_MAX)
        .map((reference) => this.#assertRecorded(owner, reference, acceptsUnknown)),
    )
  }

  async #assertRecorded(
    owner: string,
    reference: ProviderReference,
    acceptsUnknown: boolean,
  ): Promise<void> {
    const lookup = await this.#circuitBreaker.run(REFERENCE_LOOKUP_TIMEOUT_MS, () =>
      this.#getRecorded(owner, reference.id),
    )
    if (lookup.kind === 'failed') {
      if (acceptsUnknown) return
      throw new AppError(
        'unavailable',
        `The owner of \`${reference.field}\` could not be determined. Retry.`,
        { field: reference.field },
        lookup.error,
      )
    }
    if (lookup.result === 'own' || (lookup.result === 'unknown' && acceptsUnknown)) return
    throw createReferenceError(reference)
  }

  #getTracked(owner: string, id: string): ResponseOwner | null {
    const issued = this.#issued.get(id)
    if (issued === undefined) return null
    return issued.owner === owner ? 'own' : 'foreign'
  }

  #getRecorded(owner: string, id: string): Promise<ResponseOwner> {
    return this.#engine.conversations.getResponseOwner({ owner }, id)
  }
}

const PREVIOUS_RESPONSE = 'previous_response_id'

/** In the wording of the APIs, which do not say either whether an id exists elsewhere. */
function createReferenceError({ id, field }: ProviderReference): AppError {
  return field === PREVIOUS_RESPONSE
    ? new AppError('invalid_input', `Previous response with id '${id}' not found.`, {
        field,
        previous: id,
      })
    : new AppError('invalid_input', `\`${field}\`: '${id}' not found.`, { field })
}

function createPrefixListener(headers: HeaderPairs, onId: (id: string) => void): ResponseListener {
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
      onId(id)
    },
    end: async () => {},
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
