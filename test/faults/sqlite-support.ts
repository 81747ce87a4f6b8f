/** What the tests of database files share: filled databases, all their rows, drivers that fail, child processes. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import type { EntryId, OwnerId, TurnId, UserId } from '../../src/domain/ids.ts'
import type { Memory } from '../../src/domain/memory.ts'
import { buildTombstones } from '../../src/domain/tombstone.ts'
import { AppError } from '../../src/lib/errors.ts'
import { openSqliteFile } from '../../src/storage/sqlite/connection/database-file.ts'
import {
  type DatabaseKey,
  describeMissingCipher,
  type OpenConnection,
  openConnection,
} from '../../src/storage/sqlite/connection/sqlite-driver.ts'
import { parseKey } from '../../src/storage/sqlite/encryption/encryption-key.ts'
import type { SqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import { type Change, type Row, type Store, TABLES, type Table } from '../../src/storage/store.ts'
import { entry, turn } from '../fakes/entries.ts'
import { changeId, instant, memory, memoryId, owner, revision, user } from '../fakes/memories.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const missing = describeMissingCipher()

/** A test of encrypted databases. Where they can't be opened it is skipped, and says why. */
export function itEncrypts(name: string, test: () => Promise<void>, timeoutMs?: number): void {
  if (missing === null) it(name, test, timeoutMs)
  else it.skip(`${name} (not run: ${missing.split(/[.,] /)[0]})`, test)
}

export const randomKey = () => parseKey(randomBytes(32).toString('hex'))

/** A word that stands in every memory below, to be looked for in files. */
export const MARK = 'zanzibar'
const PLACES = [
  { owner: owner('ada'), user: null, session: null },
  { owner: owner('ada'), user: user('eve'), session: null },
  { owner: owner('bob'), user: user('änne'), session: null },
] as const

export function numbered(number: number, fields: Partial<Memory> = {}): Memory {
  return memory({
    id: memoryId(number),
    place: PLACES[number % PLACES.length] ?? PLACES[0],
    key: number % 5 === 0 ? `key:${number}` : null,
    content: `${MARK} statement ${number} about ${'many different things '.repeat(number % 12)}${number % 97 === 0 ? 'x'.repeat(9_000) : ''}`,
    metadata: { number },
    change: changeId(number),
    ...fields,
  })
}

/** A closed database with memories of three places, and rows of every other table. */
export async function filledFile(
  path: string,
  memories: number,
  key: DatabaseKey | null = null,
): Promise<void> {
  const store = await openSqliteFile({ path, key, now: Date.now })
  await fill(store, memories)
  await store.close()
}

export async function fill(store: Store, memories: number, first = 1): Promise<void> {
  const changes: Change[] = []
  for (let number = first; number < first + memories; number++) {
    const row = numbered(number)
    changes.push({ op: 'put', table: 'memory', row, expect: 'absent' })
    if (number % 10 === 0) {
      changes.push({ op: 'put', table: 'revision', row: revision(row), expect: 'absent' })
    }
    if (number % 20 === 0) changes.push(...besideMemories(number))
    if (number % 25 === 0) {
      for (const tombstone of buildTombstones(
        numbered(number, { content: 'gone' }),
        [],
        instant(5),
      )) {
        changes.push({ op: 'put', table: 'tombstone', row: tombstone, expect: 'any' })
      }
    }
  }
  for (let at = 0; at < changes.length; at += 1_000) {
    expect(await store.commit(changes.slice(at, at + 1_000))).toEqual({ kind: 'committed' })
  }
}

/** What was said around a memory, and a note about it. */
function besideMemories(number: number): readonly Change[] {
  const { place, content } = numbered(number)
  const said = turn({ id: `turn_${number}` as TurnId, place, content, position: number })
  const note = entry({ id: `aud_${number}` as EntryId, place, body: { content } })
  return [
    { op: 'put', table: 'turn', row: said, expect: 'absent' },
    { op: 'put', table: 'entry', row: note, expect: 'absent' },
  ]
}

export type Everything = { readonly [T in Table]: ReadonlyMap<string, Row<T>> }

/** Every row that any owner can find. */
export async function everything(store: Store): Promise<Everything> {
  const owners = [...new Set((await store.listPlaces()).map((place) => place.owner))]
  const rowsOf = async <T extends Table>(table: T) => {
    const rows = new Map<string, Row<T>>()
    for (const name of owners) {
      for (let after: string | null | undefined; after !== null; ) {
        const position = after === undefined ? {} : { after }
        const scope = { owner: owner(name) }
        const page = await store.find(table, scope, { where: {}, limit: 1_000, ...position })
        for (const row of page.rows) rows.set(row.id, row)
        after = page.next
      }
    }
    return rows
  }
  return {
    memory: await rowsOf('memory'),
    revision: await rowsOf('revision'),
    tombstone: await rowsOf('tombstone'),
    entry: await rowsOf('entry'),
    turn: await rowsOf('turn'),
    job: await rowsOf('job'),
    signal: await rowsOf('signal'),
  }
}

export async function everythingIn(path: string, key: DatabaseKey | null): Promise<Everything> {
  return using(path, key, everything)
}

export async function using<Result>(
  path: string,
  key: DatabaseKey | null,
  work: (store: SqliteStore) => Promise<Result>,
): Promise<Result> {
  const store = await openSqliteFile({ path, key, now: Date.now })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** Both hold the same rows. Vitest's own comparison takes seconds for thousands of rows. */
export function expectSame(rows: Everything, expected: Everything): void {
  for (const table of TABLES) {
    const ids = (of: Everything) => [...of[table].keys()].sort()
    expect(ids(rows).length).toBe(ids(expected).length)
    for (const id of ids(expected)) {
      const [row, other] = [rows[table].get(id), expected[table].get(id)]
      if (!isDeepStrictEqual(row, other)) expect(row).toEqual(other)
    }
  }
}

/** Keyword search works and points at the right memory. */
export async function expectSearchable(store: Store, number: number): Promise<void> {
  const { place, id, content } = numbered(number)
  const scope = { owner: place.owner as OwnerId, user: place.user as UserId | null } // as they were written
  const { hits } = await store.searchText(scope, { text: content, limit: 5, where: {} })
  expect(hits.map((hit) => hit.id)).toContain(id)
}

/** Counts the calls to the driver and fails the n-th, once; counting begins at once unless `isArmed` is false. */
export function failingDriver(nth: number, isArmed = true) {
  let isCounting = isArmed
  let calls = 0
  const step = () => {
    if (isCounting) calls++
    else return
    if (calls === nth) throw new AppError('unavailable', 'The driver was made to fail.')
  }
  const wrapped: OpenConnection = async (path, key) => {
    step()
    const connection = await openConnection(path, key)
    return {
      exec: (sql) => {
        step()
        connection.exec(sql)
      },
      prepare: (sql) => {
        step()
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
      close: () => connection.close(),
    }
  }
  return {
    open: wrapped,
    hasFailed: () => calls >= nth,
    arm: () => {
      isCounting = true
    },
    disarm: () => {
      isCounting = false
    },
  }
}

/**
 * Until the statements of a closed connection are collected as garbage, its process keeps a lock on the file (see
 * `leaveNothing` in driver.ts). Commands run in processes of their own; tests share one.
 */
export async function released(): Promise<void> {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  for (let round = 0; round < 4; round++) {
    collect()
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

export async function errorOf(work: Promise<unknown>): Promise<AppError> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(AppError)
  return error as AppError // checked on the line above
}

const PROJECT = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

/** Runs a TypeScript file of this folder in a process of its own. */
export function child(name: string, options: unknown): ChildProcess {
  return spawn(process.execPath, [programOf(name), JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
}

export async function ended(process: ChildProcess): Promise<number | NodeJS.Signals> {
  if (process.exitCode !== null) return process.exitCode
  if (process.signalCode !== null) return process.signalCode
  return new Promise((resolve) =>
    process.once('exit', (code, signal) => resolve(code ?? signal ?? 1)),
  )
}

/** Node 20 can't run TypeScript by itself: there it is compiled first, once per file of tests. */
const programs = new Map<string, string>()

function programOf(name: string): string {
  const source = join(PROJECT, 'test', 'faults', name)
  if ('typescript' in process.features && process.features.typescript !== false) return source
  const known = programs.get(name)
  if (known !== undefined) return known
  const folder = temporaryFolder()
  const compilerOptions = { noEmit: false, outDir: folder, rootDir: PROJECT, types: ['node'] }
  const config = {
    extends: join(PROJECT, 'tsconfig.json'),
    compilerOptions: { ...compilerOptions, typeRoots: [join(PROJECT, 'node_modules', '@types')] },
    include: [],
    files: [source],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'), 'junction')
  const tsc = join(PROJECT, 'node_modules', 'typescript', 'bin', 'tsc')
  spawnSync(process.execPath, [tsc, '-p', folder], { stdio: 'inherit' })
  const program = join(folder, 'test', 'faults', name.replace(/\.ts$/, '.js'))
  if (!existsSync(program)) throw new Error(`${name} could not be compiled`)
  programs.set(name, program)
  return program
}
