/** Fills a schema for the servers of the load test: memories of several owners, their vectors, and a key. */

import { createEngine } from '../../src/app/composition.ts'
import { createIdGenerator } from '../../src/app/id-generator.ts'
import { systemClock } from '../../src/app/system-clock.ts'
import { openPostgresStore } from '../../src/storage/postgres/postgres-store.ts'
import { memory, owner } from '../../test/fakes/memories.ts'
import { Texts } from '../texts.ts'

/** Vectors of word pieces: they cost next to nothing, so that what is measured is the servers and the database. */
export const EMBEDDING = 'static'
export const WRITTEN_SEED = 7
const BATCH = 500

export type LoadShape = { readonly owners: number; readonly memories: number }
export type LoadDatabase = LoadShape & { readonly url: string; readonly schema: string }

/** The secret of a key that may ask for every owner. */
export async function fillForLoad(
  database: LoadDatabase,
  progress: (share: number) => void,
): Promise<string> {
  const { url, schema } = database
  await writeMemories(database, progress)
  const engine = await createEngine({
    ...{ postgres: url, postgresOptions: { schema }, embedding: { source: EMBEDDING } },
  })
  await engine.admin.reindex()
  const { secret } = await engine.admin.keys.create({
    ...{ name: 'bench', defaultOwner: ownerOf(0), role: 'superadmin' },
  })
  await engine.close()
  return secret
}

export function ownerOf(number: number): string {
  return `owner-${number}`
}

/** As the rows that remembering them one by one would leave. */
async function writeMemories(
  { url, schema, owners, memories }: LoadDatabase,
  progress: (share: number) => void,
): Promise<void> {
  const store = await openPostgresStore({ connectionString: url, schema })
  const texts = new Texts(WRITTEN_SEED)
  const ids = createIdGenerator()
  const now = systemClock.now()
  for (let done = 0; done < memories; done += BATCH) {
    const rows = Array.from({ length: Math.min(BATCH, memories - done) }, (_, n) =>
      memory({
        id: ids.next('mem', now),
        place: { owner: owner(ownerOf((done + n) % owners)), user: null, session: null },
        content: texts.next(),
        createdAt: now,
        updatedAt: now,
      }),
    )
    await store.commit(rows.map((row) => ({ op: 'put', table: 'memory', row, expect: 'absent' })))
    progress(done / memories)
  }
  await store.close()
}
