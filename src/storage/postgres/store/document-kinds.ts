/**
 * The two kinds of search documents: memories, and turns in the same form, as rows of one table.
 *
 * The document of a turn carries the negative number of its turn, so postings and vectors tell the two kinds apart
 * without reading a row, and a search for memories costs what there is of memories, however many turns stand beside them.
 * Every index of the table holds one kind. A statement about both reads them as a union, which PostgreSQL plans kind
 * by kind.
 */
import type { DocumentKind } from '../../../domain/search-document.ts'
import type { SqlIdentifiers } from '../schema/identifiers.ts'

/** Word for word the conditions of the indexes, which PostgreSQL uses only then. */
export const ROW_CONDITION_BY_KIND: Readonly<Record<DocumentKind, string>> = {
  memory: `type <> 'turn'`,
  turn: `type = 'turn'`,
}

/** The same for the numbers that postings and vectors refer to. */
export const NUMBER_CONDITION_BY_KIND: Readonly<Record<DocumentKind, string>> = {
  memory: 'memory > 0',
  turn: 'memory < 0',
}

/** Less than any number of a document, to start a walk in their order. */
export const DOCUMENT_NUMBER_MIN = Number.MIN_SAFE_INTEGER

/**
 * The first rows of several statements, one for each kind, in one order. The order and the limit stand in each of them as
 * well: PostgreSQL walks along the index of a kind only where it is asked for the order of that kind.
 */
export function unionKinds(
  kinds: readonly DocumentKind[],
  tail: string,
  statement: (kind: DocumentKind) => string,
): string {
  const parts = kinds.map((kind) => `(${statement(kind)} ${tail})`)
  return parts.length === 1 ? parts.join('') : `${parts.join(' UNION ALL ')} ${tail}`
}

/** The rows of these kinds, as a source of a statement about few of them. */
export function toKindSource({ memory }: SqlIdentifiers, kinds: readonly DocumentKind[]): string {
  const parts = kinds.map((kind) => `SELECT * FROM ${memory} WHERE ${ROW_CONDITION_BY_KIND[kind]}`)
  return parts.length === 1 ? memory : `(${parts.join(' UNION ALL ')})`
}
