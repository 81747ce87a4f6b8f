/** A server on a PostgreSQL that others use as well: does the jobs that are due, and tells how many those were. */
import { createLanguageModel } from '../../src/adapters/models/model.ts'
import { openPostgresStore } from '../../src/adapters/postgres/store.ts'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { createIds } from '../../src/adapters/system/ids.ts'
import { createUpstream } from '../../src/adapters/upstream/index.ts'
import { createEngineOn } from '../../src/engine/engine.ts'
import { LEARNING, registryOf } from './learning.ts'

type Input = Readonly<Record<'url' | 'schema' | 'modelUrl' | 'name', string>>
const { url, schema, modelUrl, name }: Input = JSON.parse(String(process.argv[2]))

const store = await openPostgresStore({ connectionString: url, schema, poolSize: 1 })
const upstream = createUpstream()
const engine = createEngineOn({
  store,
  clock: systemClock,
  ids: createIds(),
  settings: LEARNING,
  languageModel: createLanguageModel({
    registry: registryOf(modelUrl, name),
    upstream,
    clock: systemClock,
  }),
})
process.stdout.write('ready\n')
await new Promise((resolve) => process.stdin.once('data', resolve))
process.stdout.write(`${await engine.jobs.runDue()}\n`)
await engine.close()
await upstream.close()
process.stdin.destroy()
