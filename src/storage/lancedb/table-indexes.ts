/**
 * The indexes of a table and their search parameters. Owners have a bitmap index, which was twice
 * as fast as a B-tree; ids and expiry have B-trees. Vectors use IVF with RaBitQ quantization, and
 * hits are rescored with the original vectors, so similarities are exact. For 100,000 clustered
 * vectors of 384 dimensions it builds in 12 seconds, takes 7 MB and finds all of the 20 nearest;
 * HNSW found as many, but took ten times as long and 56 MB. The metric is cosine: with inner
 * products, the partitions are so uneven that one hit in twenty is missed.
 */
import type { LanceIndex, LanceIndexFacts, LanceModule, LanceTable } from './lancedb-driver.ts'

export type VectorIndexStats = {
  readonly name: string
  /** The number of rows when it was built. */
  readonly trainedRows: number
  /** The number of partitions to probe. */
  readonly probes: number
}

/** The refine factor: how many times the requested hits are rescored with the original vectors. */
export const REFINE_FACTOR = 10
const PROBES_MIN = 40
const PROBED_SHARE = 1 / 8
/** Beyond this growth, partitions are too large for their number. */
const GROWTH_MAX = 4
/** Bit vectors are stored in whole bytes. */
const DIMENSIONS_STEP = 8

/** The name records the number of rows, since the table has no other place for it. */
const NAME = /^vector_of_(\d+)$/

export function findVectorIndex(indexes: readonly LanceIndexFacts[]): VectorIndexStats | null {
  const known = indexes.flatMap(({ name }) => {
    const rows = Number(NAME.exec(name)?.[1] ?? 0)
    return rows === 0 ? [] : [{ name, trainedRows: rows, probes: probesOf(rows) }]
  })
  return known.sort((a, b) => b.trainedRows - a.trainedRows)[0] ?? null
}

export function isTrainingDue(index: VectorIndexStats | null, rows: number): boolean {
  return index === null || rows >= index.trainedRows * GROWTH_MAX
}

/** Builds the vector index, then removes older ones. Writes may continue meanwhile. */
export async function trainVectorIndex(
  lance: LanceModule,
  table: LanceTable,
  size: { readonly dimensions: number; readonly rows: number },
): Promise<void> {
  const options = { distanceType: 'cosine', numPartitions: partitionsOf(size.rows) } as const
  const config =
    size.dimensions % DIMENSIONS_STEP === 0
      ? lance.Index.ivfRq(options)
      : lance.Index.ivfFlat(options)
  const name = `vector_of_${size.rows}`
  await table.createIndex('vector', { config, name })
  for (const index of await table.listIndices()) {
    if (NAME.test(index.name) && index.name !== name) await table.dropIndex(index.name)
  }
}

/** Creates the standard indexes where they are missing. */
export async function ensureScalarIndexes(lance: LanceModule, table: LanceTable): Promise<void> {
  const wanted: readonly (readonly [string, LanceIndex])[] = [
    ['id', lance.Index.btree()],
    ['owner', lance.Index.bitmap()],
    ['expires_at', lance.Index.btree()],
  ]
  const indexed = new Set((await table.listIndices()).flatMap(({ columns }) => columns))
  for (const [column, config] of wanted) {
    if (!indexed.has(column)) await table.createIndex(column, { config })
  }
}

function partitionsOf(rows: number): number {
  return Math.max(1, Math.round(Math.sqrt(rows)))
}

function probesOf(rows: number): number {
  return Math.max(PROBES_MIN, Math.ceil(partitionsOf(rows) * PROBED_SHARE))
}
