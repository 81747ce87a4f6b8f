/** What a commit adds to the counts under each token, of memories and of turns, written once at its end. */
import type { Home } from './rows.ts'
import type { SqliteSession } from './session.ts'
import { EVERYONE_TOKEN, type TextIndex } from './text-search.ts'

type Sum = { documents: number; terms: number }

export class Growth {
  readonly #sums = new Map<TextIndex, Map<string, Sum>>()

  add(index: TextIndex, { tokens }: Home, documents: number, terms: number): void {
    const sums = this.#sums.get(index) ?? new Map<string, Sum>()
    this.#sums.set(index, sums)
    for (const token of [EVERYONE_TOKEN, ...tokens]) {
      const known = sums.get(token)
      if (known === undefined) sums.set(token, { documents, terms })
      else {
        known.documents += documents
        known.terms += terms
      }
    }
  }

  write(session: SqliteSession): void {
    for (const [{ corpus, documents: column }, sums] of this.#sums) {
      for (const [token, { documents, terms }] of sums) {
        session.run(
          `INSERT INTO ${corpus} (token, ${column}, terms) VALUES (?1, ?2, ?3)
           ON CONFLICT DO UPDATE SET ${column} = ${column} + ?2, terms = terms + ?3`,
          [token, documents, terms],
        )
      }
    }
  }
}
