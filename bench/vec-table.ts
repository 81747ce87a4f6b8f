/** A table of floats in sqlite-vec, in its plainest use. */
import { createRequire } from 'node:module'
import { DatabaseSync } from '@photostructure/sqlite'

export type VecTable = {
  /** Numbers of the nearest vectors, which are counted from zero in the order they came in. */
  nearest(vector: Float32Array, limit: number): readonly number[]
  close(): void
}

/** Throws where the optional package is not installed. */
export function createVecTable(
  path: string,
  dimensions: number,
  vectors: Iterable<Float32Array>,
): VecTable {
  const { getLoadablePath } = createRequire(import.meta.url)('sqlite-vec') as {
    getLoadablePath(): string
  }
  const database = new DatabaseSync(path, { allowExtension: true })
  database.enableLoadExtension(true)
  database.loadExtension(getLoadablePath())
  database.exec(`CREATE VIRTUAL TABLE item USING vec0(
    numbers FLOAT[${dimensions}] distance_metric=cosine)`)
  const insert = database.prepare('INSERT INTO item (rowid, numbers) VALUES (?, ?)')
  database.exec('BEGIN')
  let inserted = 0
  // Row numbers begin at one.
  for (const vector of vectors) insert.run(BigInt(++inserted), bytesOf(vector))
  database.exec('COMMIT')
  const search = database.prepare('SELECT rowid FROM item WHERE numbers MATCH ? AND k = ?')
  return {
    nearest: (vector, limit) =>
      search.all(bytesOf(vector), limit).map((row) => Number(Object.values(row as object)[0]) - 1),
    close: () => database.close(),
  }
}

function bytesOf(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)
}
