/** Several processes on one file at once: nothing is lost, keys stay unique, and waiting has an end. */
import { describe, expect, it } from 'vitest'
import { openSqliteFile } from '../../src/storage/sqlite/connection/database-file.ts'
import { temporaryFile } from '../support/temporary-folder.ts'
import {
  child,
  ended,
  errorOf,
  everythingIn,
  filledFile,
  numbered,
  using,
} from './sqlite-support.ts'

async function outputOf(process: ReturnType<typeof child>): Promise<string> {
  let output = ''
  process.stdout?.on('data', (chunk) => {
    output += chunk
  })
  expect(await ended(process)).toBe(0)
  return output
}

describe('two processes on one database', () => {
  it('[ST22] keep every row of both, from the creation of the file on', async () => {
    const path = temporaryFile('shared.db')
    const writers = [1, 2].map((writer) =>
      child('sqlite-write.child.ts', { path, writer, rows: 300, opens: 20, pauseMs: 0 }),
    )
    const counts = (await Promise.all(writers.map(outputOf))).map((output) => JSON.parse(output))
    expect(counts).toEqual([
      { committed: 300, conflict: 0 },
      { committed: 300, conflict: 0 },
    ])
    const rows = await everythingIn(path, null)
    expect(rows.memory.size).toBe(600)
    await using(path, null, async (store) => {
      expect(await store.checkIntegrity({ repair: false })).toEqual([])
    })
  })

  it('[ST22] assign each key to one memory only', async () => {
    const path = temporaryFile('keys.db')
    const writers = [1, 2].map((writer) =>
      child('sqlite-write.child.ts', {
        path,
        writer,
        rows: 200,
        opens: 1,
        pauseMs: 0,
        sharedKey: 'same',
      }),
    )
    const counts = (await Promise.all(writers.map(outputOf))).map((output) => JSON.parse(output))
    expect(counts[0].committed + counts[1].committed).toBe(200)
    expect(counts[0].conflict + counts[1].conflict).toBe(200)
    const { memory } = await everythingIn(path, null)
    expect(new Set([...memory.values()].map((row) => row.key)).size).toBe(200)
  })

  it('[ST22] wait for each other for a limited time', async () => {
    const path = temporaryFile('held.db')
    await filledFile(path, 5)
    const holder = child('sqlite-hold.child.ts', { path, lock: true })
    await new Promise((resolve) => holder.stdout?.once('data', resolve))
    const store = await openSqliteFile({ path, now: Date.now, busyTimeoutMs: 150 })
    const change = { op: 'put', table: 'memory', row: numbered(900), expect: 'absent' } as const
    const startedAt = Date.now()
    const { code, retryable } = await errorOf(store.commit([change]))
    expect(code).toBe('busy')
    expect(retryable).toBe(true)
    expect(Date.now() - startedAt).toBeGreaterThan(100)
    expect((await store.getReport()).rows.memory).toBe(5)
    holder.kill('SIGKILL')
    await ended(holder)
    expect(await store.commit([change])).toEqual({ kind: 'committed' })
    await store.close()
  })

  it('[ST22] block only writers', async () => {
    const path = temporaryFile('waiting.db')
    await filledFile(path, 5)
    const holder = child('sqlite-hold.child.ts', { path, lock: true })
    await new Promise((resolve) => holder.stdout?.once('data', resolve))
    const store = await openSqliteFile({ path, now: Date.now, busyTimeoutMs: 60_000 })
    const change = { op: 'put', table: 'memory', row: numbered(901), expect: 'absent' } as const
    let isWritten = false
    const writing = store.commit([change]).then(() => {
      isWritten = true
    })
    // If it held the process up, nobody could end the holder before it gives up.
    for (let turn = 0; turn < 20; turn++) {
      await new Promise((resolve) => setTimeout(resolve, 5))
      expect((await store.getReport()).rows.memory).toBe(5)
    }
    expect(isWritten).toBe(false)
    holder.kill('SIGKILL')
    await ended(holder)
    await writing
    expect((await store.getReport()).rows.memory).toBe(6)
    await store.close()
  })

  it('[ST22] keep what was acknowledged before one of them was killed', async () => {
    const path = temporaryFile('killed.db')
    const writer = child('sqlite-write.child.ts', {
      path,
      writer: 1,
      rows: 100_000,
      opens: 1,
      pauseMs: 0,
      tells: true,
    })
    let acknowledged = 0
    await new Promise<void>((resolve) =>
      writer.stdout?.on('data', ({ length }: Buffer) => {
        acknowledged += length
        if (acknowledged > 20) resolve()
      }),
    )
    writer.kill('SIGKILL')
    await ended(writer)
    await using(path, null, async (store) => {
      expect(await store.checkIntegrity({ repair: false })).toEqual([])
      const { memory } = (await store.getReport()).rows
      expect(memory).toBeGreaterThanOrEqual(acknowledged)
    })
  })
})
