import { randomUUID } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openLanceDatabase } from '../../../src/storage/lancedb/lancedb-driver.ts'
import {
  PluginMemoryTable,
  type PluginMemoryTableOptions,
} from '../../../src/storage/lancedb/plugin-memory-table.ts'
import { type InstalledLance, lancePart } from '../../support/lancedb.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const NOW = 1_700_000_000_000
const EAST = Float32Array.of(1, 0, 0)
const NORTH = Float32Array.of(0, 1, 0)
const part = await lancePart()

if (part.kind === 'none') {
  describe.skip(`lancedb plugin: ${part.reason}`, () => it('was not run', () => {}))
} else {
  describe('lancedb plugin', () => describePlugin(part))
}

function describePlugin({ load }: InstalledLance): void {
  const open = async (options: Partial<PluginMemoryTableOptions> = {}) => {
    const plugin = await PluginMemoryTable.open({
      ...{ folder: temporaryFolder(), dimensions: 3, load, newId: randomUUID, now: () => NOW },
      ...options,
    })
    onTestFinished(() => plugin.close())
    return plugin
  }

  it('[LC11] stores entries with their fields or defaults, and counts them', async () => {
    const plugin = await open()
    expect(await plugin.count()).toBe(0)
    const plain = await plugin.store({ text: 'Likes tea', vector: EAST })
    expect(plain).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      ...{ text: 'Likes tea', importance: 0.7, category: 'other', createdAt: NOW },
    })
    const text = `"quoted" it's \0 \ud800 李雷`
    await plugin.store({ text, vector: NORTH, importance: 1, category: 'preference' })
    expect(await plugin.count()).toBe(2)
    const [hit] = await plugin.search(NORTH, 1)
    expect(hit?.entry).toMatchObject({ text, importance: 1, category: 'preference' })
  })

  it('[LC11] scores by one over one and the distance, best first, down to a least score', async () => {
    const plugin = await open()
    const vectors = { same: EAST, near: Float32Array.of(0.6, 0.8, 0), across: NORTH }
    for (const [text, vector] of Object.entries(vectors)) await plugin.store({ text, vector })
    await plugin.store({ text: 'opposite', vector: Float32Array.of(-3, 0, 0) })
    const scores = async (...rest: [limit?: number, minScore?: number]) =>
      (await plugin.search(EAST, ...rest)).map(({ entry, score }) => [entry.text, score])
    // Squares of distances: 0, 0.8, 2 and 16, of which the last is below the usual least score.
    const all = [
      ['same', 1],
      ['near', expect.closeTo(1 / 1.8, 5)],
      ['across', expect.closeTo(1 / 3, 5)],
      ['opposite', expect.closeTo(1 / 17, 5)],
    ]
    expect(await scores()).toEqual(all.slice(0, 3))
    expect(await scores(10, 0)).toEqual(all)
    expect(await scores(2)).toEqual(all.slice(0, 2))
    expect(await scores(10, 0.5)).toEqual(all.slice(0, 2))
    expect(await scores(0)).toEqual([])
  })

  it('[LC11] deletes by id, and refuses invalid ids', async () => {
    const plugin = await open()
    const { id } = await plugin.store({ text: 'Likes tea', vector: EAST })
    await plugin.store({ text: 'Likes coffee', vector: NORTH })
    expect(await plugin.delete(randomUUID())).toBe(false)
    for (const wrong of ['', '1', `${id}' OR 'a' = 'a`, `${id}\n`]) {
      await expect(plugin.delete(wrong)).rejects.toMatchObject({ code: 'invalid_input' })
    }
    expect(await plugin.delete(id)).toBe(true)
    expect(await plugin.delete(id)).toBe(false)
    expect((await plugin.search(EAST)).map(({ entry }) => entry.text)).toEqual(['Likes coffee'])
  })

  it('[LC11] opens what was there before, and refuses vectors of other dimensions', async () => {
    const folder = temporaryFolder()
    const { connection } = await openLanceDatabase(folder, load)
    const row = { id: randomUUID(), text: 'from before', vector: [1, 0, 0], importance: 0.5 }
    await createByRows(connection, { ...row, category: 'unheard of', createdAt: 5 })
    connection.close()
    const plugin = await open({ folder })
    await plugin.store({ text: 'from now', vector: NORTH })
    expect((await plugin.search(EAST)).map(({ entry }) => entry)).toMatchObject([
      { id: row.id, text: 'from before', importance: 0.5, category: 'other', createdAt: 5 },
      { text: 'from now' },
    ])
    const refused = { code: 'invalid_input' }
    await expect(open({ folder, dimensions: 4 })).rejects.toMatchObject(refused)
    await expect(plugin.search(Float32Array.of(1, 0))).rejects.toMatchObject(refused)
    await expect(
      plugin.store({ text: 'x', vector: Float32Array.of(Number.NaN, 0, 0) }),
    ).rejects.toMatchObject(refused)
    expect(await plugin.count()).toBe(2)
  })
}

/** As other programs make such a table: from a row, its types guessed. */
async function createByRows(connection: object, row: object): Promise<void> {
  const { createTable } = connection as {
    createTable(name: string, rows: readonly object[]): Promise<{ close(): void }> // as the package has it
  }
  const table = await createTable.call(connection, 'memories', [row])
  table.close()
}
