/**
 * An owner whose memories need consolidation. Of a hundred: five repeat another one, half of them with a word more; ten
 * have faded; two are digests of conversations, a quarter of which are past their time; one is pinned. There are also
 * messages and receipts that are past their time. All memories have their vectors, as many numbers each as the built-in
 * model gives; a model would take an hour to make them, so they are made of the words.
 */

import { createIdGenerator } from '../../src/app/id-generator.ts'
import { systemClock } from '../../src/app/system-clock.ts'
import type { Entry } from '../../src/domain/entries/entry.ts'
import type { EntryId, MemoryId, OwnerId, TurnId } from '../../src/domain/ids.ts'
import type { Memory } from '../../src/domain/memory.ts'
import type { Turn } from '../../src/domain/turn.ts'
import { createEngineWith, type Engine } from '../../src/engine/engine.ts'
import type { Instant } from '../../src/lib/time.ts'
import { createHashingEmbedder } from '../../src/models/embedders/hashing-embedder.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import type { Change } from '../../src/storage/store.ts'
import { memory } from '../../test/fakes/memories.ts'
import { Texts } from '../texts.ts'

export const OWNER = 'ada' as OwnerId
const DAY = 86_400_000
const BATCH = 500
const DIMENSIONS = 384
const PLACE = { owner: OWNER, user: null, session: null }
const PER_HUNDRED_TURNS = 20
const PER_HUNDRED_RECEIPTS = 1

export type Shape = { readonly path: string; readonly memories: number; readonly seed: number }

/** On the file of an owner, with memories that are found by their words and by their vectors. */
export async function openEngine(path: string): Promise<Engine> {
  const store = await openSqliteStore({ path, now: Date.now })
  return createEngineWith({
    ...{ store, clock: systemClock, ids: createIdGenerator(), settings: {} },
    ...{ embedder: createHashingEmbedder({ dimensions: DIMENSIONS }), vectors: store.vectors },
  })
}

export async function fillOwner(shape: Shape): Promise<void> {
  await writeOwner(shape)
  const engine = await openEngine(shape.path)
  await engine.admin.reindex()
  await engine.close()
}

async function writeOwner({ path, memories, seed }: Shape): Promise<void> {
  const store = await openSqliteStore({ path, now: Date.now })
  const now = Date.now()
  let changes: Change[] = []
  const write = async (change: Change) => {
    changes.push(change)
    if (changes.length < BATCH) return
    await store.commit(changes)
    changes = []
  }
  for (const row of memoriesOf(memories, seed, now)) {
    await write({ op: 'put', table: 'memory', row, expect: 'absent' })
  }
  for (let n = 0; n < (memories * PER_HUNDRED_TURNS) / 100; n++) {
    await write({ op: 'put', table: 'turn', row: turnOf(n, now), expect: 'absent' })
  }
  for (let n = 0; n < (memories * PER_HUNDRED_RECEIPTS) / 100; n++) {
    await write({ op: 'put', table: 'entry', row: receiptOf(n, now), expect: 'absent' })
  }
  if (changes.length > 0) await store.commit(changes)
  await store.close()
}

/** What to ask, so that something is found. */
export function questionsOf(memories: number, seed: number, count: number): readonly string[] {
  const texts = new Texts(seed)
  const every = Math.max(1, Math.floor(memories / count))
  const questions: string[] = []
  for (let n = 0; questions.length < count; n++) {
    const text = texts.next()
    if (n % every === 0) questions.push(texts.queryFor(text, 4))
  }
  return questions
}

function* memoriesOf(count: number, seed: number, now: number): Generator<Memory> {
  const texts = new Texts(seed)
  const repeated: string[] = []
  for (let n = 0; n < count; n++) {
    const content = texts.next()
    const kind = n % 100
    if (kind >= 90 && kind < 95) repeated.push(content)
    yield memory({
      id: idOf(n),
      place: PLACE,
      content,
      createdAt: (now - DAY) as Instant, // like all instants here, from the clock
      updatedAt: (now - DAY) as Instant,
      ...fieldsOf(kind, n, now, repeated),
    })
  }
}

function fieldsOf(kind: number, n: number, now: number, repeated: string[]): Partial<Memory> {
  if (kind < 10) {
    const at = (now - 90 * DAY) as Instant
    return { salience: 0.4, createdAt: at, updatedAt: at }
  }
  if (kind === 10) return { pinned: true }
  if (kind === 11 || kind === 12) {
    const isOld = n % 200 === 11
    const at = (now - (isOld ? 400 : 20) * DAY) as Instant
    return { category: 'episode', type: 'episodic', createdAt: at, updatedAt: at }
  }
  if (kind < 95) return {}
  const content = repeated.shift() ?? ''
  return kind % 2 === 0 ? { content } : { content: `${content} indeed` }
}

function turnOf(n: number, now: number): Turn {
  return {
    id: `turn_${String(n).padStart(8, '0')}` as TurnId, // made up
    place: PLACE,
    version: 1,
    role: 'user',
    speaker: null,
    content: `What was said as number ${n}`,
    position: n,
    saidAt: (now - (n % 4 === 0 ? 400 : 30) * DAY) as Instant,
    disabled: false,
  }
}

function receiptOf(n: number, now: number): Entry {
  const entry = {
    id: `rcp_${String(n).padStart(8, '0')}` as EntryId, // made up
    place: PLACE,
    kind: 'receipt',
    about: OWNER,
    at: (now - 40 * DAY) as Instant,
    expiresAt: (now - 10 * DAY) as Instant,
    version: 1,
    body: {},
  }
  return entry as object as Entry // only its expiry is read
}

function idOf(n: number): MemoryId {
  return `mem_${String(n).padStart(8, '0')}` as MemoryId // made up
}
