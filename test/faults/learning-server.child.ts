/** A server on a PostgreSQL that others use as well: does the jobs that are due, and tells how many those were. */

import { createIdGenerator } from '../../src/app/id-generator.ts'
import { systemClock } from '../../src/app/system-clock.ts'
import { createEngineWith } from '../../src/engine/engine.ts'
import { createProviderLanguageModel } from '../../src/models/llm/provider-language-model.ts'
import { createUpstream } from '../../src/models/providers/provider-upstream.ts'
import { openPostgresStore } from '../../src/storage/postgres/postgres-store.ts'
import { LEARNING, registryOf } from './learning-script.ts'

type Input = Readonly<Record<'url' | 'schema' | 'modelUrl' | 'name', string>>
const { url, schema, modelUrl, name }: Input = JSON.parse(String(process.argv[2]))

const store = await openPostgresStore({ connectionString: url, schema, poolSize: 1 })
const upstream = createUpstream()
const engine = createEngineWith({
  store,
  clock: systemClock,
  ids: createIdGenerator(),
  settings: LEARNING,
  languageModel: createProviderLanguageModel({
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
