/** What is searched by its words, and what is derived from it for that: postings, lengths and word statistics. */
import { fingerprint } from '../../core/fingerprint.ts'
import type { Place } from '../../core/ids.ts'
import type { Memory } from '../../core/memory.ts'
import { searchableTerms, spokenTerms } from '../../core/searchable.ts'
import { toStorable } from '../../core/storable-text.ts'
import type { Turn } from '../../core/transcript.ts'
import { type Names, ownerHash, userHash } from './names.ts'
import { type MemoryColumns, SHAPES, type TurnColumns } from './rows.ts'

/** The terms of one row, as they go into postings. */
export type Document = {
  readonly id: string
  readonly owner_hash: string
  readonly user_hash: number
  readonly length: number
  readonly terms: Readonly<Record<string, number>>
}

export type IndexedTable = 'memory' | 'turn'
type Columns = { readonly memory: MemoryColumns; readonly turn: TurnColumns }

export type TextIndex<T extends IndexedTable = IndexedTable> = {
  readonly table: T
  /** Names, ready to stand in statements: of the rows, their postings and their statistics. */
  readonly rows: string
  readonly posting: string
  readonly corpus: string
  /** The column of the statistics that counts rows. */
  readonly documents: 'memories' | 'turns'
  /** The columns of a row that are made of others, with their types. */
  readonly derivedColumns: Readonly<Record<string, string>>
  /** Rows that are looked at together: a turn may be very long. */
  readonly pageRows: number
  derive(columns: Columns[T]): Derived
}

export type Derived = {
  readonly place: Place
  readonly document: Document
  readonly columns: Readonly<Record<string, string | number>>
}

export function memoryIndex(names: Names): TextIndex<'memory'> {
  return {
    table: 'memory',
    rows: names.memory,
    posting: names.posting,
    corpus: names.corpus,
    documents: 'memories',
    derivedColumns: { fingerprint: 'text', length: 'integer' },
    pageRows: 500,
    derive: (columns) => derivedOfMemory(SHAPES.memory.fromColumns(columns)),
  }
}

export function turnIndex(names: Names): TextIndex<'turn'> {
  return {
    table: 'turn',
    rows: names.turn,
    posting: names.turn_posting,
    corpus: names.turn_corpus,
    documents: 'turns',
    derivedColumns: { length: 'integer' },
    pageRows: 100,
    derive: (columns) => derivedOfTurn(SHAPES.turn.fromColumns(columns)),
  }
}

export function derivedOfMemory(memory: Memory): Derived {
  const document = documentOf(memory, searchableTerms(memory))
  const columns = { fingerprint: fingerprint(memory.content), length: document.length }
  return { place: memory.place, document, columns }
}

export function derivedOfTurn(turn: Turn): Derived {
  const document = documentOf(turn, spokenTerms(turn))
  return { place: turn.place, document, columns: { length: document.length } }
}

function documentOf({ id, place }: Memory | Turn, terms: readonly string[]): Document {
  const frequencies = new Map<string, number>()
  for (const term of terms) frequencies.set(term, (frequencies.get(term) ?? 0) + 1)
  return {
    id: toStorable(id),
    owner_hash: ownerHash(place.owner),
    user_hash: userHash(place.user),
    length: terms.length,
    terms: Object.fromEntries(frequencies),
  }
}

/** Posts the documents of a JSON parameter; `rows` is where their numbers are found. */
export function postingsOf({ posting, table }: TextIndex, parameter: string, rows: string): string {
  return `INSERT INTO ${posting} (owner_hash, user_hash, ${table}, length, term, frequency)
    SELECT d.owner_hash, d.user_hash, r.number, d.length, t.key, t.value::integer
    FROM json_to_recordset(${parameter})
        AS d(id text, owner_hash bigint, user_hash integer, length integer, terms json)
      JOIN ${rows} AS r ON r.id = d.id
      CROSS JOIN json_each_text(d.terms) AS t`
}
