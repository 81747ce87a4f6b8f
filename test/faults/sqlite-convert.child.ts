/** Converts a database in a process that can be killed: says `at <n>` before every driver call, and waits if told to. */
import { readSync } from 'node:fs'
import {
  type DatabaseKey,
  type OpenConnection,
  openConnection,
} from '../../src/storage/sqlite/connection/sqlite-driver.ts'
import { parseKey } from '../../src/storage/sqlite/encryption/encryption-key.ts'
import { rekeyDatabase } from '../../src/storage/sqlite/encryption/rekey.ts'

type Options = {
  readonly path: string
  readonly from: string | null
  readonly to: string | null
  /** The driver call before which it waits to be killed. */
  readonly stopAt: number
}

const { path, from, to, stopAt }: Options = JSON.parse(String(process.argv[2]))
const keyOf = (hex: string | null): DatabaseKey | null => (hex === null ? null : parseKey(hex))

let calls = 0
function step(): void {
  calls++
  if (calls !== stopAt) return
  process.stdout.write('waiting\n')
  readSync(0, Buffer.alloc(1)) // until killed
}

const counting: OpenConnection = async (file, key) => {
  step()
  const connection = await openConnection(file, key)
  return {
    exec: (sql) => {
      step()
      connection.exec(sql)
    },
    prepare: (sql) => {
      const statement = connection.prepare(sql)
      return {
        all: (...values) => {
          step()
          return statement.all(...values)
        },
        run: (...values) => {
          step()
          return statement.run(...values)
        },
      }
    },
    close: () => {
      step()
      connection.close()
    },
  }
}

await rekeyDatabase({
  path,
  from: keyOf(from),
  to: keyOf(to),
  now: Date.now,
  openConnection: counting,
})
process.stdout.write(`done ${calls}\n`)
