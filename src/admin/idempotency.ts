/**
 * Remembered answers: a client that sends a request again because it didn't hear the answer gets the same one, and
 * nothing is done twice. The claim comes before the work, so that two equal requests at once don't both do it.
 */

import type { IdempotencyBody } from '../domain/entries/access-entries.ts'
import { COMMIT_CHANGES_MAX } from '../domain/limits.ts'
import { AppError } from '../lib/errors.ts'
import { sha256 } from '../lib/hash.ts'
import type { JsonObject } from '../lib/json.ts'
import { addMs, DAY_MS, type Instant } from '../lib/time.ts'
import {
  buildEntryChange,
  buildEntryRemoval,
  getSystemEntry,
  listEntries,
  removeExpiredEntries,
  SYSTEM_SCOPE,
} from '../storage/access/system-entries.ts'
import type { StoreDependencies } from '../storage/access/types.ts'

export interface IdempotencyKeys {
  /**
   * Does the work once for each name and gives its answer again to later callers. `request` is what was asked: under the
   * same name something else is refused. What fails is not remembered.
   */
  runOnce(
    name: string,
    request: string,
    work: () => Promise<JsonObject>,
  ): Promise<{ readonly answer: JsonObject; readonly isRepeated: boolean }>
  /** Answers quote memories; when some of those are erased, no answer may be left that could hold them. */
  clear(): Promise<void>
}

const KEPT_MS = DAY_MS

/** A claim whose process has died is free again after this time. */
const CLAIM_MS = 10 * 60_000
const CLEAN_EVERY = 100

export function createIdempotencyKeys(ports: StoreDependencies): IdempotencyKeys {
  const { store, clock } = ports
  let asked = 0
  return {
    runOnce: async (name, request, work) => {
      asked++
      if (asked % CLEAN_EVERY === 0) await removeExpiredEntries(ports, ['idempotency'])
      const id = `ans_${sha256(name)}`
      const requestHash = sha256(request)
      const known = await getSystemEntry(ports, 'idempotency', id)
      const now = clock.now()
      if (known !== null && known.expiresAt !== null && known.expiresAt > now) {
        if (known.body.requestHash !== requestHash) {
          throw new AppError(
            'conflict',
            'The idempotency key was used for another request. Take a new one for each request.',
          )
        }
        const { response } = known.body
        if (response === null)
          throw new AppError('conflict', 'The same request is still being done.')
        return { answer: response, isRepeated: true }
      }
      const claim = buildEntryChange(
        buildEntry(id, now, CLAIM_MS, { requestHash, response: null }),
        known,
      )
      const claimed = await store.commit([claim.change])
      if (claimed.kind === 'conflict') {
        throw new AppError('conflict', 'The same request is still being done.')
      }
      const answer = await work().catch(async (error: unknown) => {
        // Only our own claim; and it ends by itself, later.
        const { version } = claim.entry
        await store.commit([buildEntryRemoval(claim.entry, { version })]).catch(() => {})
        throw error
      })
      // The work is done, whether or not its answer can be kept.
      const kept = buildEntryChange(
        buildEntry(id, now, KEPT_MS, { requestHash, response: answer }),
        claim.entry,
      )
      await store.commit([kept.change]).catch(() => {})
      return { answer, isRepeated: false }
    },
    clear: async () => {
      const kept = await listEntries(ports, SYSTEM_SCOPE, 'idempotency')
      for (let start = 0; start < kept.length; start += COMMIT_CHANGES_MAX) {
        await store.commit(
          kept.slice(start, start + COMMIT_CHANGES_MAX).map((entry) => buildEntryRemoval(entry)),
        )
      }
    },
  }
}

function buildEntry(id: string, at: Instant, keptMs: number, body: IdempotencyBody) {
  return { id, kind: 'idempotency' as const, at, expiresAt: addMs(at, keptMs), body }
}
