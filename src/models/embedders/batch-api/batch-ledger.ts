/**
 * Persists the running batches so that another process can collect them: a folder with one file per batch. It holds names
 * and hashes, no text.
 */
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFileAtomic } from '../../../lib/atomic-file.ts'
import { hashParts } from '../../../lib/hash.ts'
import { parseJson } from '../../../lib/json.ts'
import type { Instant } from '../../../lib/time.ts'

export type BatchHandle = {
  readonly source: string
  readonly batchId: string
  /** Hash of account and model. */
  readonly origin: string
  /** Per text: its id within the batch and its cache key. */
  readonly keys: readonly string[]
  /** Deadline after which the batch is abandoned. */
  readonly expiresAt: Instant
  /** Number of expired deadlines. */
  readonly timeouts: number
}

export interface BatchLedger {
  list(): Promise<readonly BatchHandle[]>
  /** Replaces the entry of the same batch. */
  put(handle: BatchHandle): Promise<void>
  remove(handle: BatchHandle): Promise<void>
}

const SUFFIX = '.json'

export function openBatchLedger(folder: string): BatchLedger {
  return {
    list: async () => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const names = (await readdir(folder)).filter((name) => name.endsWith(SUFFIX)).sort()
      const handles = await Promise.all(names.map((name) => readHandle(join(folder, name))))
      return handles.filter((handle) => handle !== null)
    },
    put: async (handle) => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const path = join(folder, nameOf(handle))
      await writeFileAtomic(path, JSON.stringify(handle), { mode: 0o600 })
    },
    remove: (handle) => rm(join(folder, nameOf(handle)), { force: true }),
  }
}

function nameOf({ source, batchId: batch }: BatchHandle): string {
  const hash = hashParts(source, batch)
  return `${hash.slice(0, 32)}${SUFFIX}`
}

/** Null for an unreadable entry: its texts are embedded again. */
async function readHandle(path: string): Promise<BatchHandle | null> {
  const text = await readFile(path, 'utf8').catch(() => '')
  const value: unknown = parseJson(text)
  return isHandle(value) ? value : null
}

function isHandle(value: unknown): value is BatchHandle {
  const handle = value as Partial<BatchHandle> | null // every field is validated
  return (
    typeof handle?.source === 'string' &&
    typeof handle.batchId === 'string' &&
    typeof handle.origin === 'string' &&
    typeof handle.expiresAt === 'number' &&
    typeof handle.timeouts === 'number' &&
    Array.isArray(handle.keys) &&
    handle.keys.every((key) => typeof key === 'string')
  )
}
