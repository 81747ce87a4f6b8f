/**
 * The only file that imports `@lancedb/lancedb`: the types used here, loading, and error
 * translation. The package is loaded when a replica is opened, so other configurations do not need
 * it.
 */
import { mkdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import { AppError } from '../../lib/errors.ts'
import type { ArrowSchema, ArrowTable } from './arrow-table.ts'

export type LanceModule = {
  connect(
    folder: string,
    options: { readonly readConsistencyInterval: number },
  ): Promise<LanceConnection>
  readonly Index: {
    btree(): LanceIndex
    bitmap(): LanceIndex
    ivfRq(options: IvfOptions): LanceIndex
    ivfFlat(options: IvfOptions): LanceIndex
  }
}
export type LanceIndex = object
export type IvfOptions = { readonly distanceType: 'cosine'; readonly numPartitions: number }

export type LanceConnection = {
  tableNames(): Promise<readonly string[]>
  openTable(name: string): Promise<LanceTable>
  createEmptyTable(
    name: string,
    schema: ArrowSchema,
    options: { readonly existOk: boolean },
  ): Promise<LanceTable>
  close(): void
}

export type LanceTable = {
  schema(): Promise<{ readonly fields: readonly LanceField[] }>
  countRows(predicate?: string): Promise<number>
  add(rows: ArrowTable): Promise<unknown>
  delete(predicate: string): Promise<{ readonly numDeletedRows: number }>
  mergeInsert(column: string): LanceMerge
  query(): LanceQuery
  listIndices(): Promise<readonly LanceIndexFacts[]>
  createIndex(
    column: string,
    options: { readonly config: LanceIndex; readonly name?: string },
  ): Promise<void>
  dropIndex(name: string): Promise<void>
  optimize(options: { readonly cleanupOlderThan: Date }): Promise<{
    readonly compaction: { readonly fragmentsRemoved: number }
  }>
  stats(): Promise<{
    readonly numRows: number
    readonly fragmentStats: { readonly numFragments: number }
  }>
  listVersions(): Promise<readonly object[]>
  close(): void
}
export type LanceField = {
  readonly name: string
  readonly type: { readonly listSize?: number }
}
export type LanceIndexFacts = { readonly name: string; readonly columns: readonly string[] }

type LanceMerge = {
  whenMatchedUpdateAll(): LanceMerge
  whenNotMatchedInsertAll(): LanceMerge
  useIndex(isUsed: boolean): LanceMerge
  execute(rows: ArrowTable): Promise<unknown>
}

export type LanceRow = Readonly<Record<string, unknown>>
export type LanceQuery = {
  where(predicate: string): LanceQuery
  select(columns: readonly string[]): LanceQuery
  orderBy(order: { readonly columnName: string; readonly ascending: boolean }): LanceQuery
  limit(limit: number): LanceQuery
  nearestTo(vector: Float32Array): LanceVectorQuery
  toArray(): Promise<readonly LanceRow[]>
}
export type LanceVectorQuery = Pick<LanceQuery, 'toArray'> & {
  where(predicate: string): LanceVectorQuery
  select(columns: readonly string[]): LanceVectorQuery
  limit(limit: number): LanceVectorQuery
  distanceType(kind: 'cosine' | 'dot' | 'l2'): LanceVectorQuery
  bypassVectorIndex(): LanceVectorQuery
  nprobes(partitions: number): LanceVectorQuery
  refineFactor(factor: number): LanceVectorQuery
}

/** Loads the package; for programs that install it elsewhere. */
export type LoadLanceModule = () => Promise<unknown>

const PACKAGE = '@lancedb/lancedb'

export type LanceDatabase = {
  readonly lance: LanceModule
  readonly connection: LanceConnection
  readonly folder: string
}

export async function openLanceDatabase(
  folder: string,
  load?: LoadLanceModule,
): Promise<LanceDatabase> {
  const lance = await loadPackage(load)
  // LanceDB would take a path that begins like an address of its cloud for one.
  const absolute = resolve(folder)
  try {
    await mkdir(absolute, { recursive: true })
    // Every read checks for commits of other processes, which takes less than a millisecond.
    const connection = await lance.connect(absolute, { readConsistencyInterval: 0 })
    return { lance, connection, folder: absolute }
  } catch (thrown) {
    throw toReplicaError(thrown)
  }
}

async function loadPackage(load: LoadLanceModule = () => import(PACKAGE)): Promise<LanceModule> {
  let loaded: unknown
  try {
    loaded = await load()
  } catch (thrown) {
    throw missingPart('is not installed', thrown)
  }
  const lance = [loaded, (loaded as { readonly default?: unknown } | null)?.default].find(isLance) // only inspected
  if (lance === undefined) throw missingPart('has an unsupported version')
  return lance
}

function isLance(value: unknown): value is LanceModule {
  const lance = value as Partial<LanceModule> | null | undefined // only inspected
  return typeof lance?.connect === 'function' && typeof lance.Index?.ivfRq === 'function'
}

function missingPart(what: string, cause?: unknown): AppError {
  return new AppError(
    'missing_part',
    `LanceDB needs the package "${PACKAGE}", which ${what}. Run \`npm install ${PACKAGE}\`, or disable the vector replica.`,
    { package: PACKAGE },
    cause,
  )
}

const GONE = /not found|no such file/i

const MEANINGS: readonly (readonly [RegExp, string])[] = [
  [/no space left|os error 28\b/i, 'The disk of the LanceDB folder is full.'],
  [/permission denied|read-only file system/i, 'The LanceDB folder cannot be written to.'],
  [/conflict|concurrent/i, 'The write conflicted with another process on the same LanceDB table.'],
  [GONE, 'A LanceDB table, or a part of it, no longer exists.'],
]

/**
 * LanceDB's messages quote predicates, and with them owner names, so they are only kept as the
 * cause.
 */
export function toReplicaError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown
  const message = messageOf(thrown)
  const meaning = MEANINGS.find(([pattern]) => pattern.test(message))?.[1]
  return new AppError('unavailable', meaning ?? 'The LanceDB operation failed.', {}, thrown)
}

/** Whether the read failed because data no longer exists. */
export function isMissingTable(thrown: unknown): boolean {
  return GONE.test(messageOf(thrown))
}

/** Whether another commit won. LanceDB retries by itself, but gives up after a while. */
export function isCommitConflict(thrown: unknown): boolean {
  return /conflict|concurrent/i.test(messageOf(thrown))
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
