import { expect, it, onTestFinished } from 'vitest'
import { CachedDatabase } from '../../../src/storage/sqlite/cache/cached-database.ts'
import { openConnection } from '../../../src/storage/sqlite/connection/sqlite-driver.ts'
import { openSqliteStore } from '../../../src/storage/sqlite/sqlite-store.ts'
import { ADA, memory, memoryId } from '../../fakes/memories.ts'
import { temporaryFile } from '../../support/temporary-folder.ts'

it('[ST42.2] drops an owner whose documents were all erased', async () => {
  const path = temporaryFile('owner.db')
  const rows = ['cat', 'dog'].map((name) => memory({ id: memoryId(name), content: `The ${name}` }))
  const store = await openSqliteStore({ path, now: Date.now })
  await store.commit(rows.map((row) => ({ op: 'put', table: 'memory', row, expect: 'absent' })))
  await store.close()

  const database = new CachedDatabase(await openConnection(path, null))
  onTestFinished(() => database.connection.close())
  const owner = database.findOwnerNumber(ADA)
  expect(database.ownerCache.get(owner)?.size).toBe(2)
  database.ownerCache.markStale(owner, memoryId('cat'))
  expect(database.ownerCache.size).toBe(1)
  database.ownerCache.markStale(owner, memoryId('dog'))
  expect(database.ownerCache.size).toBe(0)
})
