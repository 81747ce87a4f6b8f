/**
 * Idempotency keys: a client that retries a request receives the first response, and the work runs once. The key is
 * claimed before the work starts, so that two simultaneous requests cannot both run it.
 */
import { COMMIT_CHANGES_MAX } from '../domain/limits.ts'
import { AppError } from '../lib/errors.ts'
import { sha256 } from '../lib/hash.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Instant } from '../lib/time.ts'
import {
  buildEntryChange,
  buildEntryRemoval,
  getSystemEntry,
  listEntries,
  removeExpiredEntries,
} from '../storage/access/system-entries.ts'
import type { StoreDependencies } from '../storage/access/types.ts'

export interface IdempotencyKeys {
  /**
   * Runs the work once per key and returns its answer again to later callers. `request` is compared: another request
   * under the same key fails with `conflict`. A failure is not remembered.
   *
   * @example
   * const { answer, isRepeated } = await engine.admin.idempotency.runOnce(
   *   'ada:8c1f',
   *   'POST /api/memory',
   *   async () => ({ id: 'mem_01jf8t3z9k' }),
   * )
   */
  runOnce(
    name: string,
    request: string,
    work: () => Promise<JsonObject>,
  ): Promise<{ readonly answer: JsonObject; readonly isRepeated: boolean }>
  /**
   * Removes all answers. They quote memories, so erasing memories calls this.
   *
   * @example
   * await engine.admin.idempotency.clear()
   */
  clear(): Promise<void>
}

const RESPONSE_TTL_MS = 24 * 3_600_000

/** A claim of a process that died expires after this time. */
const CLAIM_TTL_MS = 10 * 60_000
const CLEAN_EVERY = 100
const IN_PROGRESS = 'A request with the same idempotency key is still running. Retry shortly.'

export function createIdempotencyKeys(ports: StoreDependencies): IdempotencyKeys {
  const { store, clock } = ports
  let calls = 0
  return {
    runOnce: async (name, request, work) => {
      calls++
      if (calls % CLEAN_EVERY === 0) await removeExpiredEntries(ports, ['answer'])
      const id = `ans_${sha256(name)}`
      const asks = sha256(request)
      const known = await getSystemEntry(ports, id)
      const now = clock.now()
      if (known !== null && known.expiresAt !== null && known.expiresAt > now) {
        if (known.body.asks !== asks) {
          throw new AppError(
            'conflict',
            'The idempotency key was used for a different request. Use a new key for each request.',
          )
        }
        const { answer } = known.body
        if (answer == null) throw new AppError('conflict', IN_PROGRESS)
        return { answer: answer as JsonObject, isRepeated: true } // written below
      }
      const claim = buildEntryChange(
        buildEntry(id, now, CLAIM_TTL_MS, { asks, answer: null }),
        known,
      )
      const outcome = await store.commit([claim.change])
      if (outcome.kind === 'conflict') throw new AppError('conflict', IN_PROGRESS)
      const answer = await work().catch(async (error: unknown) => {
        // The version protects a claim made by another process since; a claim that stays expires.
        const { version } = claim.entry
        await store.commit([buildEntryRemoval(claim.entry, { version })]).catch(() => {})
        throw error
      })
      // The work succeeded, so a response that cannot be stored must not fail the request.
      const stored = buildEntryChange(
        buildEntry(id, now, RESPONSE_TTL_MS, { asks, answer }),
        claim.entry,
      )
      await store.commit([stored.change]).catch(() => {})
      return { answer, isRepeated: false }
    },
    clear: async () => {
      const entries = await listEntries(ports, { kinds: ['answer'] })
      for (let start = 0; start < entries.length; start += COMMIT_CHANGES_MAX) {
        const batch = entries.slice(start, start + COMMIT_CHANGES_MAX)
        await store.commit(batch.map((entry) => buildEntryRemoval(entry)))
      }
    },
  }
}

function buildEntry(id: string, at: Instant, ttlMs: number, body: JsonObject) {
  return { id, kind: 'answer' as const, at, expiresAt: (at + ttlMs) as Instant, body }
}
