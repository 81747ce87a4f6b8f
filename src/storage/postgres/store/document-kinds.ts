/**
 * The two kinds of search documents, memories and turns, as rows of one table. The document of a
 * turn has the negative number of its turn, so postings and vectors distinguish the kinds without
 * reading a row, and the cost of a search for memories does not grow with the number of turns.
 * Every index of the table covers one kind. A statement about both reads a union, which PostgreSQL
 * plans per kind.
 */
import type { DocumentKind } from '../../../domain/search-document.ts'
import type { SqlIdentifiers } from '../schema/identifiers.ts'

/** Must equal the conditions of the partial indexes literally; the planner uses them only then. */
export const ROW_CONDITION_BY_KIND: Readonly<Record<DocumentKind, string>> = {
  memory: `type <> 'turn'`,
  turn: `type = 'turn'`,
}

/** The same for the numbers in postings and vectors. */
export const NUMBER_CONDITION_BY_KIND: Readonly<Record<DocumentKind, string>> = {
  memory: 'memory > 0',
  turn: 'memory < 0',
}

/** Below any document number, to start an ordered scan. */
export const DOCUMENT_NUMBER_MIN = Number.MIN_SAFE_INTEGER

/**
 * The first rows of several statements, one per kind, in a common order. Each statement repeats
 * order and limit: PostgreSQL scans a partial index in order only when the statement for its kind
 * requests that order.
 */
export function unionKinds(
  kinds: readonly DocumentKind[],
  tail: string,
  statement: (kind: DocumentKind) => string,
): string {
  const parts = kinds.map((kind) => `(${statement(kind)} ${tail})`)
  return parts.length === 1 ? parts.join('') : `${parts.join(' UNION ALL ')} ${tail}`
}

/** The rows of these kinds as a source, for statements about few of them. */
export function toKindSource({ memory }: SqlIdentifiers, kinds: readonly DocumentKind[]): string {
  const parts = kinds.map((kind) => `SELECT * FROM ${memory} WHERE ${ROW_CONDITION_BY_KIND[kind]}`)
  return parts.length === 1 ? memory : `(${parts.join(' UNION ALL ')})`
}
