/** Verifies that a replica works before anything depends on it. */
import { randomUUID } from 'node:crypto'
import type { MemoryId, OwnerId } from '../../domain/ids.ts'
import { AppError } from '../../lib/errors.ts'
import type { VectorSpace } from '../vector-index.ts'
import type { VectorReplica } from '../vector-replica.ts'

/** A space apart from all vectors of memories, shared by all processes that probe. */
const SPACE: VectorSpace = { signature: 'recollect:probe:4', dimensions: 4 }
const OWNER = '@probe' as OwnerId // reserved: no caller can use it
const SIMILAR = 0.99

/** Writes a point, reads it back and removes it. Throws when any step fails. */
export async function probeReplica(replica: VectorReplica): Promise<void> {
  const id = `mem_probe${randomUUID().replaceAll('-', '')}` as MemoryId // an id that no concurrent probe uses
  const vector = Float32Array.of(0.5, 0.5, 0.5, 0.5)
  const place = { owner: OWNER, user: null, session: null }
  await replica.prepare(SPACE)
  await replica.upsert(SPACE, [
    { id, place, type: 'factual', expiresAt: null, textHash: 'probe', vector },
  ])
  // Concurrent probes, and leftovers of earlier ones, count too.
  const limit = Math.min(PROBES_MAX, (await replica.count(SPACE)) + 1)
  const hits = await replica.search(SPACE, { owner: OWNER }, { vector, limit })
  const found = hits.find((hit) => hit.id === id)
  await replica.remove(SPACE, OWNER, [id])
  if (found !== undefined && found.similarity > SIMILAR) return
  throw new AppError(
    'unavailable',
    `A test point written to ${replica.name} could not be read back.`,
  )
}

const PROBES_MAX = 1_000
