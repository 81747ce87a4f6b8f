/** Writes points until it is killed, and tells each acknowledged one on its own line: `+ id` or, once removed, `- id`. */
import { writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { systemClock } from '../../src/app/system-clock.ts'
import { openLanceVectorReplica } from '../../src/storage/lancedb/lancedb-vector-replica.ts'
import { ADA, memoryId } from '../fakes/memories.ts'
import { space, unitVector } from '../fakes/vectors.ts'

const [folder = '', part = '', round = ''] = process.argv.slice(2)
const SPACE = space(24)
const mirror = await openLanceVectorReplica({
  ...{ folder, clock: systemClock },
  load: async () => createRequire(join(part, 'package.json'))('@lancedb/lancedb'),
  // So that many of the kills come in the middle of it.
  ...{ commitsMax: 3, keepVersionsMs: 0 },
})
writeSync(1, 'ready\n')
for (let n = 0; ; n++) {
  const ids = Array.from({ length: 1 + (n % 5) }, (_, at) => memoryId(`${round}x${n}x${at}`))
  const points = ids.map((id, at) => ({
    ...({ place: ADA, id, type: 'factual', expiresAt: null, textHash: `hash of ${id}` } as const),
    vector: unitVector(SPACE.dimensions, n * 10 + at + 1),
  }))
  await mirror.upsert(SPACE, points)
  writeSync(1, ids.map((id) => `+ ${id}\n`).join(''))
  if (n % 4 === 3) {
    await mirror.remove(SPACE, ADA.owner, ids.slice(0, 2))
    writeSync(
      1,
      ids
        .slice(0, 2)
        .map((id) => `- ${id}\n`)
        .join(''),
    )
  }
}
