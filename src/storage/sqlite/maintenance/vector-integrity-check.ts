/** Compares vectors with their documents, and removes stale ones, which are embedded again. */
import { isByteSpace } from '../../../domain/embedding-text.ts'
import type { SqliteDatabase } from '../connection/sqlite-database.ts'
import type { SqlRow } from '../connection/sqlite-driver.ts'
import { countRecordBytes, readRecordHeader } from '../vectors/vector-record.ts'
import { computeRowTextHash, removeDroppedBatch } from '../vectors/vector-tables.ts'

const PAGE_ROWS = 1_000

export type VectorFault = { readonly what: string; readonly count: number }

export function checkVectorIntegrity(database: SqliteDatabase): readonly VectorFault[] {
  const numberOf = (sql: string) => Number(database.all(sql)[0]?.count)
  return [
    { what: 'vectors are not those of their memories', count: wrongVectors(database).length },
    {
      what: 'numbers of vectors belong to no vector',
      count: numberOf(`SELECT count(*) AS count ${STRAY}`),
    },
    {
      what: 'counts of vectors per owner are off',
      count: numberOf(`SELECT count(*) AS count ${MISCOUNTED}`),
    },
    {
      what: 'spaces of vectors were not dropped to the end',
      count: numberOf('SELECT count(*) AS count FROM vector_space WHERE signature IS NULL'),
    },
  ].filter(({ count }) => count > 0)
}

export function repairVectors(database: SqliteDatabase): void {
  for (const key of wrongVectors(database)) {
    database.run('DELETE FROM vector WHERE space = ? AND owner_number = ? AND sequence = ?', key)
  }
  database.run(`DELETE FROM vector_exact WHERE number IN (SELECT number ${STRAY})`)
  database.run('UPDATE vector_owner SET vectors = 0')
  database.run(
    `INSERT INTO vector_owner (space, owner_number, last_sequence, vectors)
     SELECT space, owner_number, max(sequence), count(*) FROM vector WHERE true
     GROUP BY space, owner_number
     ON CONFLICT DO UPDATE SET vectors = excluded.vectors,
       last_sequence = max(last_sequence, excluded.last_sequence)`,
  )
}

/** Removes the rest of dropped spaces, in one transaction per batch. */
export function removeDroppedSpaces(database: SqliteDatabase): void {
  while (removeDroppedBatch(database));
}

const STRAY = `FROM vector_exact
  WHERE number NOT IN (SELECT exact FROM vector WHERE exact IS NOT NULL)`

const MISCOUNTED = `FROM vector_owner FULL JOIN (
    SELECT space, owner_number, count(*) AS counted, max(sequence) AS last
    FROM vector GROUP BY space, owner_number
  ) USING (space, owner_number)
  WHERE coalesce(vectors, 0) IS NOT coalesce(counted, 0) OR coalesce(last_sequence, 0) < last`

type Key = readonly [space: number, ownerNumber: number, sequence: number]

function wrongVectors(database: SqliteDatabase): readonly Key[] {
  const wrong: Key[] = []
  for (let after: Key = [0, 0, 0]; ; ) {
    const page = database.all(
      `SELECT vector.space, vector.owner_number, vector.sequence, vector.text_hash, vector.record,
         length(vector_exact.numbers) AS exact_bytes, vector_space.number AS known,
         vector_space.signature, vector_space.dimensions, memory.owner_number AS memory_owner,
         memory.place_number, memory.content, memory.provenance
       FROM vector LEFT JOIN memory ON memory.number = vector.memory
       LEFT JOIN vector_space ON vector_space.number = vector.space
       LEFT JOIN vector_exact ON vector_exact.number = vector.exact
       WHERE (vector.space, vector.owner_number, vector.sequence) > (?, ?, ?)
       ORDER BY vector.space, vector.owner_number, vector.sequence LIMIT ${PAGE_ROWS}`,
      after,
    )
    wrong.push(...page.filter((row) => !isRight(row)).map(keyOf))
    const last = page.at(-1)
    if (last === undefined) return wrong
    after = keyOf(last)
  }
}

function keyOf(row: SqlRow): Key {
  return [Number(row.space), Number(row.owner_number), Number(row.sequence)]
}

function isRight(row: SqlRow): boolean {
  if (row.known === null || row.memory_owner !== row.owner_number) return false
  const dimensions = Number(row.dimensions)
  const exactBytes =
    row.signature === null || isByteSpace(String(row.signature)) ? null : dimensions * 4
  const record = row.record instanceof Uint8Array ? row.record : new Uint8Array()
  if (record.length !== countRecordBytes(dimensions)) return false
  const head = readRecordHeader(record)
  return (
    (row.signature === null || row.exact_bytes === exactBytes) &&
    head.sequence === row.sequence &&
    head.place === row.place_number &&
    row.text_hash === computeRowTextHash(row)
  )
}
