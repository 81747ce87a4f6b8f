/** The lexical index over documents: postings, lengths, word statistics, and their derivation. */

import type { SearchDocument } from '../../../domain/search-document.ts'
import { listSearchTerms } from '../../../domain/searchable-text.ts'
import { computeFingerprint } from '../../../text/fingerprint.ts'
import { toStorable } from '../../../text/storable-text.ts'
import { hashOwner, hashUser, type SqlIdentifiers } from '../schema/identifiers.ts'

/** The terms of one document in the format of postings. */
export type DocumentPostings = {
  readonly id: string
  readonly owner_hash: string
  readonly user_hash: number
  readonly length: number
  readonly frequencies: ReadonlyMap<string, number>
}

/** The document columns that are derived from its text. */
export type DerivedColumns = { readonly fingerprint: string; readonly length: number }

export type IndexedDocument = { readonly columns: DerivedColumns; readonly terms: DocumentPostings }

export function toIndexedDocument(document: SearchDocument): IndexedDocument {
  const terms = termsOf(document)
  return {
    columns: { fingerprint: computeFingerprint(document.content), length: terms.length },
    terms,
  }
}

function termsOf(document: SearchDocument): DocumentPostings {
  const { id, place } = document
  const terms = listSearchTerms(document)
  const frequencies = new Map<string, number>()
  for (const term of terms) frequencies.set(term, (frequencies.get(term) ?? 0) + 1)
  return {
    id: toStorable(id),
    owner_hash: hashOwner(place.owner),
    user_hash: hashUser(place.user),
    length: terms.length,
    frequencies,
  }
}

/** Terms hold no white space. */
const TERM_SEPARATOR = '\n'

/** The parameter of `insertPostingsSql`. Lists as text: the server parses them many times faster than JSON objects. */
export function encodePostings(documents: readonly DocumentPostings[]): string {
  return JSON.stringify(
    documents.map(({ frequencies, ...document }) => ({
      ...document,
      terms: [...frequencies.keys()].join(TERM_SEPARATOR),
      frequencies: [...frequencies.values()].join(TERM_SEPARATOR),
    })),
  )
}

/**
 * Inserts the terms of a parameter from `encodePostings` into the postings; `rows` is the source of the document
 * numbers.
 */
export function insertPostingsSql(
  { posting }: SqlIdentifiers,
  parameter: string,
  rows: string,
): string {
  return `INSERT INTO ${posting} (owner_hash, user_hash, memory, length, term, frequency)
    SELECT d.owner_hash, d.user_hash, r.number, d.length, t.term, t.frequency
    FROM json_to_recordset(${parameter}) AS d(
        id text, owner_hash bigint, user_hash integer, length integer, terms text, frequencies text)
      JOIN ${rows} AS r ON r.id = d.id
      CROSS JOIN LATERAL unnest(
        string_to_array(d.terms, E'\\n'), string_to_array(d.frequencies, E'\\n')::integer[]
      ) AS t(term, frequency)`
}
