/** Compares vectors with their documents and removes stale ones, which can be recomputed. */
import { hashEmbeddingText } from '../../../domain/embedding-text.ts'
import type { IntegrityProblem } from '../../store.ts'
import type { VectorIndex } from '../../vector-index.ts'
import type { QueryFunction } from '../connection/postgres-driver.ts'
import { hashOwner, hashUser, toLockingBegin, toOwnerLock } from '../schema/identifiers.ts'
import { DOCUMENT_NUMBER_MIN } from '../store/document-kinds.ts'
import { decodeText, type PlaceColumns, parseProvenance, readPlace } from '../store/row-codec.ts'
import type { VectorStorage } from '../vectors/vector-spaces.ts'

const PAGE_ROWS = 1_000

type VectorCheck = PlaceColumns & {
  readonly memory: number
  readonly space: number
  readonly owner_hash: string
  readonly user_hash: number
  readonly text_hash: string
  readonly content: string
  readonly provenance: string
  /** Null for an unknown space. */
  readonly expected: number | null
  /** Null for a zero vector. */
  readonly dimensions: number | null
}

export async function checkVectorIntegrity(
  tables: VectorStorage,
  vectors: VectorIndex,
  repair: boolean,
): Promise<readonly IntegrityProblem[]> {
  const { query } = tables.runnerFor('everyone')
  let wrong = 0
  for await (const page of checkedPages(query, tables)) {
    const misfits = page.filter((row) => !isValidVector(row))
    wrong += misfits.length
    if (repair) await removeInvalidVectors(tables, misfits)
  }
  const [row] = await query<{ count: number }>(
    `SELECT count(*) FROM ${tables.names.embedding_space} WHERE signature IS NULL`,
  )
  const dropped = row?.count ?? 0
  // Dropping an unused space finishes interrupted drops.
  if (repair && dropped > 0) await vectors.drop({ signature: '', dimensions: 1 })
  return [
    { description: 'vectors do not match their memories', count: wrong },
    { description: 'vector spaces were not dropped completely', count: dropped },
  ]
    .filter(({ count }) => count > 0)
    .map((fault) => ({ ...fault, repairable: true }))
}

async function* checkedPages(
  query: QueryFunction,
  { names, format: form }: VectorStorage,
): AsyncGenerator<readonly VectorCheck[]> {
  const dimensions =
    form.kind === 'plain'
      ? 'length(e.exact) / 4'
      : `COALESCE(${form.extensionSchema}.vector_dims(e.exact), ${form.extensionSchema}.vector_dims(e.rounded))`
  let [memory, space] = [DOCUMENT_NUMBER_MIN, 0]
  while (true) {
    const page = await query<VectorCheck>(
      `SELECT e.memory, e.space, e.owner_hash::text AS owner_hash, e.user_hash, e.text_hash,
         m.owner_id, m.user_id, m.session_id, m.content, m.provenance,
         s.dimensions AS expected, ${dimensions} AS dimensions
       FROM ${names.embedding} AS e JOIN ${names.memory} AS m ON m.number = e.memory
       LEFT JOIN ${names.embedding_space} AS s ON s.number = e.space
       WHERE (e.memory, e.space) > ($1, $2) AND (s.number IS NULL OR s.signature IS NOT NULL)
       ORDER BY e.memory, e.space LIMIT ${PAGE_ROWS}`,
      [memory, space],
    )
    yield page
    const last = page.at(-1)
    if (last === undefined) return
    memory = last.memory
    space = last.space
  }
}

function isValidVector(row: VectorCheck): boolean {
  const { owner, user } = readPlace(row)
  const text = { content: decodeText(row.content), provenance: parseProvenance(row.provenance) }
  return (
    row.expected !== null &&
    (row.dimensions === null || row.dimensions === row.expected) &&
    row.owner_hash === hashOwner(owner) &&
    row.user_hash === hashUser(user) &&
    row.text_hash === hashEmbeddingText(text)
  )
}

/** Under the owner lock, so that nobody writes the correct vector concurrently. */
async function removeInvalidVectors(
  tables: VectorStorage,
  misfits: readonly VectorCheck[],
): Promise<void> {
  const { names, runnerFor: of } = tables
  for (const row of misfits) {
    const begin = toLockingBegin([toOwnerLock(names, decodeText(row.owner_id))])
    await of('everyone').transaction(begin, (query) =>
      query(`DELETE FROM ${names.embedding} WHERE memory = $1 AND space = $2 AND text_hash = $3`, [
        row.memory,
        row.space,
        row.text_hash,
      ]),
    )
  }
}
