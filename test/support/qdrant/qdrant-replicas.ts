/** Mirrors for tests: on the stand-in, or on a server of yours with collections that are removed in the end. */
import { randomUUID } from 'node:crypto'
import { expect, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/app/system-clock.ts'
import {
  openQdrantVectorReplica,
  type QdrantReplicaOptions,
} from '../../../src/storage/qdrant/qdrant-vector-replica.ts'
import type { VectorReplica } from '../../../src/storage/vector-replica.ts'
import type { OpenedMirror } from '../../conformance/vectors/vector-replica.suite.ts'
import { FakeClock } from '../../fakes/clock.ts'
import { type QdrantStandIn, type StandInOptions, startQdrant } from './fake-server.ts'

/** Of a key that no error may show. */
export const KEY = 'a-key-that-nobody-may-see'

export type OnStandIn = { readonly qdrant: QdrantStandIn; readonly mirror: VectorReplica }

/** Pauses between attempts take no time. Both are stopped after the test, and the stand-in must have made no mistake. */
export async function openOnStandIn(
  options: Partial<QdrantReplicaOptions> = {},
  server: StandInOptions = { apiKey: KEY },
): Promise<OnStandIn> {
  const qdrant = await startQdrant(server)
  const mirror = openQdrantVectorReplica({
    url: qdrant.url,
    apiKey: KEY,
    clock: new FakeClock(),
    ...options,
  })
  onTestFinished(async () => {
    await mirror.close()
    await qdrant.stop()
    expect(qdrant.mistakes).toEqual([])
  })
  return { qdrant, mirror }
}

export async function openOnServer(
  url: string,
  apiKey: string | undefined,
  quantisation: QdrantReplicaOptions['quantization'] & string,
): Promise<OpenedMirror> {
  const collectionPrefix = `test-${randomUUID()}`
  const key = apiKey === undefined ? {} : { apiKey }
  const options = { url, clock: systemClock, collectionPrefix, quantization: quantisation, ...key }
  const mirror = openQdrantVectorReplica(options)
  return {
    mirror,
    close: async () => {
      await mirror.close()
      await removeCollections(url, apiKey, collectionPrefix)
    },
  }
}

async function removeCollections(
  url: string,
  apiKey: string | undefined,
  prefix: string,
): Promise<void> {
  const headers: Record<string, string> = apiKey === undefined ? {} : { 'api-key': apiKey }
  const answer = await fetch(`${url}/collections`, { headers })
  const { result } = (await answer.json()) as { result: { collections: { name: string }[] } } // as described
  for (const { name } of result.collections) {
    if (name.startsWith(prefix))
      await fetch(`${url}/collections/${name}`, { method: 'DELETE', headers })
  }
}
