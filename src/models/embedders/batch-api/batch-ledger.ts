/**
 * Which batches are under way, so that another process can ask for them: a folder with one file for each. It holds names and
 * hashes, no text.
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
  /** Whose vectors of which model, as a hash. */
  readonly origin: string
  /** Of each text, both what it is called in the batch and where its vector goes in the cache. */
  readonly keys: readonly string[]
  /** When it is waited for no longer. */
  readonly expiresAt: Instant
  /** How often it was not done by then. */
  readonly timeouts: number
}

export interface BatchLedger {
  list(): Promise<readonly BatchHandle[]>
  /** In place of the one for the same batch. */
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

/** Null for what can't be read: its texts are embedded anew. */
async function readHandle(path: string): Promise<BatchHandle | null> {
  const text = await readFile(path, 'utf8').catch(() => '')
  const value: unknown = parseJson(text)
  return isHandle(value) ? value : null
}

function isHandle(value: unknown): value is BatchHandle {
  const handle = value as Partial<BatchHandle> | null // every field is looked at
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
