/**
 * Memories in a LanceDB table as assistants with a LanceDB plugin keep them: the same rows, the same scores, so that a
 * folder of theirs can be opened as it is.
 *
 * A score is 1 / (1 + d), where d is the distance that LanceDB gives: the square of the Euclidean one. Thresholds
 * that people have set for such plugins are meant for it.
 */
import { AppError } from '../../domain/errors.ts'
import { fromStorable, toStorable } from '../../text/storable-text.ts'
import { refuseUnfit } from '../vector-index.ts'
import { type ArrowSchema, arrowTable, numberField, textField, vectorField } from './arrow-table.ts'
import {
  type LanceConnection,
  type LanceDatabase,
  type LanceRow,
  type LanceTable,
  type LoadLance,
  openDatabase,
  toMirrorError,
} from './lancedb-driver.ts'
import { quoted } from './point-rows.ts'

export const PLUGIN_CATEGORIES = ['preference', 'fact', 'decision', 'entity', 'other'] as const

export type PluginCategory = (typeof PLUGIN_CATEGORIES)[number]

export type PluginEntry = {
  /** A UUID. */
  readonly id: string
  readonly text: string
  /** From 0 to 1. */
  readonly importance: number
  readonly category: PluginCategory
  /** Milliseconds since the epoch. */
  readonly createdAt: number
}

export type PluginDraft = {
  readonly text: string
  readonly vector: Float32Array
  readonly importance?: number
  readonly category?: PluginCategory
}

export type PluginHit = { readonly entry: PluginEntry; readonly score: number }

export type PluginOptions = {
  readonly folder: string
  readonly dimensions: number
  now(): number
  newId(): string
  readonly load?: LoadLance
}

const TABLE = 'memories'
const DEFAULTS = { importance: 0.7, category: 'other', limit: 5, minScore: 0.1 } as const
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const ENTRY_COLUMNS = ['id', 'text', 'importance', 'category', 'createdAt'] as const

export class LancePlugin {
  readonly #options: PluginOptions
  readonly #database: LanceDatabase
  readonly #table: LanceTable

  private constructor(options: PluginOptions, database: LanceDatabase, table: LanceTable) {
    this.#options = options
    this.#database = database
    this.#table = table
  }

  static async open(options: PluginOptions): Promise<LancePlugin> {
    refuseUnfit(options.dimensions, new Float32Array(options.dimensions))
    const database = await openDatabase(options.folder, options.load)
    return attempt(async () => {
      const table = await openTable(database.connection, options.dimensions)
      const { fields } = await table.schema()
      const size = fields.find(({ name }) => name === 'vector')?.type.listSize
      if (size !== options.dimensions) {
        throw new AppError(
          'invalid_input',
          `The memories in this folder have vectors of ${size ?? 'no fixed number of'} dimensions, not ${options.dimensions}.`,
          { dimensions: options.dimensions },
        )
      }
      return new LancePlugin(options, database, table)
    })
  }

  async store(draft: PluginDraft): Promise<PluginEntry> {
    const { now, newId, dimensions } = this.#options
    refuseUnfit(dimensions, draft.vector)
    const entry = {
      id: requireUuid(newId()),
      text: draft.text,
      importance: draft.importance ?? DEFAULTS.importance,
      category: draft.category ?? DEFAULTS.category,
      createdAt: now(),
    }
    const { id, text, importance, category, createdAt } = entry
    const values = [id, toStorable(text), draft.vector, importance, category, createdAt]
    const columns = values.map((value) => [value])
    await attempt(() => this.#table.add(arrowTable(schemaOf(dimensions), columns)))
    return entry
  }

  /** Closest first, without those below the score. */
  async search(
    vector: Float32Array,
    limit: number = DEFAULTS.limit,
    minScore: number = DEFAULTS.minScore,
  ): Promise<readonly PluginHit[]> {
    refuseUnfit(this.#options.dimensions, vector)
    if (limit < 1) return []
    const query = this.#table.query().nearestTo(vector).distanceType('l2').limit(limit)
    const rows = await attempt(() => query.select([...ENTRY_COLUMNS, '_distance']).toArray())
    return rows
      .map((row) => ({ entry: entryOf(row), score: 1 / (1 + Number(row._distance)) }))
      .filter(({ score }) => score >= minScore)
  }

  /** Whether there was such an entry. */
  async delete(id: string): Promise<boolean> {
    const predicate = `id = ${quoted(requireUuid(id))}`
    const { numDeletedRows } = await attempt(() => this.#table.delete(predicate))
    return numDeletedRows > 0
  }

  async count(): Promise<number> {
    return attempt(() => this.#table.countRows())
  }

  close(): void {
    this.#table.close()
    this.#database.connection.close()
  }
}

/** Another program may have made it, with types that are much the same and not equal. */
async function openTable(connection: LanceConnection, dimensions: number): Promise<LanceTable> {
  const isThere = (await connection.tableNames()).includes(TABLE)
  if (isThere) return connection.openTable(TABLE)
  return connection.createEmptyTable(TABLE, schemaOf(dimensions), { existOk: true })
}

function schemaOf(dimensions: number): ArrowSchema {
  return {
    fields: [
      textField('id'),
      textField('text'),
      vectorField('vector', dimensions),
      numberField('importance'),
      textField('category'),
      numberField('createdAt'),
    ],
  }
}

function entryOf(row: LanceRow): PluginEntry {
  const category = PLUGIN_CATEGORIES.find((known) => known === row.category)
  return {
    id: String(row.id),
    text: fromStorable(String(row.text)),
    importance: Number(row.importance),
    category: category ?? DEFAULTS.category,
    createdAt: Number(row.createdAt),
  }
}

function requireUuid(id: string): string {
  if (UUID.test(id)) return id
  throw new AppError('invalid_input', 'The id of a memory here is a UUID.', { field: 'id' })
}

async function attempt<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (thrown) {
    throw toMirrorError(thrown)
  }
}
