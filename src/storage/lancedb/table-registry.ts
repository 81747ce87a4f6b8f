/** The tables of a folder, each opened once. */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { NEVER_ABORTED } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { getSystemErrorCode } from '../../lib/system-error.ts'
import type { VectorSpace } from '../vector-index.ts'
import type { LanceDatabase, LanceTable } from './lancedb-driver.ts'
import { createPointSchema, toTableName } from './point-rows.ts'
import { openSpaceTable, type SpaceTable } from './space-table.ts'
import type { TableMaintenanceOptions } from './table-maintenance.ts'

export type TableRegistry = {
  /** Null when the table does not exist. */
  find(space: VectorSpace): Promise<SpaceTable | null>
  /** Creates a missing table, also when it has disappeared since it was opened. */
  makeSure(space: VectorSpace): Promise<SpaceTable>
  drop(space: VectorSpace): Promise<void>
  /** The last maintenance failure. */
  troubles(): readonly string[]
  close(): Promise<void>
}

const ATTEMPTS_MAX = 6
const PAUSE_MS = 50

export function createTableRegistry(
  { lance, connection, folder }: LanceDatabase,
  options: TableMaintenanceOptions & { readonly clock: Clock },
): TableRegistry {
  const opened = new Map<string, SpaceTable>()
  const opening = new Map<string, Promise<SpaceTable | null>>()

  /** Concurrent callers share the work. */
  function once(name: string, work: () => Promise<SpaceTable | null>) {
    const shared = opening.get(name) ?? work().finally(() => opening.delete(name))
    opening.set(name, shared)
    return shared
  }

  async function open(name: string, table: LanceTable): Promise<SpaceTable> {
    const dimensions = await dimensionsOf(table)
    const space = await openSpaceTable(lance, table, { ...options, dimensions })
    opened.set(name, space)
    return space
  }

  async function forget(name: string): Promise<void> {
    const space = opened.get(name)
    opened.delete(name)
    await space?.close()
  }

  async function find(space: VectorSpace): Promise<SpaceTable | null> {
    const name = toTableName(space)
    const openExisting = async () =>
      (await isThere(folder, name)) ? open(name, await connection.openTable(name)) : null
    return opened.get(name) ?? once(name, openExisting)
  }

  async function create(name: string, dimensions: number): Promise<LanceTable> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await connection.createEmptyTable(name, createPointSchema(dimensions), {
          existOk: true,
        })
      } catch (thrown) {
        if (attempt === ATTEMPTS_MAX) throw thrown
        // Another process may be creating it.
        await options.clock.sleep(PAUSE_MS * attempt, NEVER_ABORTED)
        const isLastAttempt = attempt === ATTEMPTS_MAX - 1
        if (isLastAttempt && !(await isThere(folder, name))) await removeFiles(folder, name)
      }
    }
  }

  async function makeSure(space: VectorSpace): Promise<SpaceTable> {
    const name = toTableName(space)
    for (;;) {
      const found = await find(space)
      if (found !== null && (await isThere(folder, name))) return found
      const made = await once(name, async () => {
        await forget(name)
        return open(name, await create(name, space.dimensions))
      })
      // The pending call may have been a mere lookup that found none.
      if (made !== null) return made
    }
  }

  return {
    find,
    makeSure,
    async drop(space) {
      const name = toTableName(space)
      await opening.get(name)?.catch(() => {})
      await forget(name)
      await removeFiles(folder, name)
    },
    troubles: () => [...opened.values()].flatMap((space) => space.trouble() ?? []),
    async close() {
      await Promise.allSettled(opening.values())
      await Promise.all([...opened.keys()].map(forget))
    },
  }
}

/**
 * A table exists from its first version on. What a killed process leaves behind before that is not
 * a table.
 */
async function isThere(folder: string, name: string): Promise<boolean> {
  try {
    return (await readdir(join(folder, `${name}.lance`, '_versions'))).length > 0
  } catch (thrown) {
    if (getSystemErrorCode(thrown) === 'ENOENT') return false
    throw thrown
  }
}

/** Removed directly, because LanceDB refuses to drop what is not a table. */
async function removeFiles(folder: string, name: string): Promise<void> {
  await rm(join(folder, `${name}.lance`), { recursive: true, force: true })
}

async function dimensionsOf(table: LanceTable): Promise<number> {
  const { fields } = await table.schema()
  const size = fields.find(({ name }) => name === 'vector')?.type.listSize
  if (size !== undefined) return size
  throw new AppError('invalid_input', 'This LanceDB table was not created by Recollect.')
}
