/** Opens a database and keeps it open until killed. With `lock`, keeps a write transaction open as well. */

import { openSqliteFile } from '../../src/storage/sqlite/connection/database-file.ts'
import { openConnection } from '../../src/storage/sqlite/connection/sqlite-driver.ts'

const { path, lock = false } = JSON.parse(String(process.argv[2]))
if (lock) {
  const connection = await openConnection(path, null)
  connection.exec('BEGIN IMMEDIATE')
} else {
  await openSqliteFile({ path, now: Date.now })
}
process.stdout.write('held\n')
setInterval(() => {}, 1_000)
