/** Collects the changes of a commit to the corpus statistics of each token, and writes them once at its end. */

import type { DocumentKind } from '../../../domain/search-document.ts'
import type { SqliteDatabase } from '../connection/sqlite-database.ts'
import { STORE_TOKEN, type StoredPlace } from './row-codec.ts'

type CorpusSum = { documents: number; terms: number }

export class CorpusDelta {
  readonly #sums = new Map<string, CorpusSum>()

  add(kind: DocumentKind, { tokens }: StoredPlace, documents: number, terms: number): void {
    for (const token of [STORE_TOKEN[kind], ...tokens[kind]]) {
      const known = this.#sums.get(token)
      if (known === undefined) this.#sums.set(token, { documents, terms })
      else {
        known.documents += documents
        known.terms += terms
      }
    }
  }

  write(database: SqliteDatabase): void {
    for (const [token, { documents, terms }] of this.#sums) {
      database.run(
        `INSERT INTO corpus (token, memories, terms) VALUES (?1, ?2, ?3)
         ON CONFLICT DO UPDATE SET memories = memories + ?2, terms = terms + ?3`,
        [token, documents, terms],
      )
    }
  }
}
