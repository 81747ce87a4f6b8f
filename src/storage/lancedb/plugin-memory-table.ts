/**
 * Memories in a LanceDB table in the format of assistants with a LanceDB plugin: the same rows and
 * scores, so that such a folder can be opened as it is. A score is 1 / (1 + d), where d is
 * LanceDB's distance, the squared Euclidean one. Thresholds configured for such plugins refer to
 * it.
 */
import { AppError } from '../../lib/errors.ts'
import { fromStorable, toStorable } from '../../text/storable-text.ts'
import { assertVectorFits } from '../vector-index.ts'
import {
  type ArrowSchema,
  createArrowTable,
  createNumberField,
  createTextField,
  createVectorField,
} from './arrow-table.ts'
import {
  type LanceConnection,
  type LanceDatabase,
  type LanceRow,
  type LanceTable,
  type LoadLanceModule,
  openLanceDatabase,
  toReplicaError,
} from './lancedb-driver.ts'
import { quoteString } from './point-rows.ts'

export const PLUGIN_CATEGORIES = ['preference', 'fact', 'decision', 'entity', 'other'] as const

export type PluginCategory = (typeof PLUGIN_CATEGORIES)[number]

export type PluginMemory = {
  /** A UUID. */
  readonly id: string
  readonly text: string
  /** From 0 to 1. */
  readonly importance: number
  readonly category: PluginCategory
  /** Milliseconds since the epoch. */
  readonly createdAt: number
}

export type PluginMemoryDraft = {
  readonly text: string
  readonly vector: Float32Array
  readonly importance?: number
  readonly category?: PluginCategory
}

export type PluginHit = { readonly entry: PluginMemory; readonly score: number }

export type PluginMemoryTableOptions = {
  readonly folder: string
  readonly dimensions: number
  now(): number
  newId(): string
  readonly load?: LoadLanceModule
}

const TABLE = 'memories'
const DEFAULTS = { importance: 0.7, category: 'other', limit: 5, minScore: 0.1 } as const
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const ENTRY_COLUMNS = ['id', 'text', 'importance', 'category', 'createdAt'] as const

export class PluginMemoryTable {
  readonly #options: PluginMemoryTableOptions
  readonly #database: LanceDatabase
  readonly #table: LanceTable

  private constructor(
    options: PluginMemoryTableOptions,
    database: LanceDatabase,
    table: LanceTable,
  ) {
    this.#options = options
    this.#database = database
    this.#table = table
  }

  static async open(options: PluginMemoryTableOptions): Promise<PluginMemoryTable> {
    assertVectorFits(options.dimensions, new Float32Array(options.dimensions))
    const database = await openLanceDatabase(options.folder, options.load)
    return attempt(async () => {
      const table = await openTable(database.connection, options.dimensions)
      const { fields } = await table.schema()
      const size = fields.find(({ name }) => name === 'vector')?.type.listSize
      if (size !== options.dimensions) {
        throw new AppError(
          'invalid_input',
          `The memories in this folder have vectors of ${size ?? 'no fixed number of'} dimensions; expected ${options.dimensions}.`,
          { dimensions: options.dimensions },
        )
      }
      return new PluginMemoryTable(options, database, table)
    })
  }

  async store(draft: PluginMemoryDraft): Promise<PluginMemory> {
    const { now, newId, dimensions } = this.#options
    assertVectorFits(dimensions, draft.vector)
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
    await attempt(() => this.#table.add(createArrowTable(schemaOf(dimensions), columns)))
    return entry
  }

  /** Nearest first, without those below the score threshold. */
  async search(
    vector: Float32Array,
    limit: number = DEFAULTS.limit,
    minScore: number = DEFAULTS.minScore,
  ): Promise<readonly PluginHit[]> {
    assertVectorFits(this.#options.dimensions, vector)
    if (limit < 1) return []
    const query = this.#table.query().nearestTo(vector).distanceType('l2').limit(limit)
    const rows = await attempt(() => query.select([...ENTRY_COLUMNS, '_distance']).toArray())
    return rows
      .map((row) => ({ entry: entryOf(row), score: 1 / (1 + Number(row._distance)) }))
      .filter(({ score }) => score >= minScore)
  }

  /** Whether the entry existed. */
  async delete(id: string): Promise<boolean> {
    const predicate = `id = ${quoteString(requireUuid(id))}`
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

/** All rows of an existing table, without vectors. Newer versions of the plugin also store the agent. */
export async function readPluginRows(
  folder: string,
  load?: LoadLanceModule,
): Promise<readonly LanceRow[]> {
  const { connection } = await openLanceDatabase(folder, load)
  try {
    return await attempt(async () => {
      const table = await connection.openTable(TABLE)
      try {
        const { fields } = await table.schema()
        const columns = fields.map(({ name }) => name).filter((name) => name !== 'vector')
        return await table.query().select(columns).toArray()
      } finally {
        table.close()
      }
    })
  } finally {
    connection.close()
  }
}

/** Another program may have created the table, with equivalent but not equal types. */
async function openTable(connection: LanceConnection, dimensions: number): Promise<LanceTable> {
  const isThere = (await connection.tableNames()).includes(TABLE)
  if (isThere) return connection.openTable(TABLE)
  return connection.createEmptyTable(TABLE, schemaOf(dimensions), { existOk: true })
}

function schemaOf(dimensions: number): ArrowSchema {
  return {
    fields: [
      createTextField('id'),
      createTextField('text'),
      createVectorField('vector', dimensions),
      createNumberField('importance'),
      createTextField('category'),
      createNumberField('createdAt'),
    ],
  }
}

function entryOf(row: LanceRow): PluginMemory {
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
  throw new AppError('invalid_input', 'The id of a memory in this table must be a UUID.', {
    field: 'id',
  })
}

async function attempt<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (thrown) {
    throw toReplicaError(thrown)
  }
}
