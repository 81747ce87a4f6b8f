/** Writes memories, one per commit, opening the database anew as often as told. Tries again when it is busy. */
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../src/lib/errors.ts'
import { openSqliteFile } from '../../src/storage/sqlite/connection/database-file.ts'
import { parseKey } from '../../src/storage/sqlite/encryption/encryption-key.ts'
import { ADA, memory, memoryId } from '../fakes/memories.ts'

type Options = {
  readonly path: string
  readonly key?: string
  readonly writer: number
  readonly rows: number
  readonly opens: number
  readonly pauseMs: number
  /** Every row asks for the same key: only one of all writers may get it. */
  readonly sharedKey?: string
  /** Says a word for every row that was committed. */
  readonly tells?: boolean
}

const options: Options = JSON.parse(String(process.argv[2]))
const key = options.key === undefined ? null : parseKey(options.key)
const counts = { committed: 0, conflict: 0 }

async function patiently<Result>(work: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'busy') throw error
      await sleep(5)
    }
  }
}

const rowsPerOpen = Math.ceil(options.rows / options.opens)
for (let row = 0; row < options.rows; ) {
  const store = await patiently(() => openSqliteFile({ path: options.path, key, now: Date.now }))
  for (let end = Math.min(row + rowsPerOpen, options.rows); row < end; row++) {
    const written = memory({
      id: memoryId(options.writer * 100_000 + row),
      place: ADA,
      key: options.sharedKey === undefined ? null : `${options.sharedKey}:${row}`,
      content: `row ${row} of writer ${options.writer}`,
    })
    const change = { op: 'put', table: 'memory', row: written, expect: 'absent' } as const
    const { kind } = await patiently(() => store.commit([change]))
    counts[kind]++
    if (options.tells === true) process.stdout.write('.')
  }
  await store.close()
  await sleep(options.pauseMs)
}
process.stdout.write(JSON.stringify(counts))
