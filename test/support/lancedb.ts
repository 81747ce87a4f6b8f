/**
 * The package `@lancedb/lancedb` for tests, from a folder of its own: it is installed there when it is missing, once in a
 * run. Where it is not to be had, the reason is told.
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { openLanceDatabase } from '../../src/storage/lancedb/lancedb-driver.ts'
import { toTableName } from '../../src/storage/lancedb/point-rows.ts'
import type { VectorSpace } from '../../src/storage/vector-index.ts'
import { installPart, partFolder } from './part.ts'

export type InstalledLance = {
  readonly kind: 'installed'
  readonly folder: string
  load(): Promise<unknown>
}
export type NoLance = { readonly kind: 'none'; readonly reason: string }

const PACKAGE = '@lancedb/lancedb'
const PART = partFolder('lancedb')

export async function lancePart(): Promise<InstalledLance | NoLance> {
  const missing = await installPart('lancedb', PACKAGE)
  if (missing !== null) return { kind: 'none', reason: missing }
  try {
    await loadFrom(PART)
  } catch (thrown) {
    const [reason = ''] = String(thrown).split('\n')
    return { kind: 'none', reason: `${PACKAGE} does not run here: ${reason}` }
  }
  return { kind: 'installed', folder: PART, load: () => loadFrom(PART) }
}

/** As somebody would who keeps the package elsewhere. */
export async function loadFrom(folder: string): Promise<unknown> {
  return createRequire(join(folder, 'package.json'))(PACKAGE)
}

/** How the table of a space looks on disk, read beside any mirror. */
export async function tableFacts({ load }: InstalledLance, folder: string, space: VectorSpace) {
  const { connection } = await openLanceDatabase(folder, load)
  const table = await connection.openTable(toTableName(space))
  const { fragmentStats } = await table.stats()
  const indexes = await table.listIndices()
  const versions = await table.listVersions()
  table.close()
  connection.close()
  return {
    fragments: fragmentStats.numFragments,
    indexes: indexes.map(({ name }) => name).sort(),
    versions: versions.length,
  }
}
