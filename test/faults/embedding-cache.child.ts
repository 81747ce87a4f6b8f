/** Puts vectors of its own into a shared cache, reads them back, and says how many were there. */

import { systemClock } from '../../src/app/system-clock.ts'
import { openSqliteEmbeddingCache } from '../../src/models/embedders/sqlite-embedding-cache.ts'

const { path, writer, rounds } = JSON.parse(String(process.argv[2]))
const cache = openSqliteEmbeddingCache({ path, clock: systemClock })
const keyOf = (round: number) => Buffer.from(`${writer}:${round}`).toString('hex').padStart(64, '0')
let failed = 0
for (let round = 0; round < rounds; round++) {
  const entries = [{ key: keyOf(round), vector: Float32Array.of(writer, round) }]
  await cache.put(entries).catch(() => {
    failed++
  })
}
const keys = Array.from({ length: rounds }, (_, round) => keyOf(round))
const found = await cache.get(keys)
const right = keys.filter((key, round) => {
  const vector = found.get(key)
  return vector !== undefined && vector[0] === writer && vector[1] === round
}).length
await cache.close()
process.stdout.write(JSON.stringify({ right, failed }))
